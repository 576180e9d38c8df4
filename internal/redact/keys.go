package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is how much a key says about its value.
type kind byte

const (
	notSecret kind = iota
	// password: any value is secret.
	password
	// secret: any value is secret that does not say what it is, such as a path.
	secret
	// token: the same, but a short word of letters may be a token of a language.
	token
	// perhaps: the value is secret if it looks generated.
	perhaps
	// digits: a number of four digits or more is secret.
	digits
	authorization
	cookie
)

// class is what a key says about its value.
type class struct {
	kind kind
	// word names the class in marks.
	word string
	// many reports that the key is a plural, whose numbers are counts.
	many bool
}

// rule returns the name of the rule.
func (c class) rule() string {
	switch c.kind {
	case authorization:
		return "authorization"
	case cookie:
		return "cookie"
	default:
		return "key:" + c.word
	}
}

// maxKey is the length of the longest key, in bytes.
const maxKey = 80

// classOf is classify with a memory.
func (p *pass) classOf(key string) class {
	if len(key) > maxKey {
		return class{}
	}
	if c, ok := p.keys[key]; ok {
		return c
	}
	if p.keys == nil {
		p.keys = map[string]class{}
	}
	c := classify(key)
	p.keys[strings.Clone(key)] = c
	return c
}

// classOfOption returns what the option of a program says about its value. Its token
// is never one of a language.
func (p *pass) classOfOption(name string) class {
	of := p.classOf(name)
	switch {
	case of.kind == token:
		of.kind = secret
	case name == "key":
		of = class{perhaps, "api-key", false}
	}
	return of
}

// classify returns what a key says about its value. It compares whole words, in any
// spelling: API_KEY, api-key, apiKey, X-Api-Key, "API key".
func classify(key string) class {
	if len(key) > maxKey {
		return class{}
	}
	if c := classifyForeign(key); c.kind != notSecret {
		return c
	}
	const mostSpaces = 3 // a longer key is a sentence
	if strings.Count(key, " ") > mostSpaces {
		return class{}
	}
	words := splitWords(key)
	// What follows the word that counts: PASSWORD_OLD, token2, secret_base64.
	for len(words) > 1 && neutral(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return class{}
	}
	last := words[len(words)-1]
	before := ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	two := before + " " + last
	switch last {
	case "pwd": // also a directory
		return class{secret, "password", false}
	case "password", "passwd", "pw", "passwort", "kennwort", "contraseña", "contrasena", "senha", "motdepasse",
		"wachtwoord", "parola", "pswd", "psw", "passwrd", "requirepass", "masterauth", "sshpass", "bindpw", "rootpw", "userpw", "pgpass":
		return class{password, "password", false}
	case "passwords":
		return class{password, "password", true}
	case "pass":
		// A test that passes is not a password.
		if before == "test" || before == "tests" || before == "check" || before == "render" || before == "build" || before == "boarding" {
			return class{}
		}
		return class{token, "password", true}
	case "passphrase", "passcode", "mnemonic":
		return class{password, last, false}
	case "phrase":
		if before == "seed" || before == "recovery" || before == "secret" || before == "mnemonic" || before == "pass" {
			return class{password, "passphrase", false}
		}
	case "cvv", "cvc", "cvv2", "pin", "pincode", "otp", "totp", "mpin":
		return class{digits, "pin", false}
	case "code", "codes":
		switch before {
		case "auth", "authorization", "device", "recovery", "backup", "otp", "mfa", "2fa", "totp", "pass", "verification", "security", "pin", "scratch":
			return class{secret, "code", last == "codes"}
		}
	case "verifier":
		if before == "code" {
			return class{secret, "code", false}
		}
	case "secret":
		switch before {
		case "is", "has", "no", "top", "kubernetes", "k8s", "imagepull", "pull", "use", "uses", "existing", "not":
			return class{}
		}
		return class{secret, "secret", false}
	case "secrets":
		if before == "client" || before == "api" || before == "app" {
			return class{secret, "secret", true}
		}
	case "token", "jwt", "jws", "jwe":
		return classifyToken(words)
	case "tokens":
		switch before {
		case "access", "refresh", "api", "auth", "bearer", "session", "id", "personal", "secret", "deploy", "bot", "oauth":
			return class{secret, "token", true}
		}
	case "apikey", "apikeys", "secretkey", "privatekey", "accesskey", "privkey", "authkey", "appkey", "masterkey", "signingkey",
		"encryptionkey", "subscriptionkey", "accountkey", "sharedkey", "licensekey", "sessionkey", "apisecret", "psk", "servicekey":
		return class{secret, keyWord(last), strings.HasSuffix(last, "keys")}
	case "key", "keys":
		return classifyKey(key, words)
	case "private":
		if before == "key" || before == "vapid" {
			return class{secret, "private-key", false}
		}
	case "credential", "credentials", "creds", "cred":
		return class{secret, "credential", last == "credentials" || last == "creds"}
	case "authorization":
		return class{authorization, "authorization", false}
	case "cookie", "cookies":
		if len(words) == 1 || before == "set" || before == "session" || before == "auth" || before == "request" || before == "x" || before == "http" {
			return class{cookie, "cookie", last == "cookies"}
		}
	case "bearer":
		return class{secret, "token", false}
	case "auth", "pat", "authentication":
		return class{perhaps, "auth", false}
	case "sig", "signature":
		switch two {
		case "amz signature", "goog signature", "access signature":
			return class{secret, "signature", false}
		}
	case "hash", "hashed", "digest":
		if before == "password" || before == "passwd" || before == "pw" {
			return class{password, "password", false}
		}
	}
	return classifyGlued(last)
}

// classifyToken tells the tokens that open something from those of lists and
// languages.
func classifyToken(words []string) class {
	if len(words) == 1 {
		return class{token, "token", false}
	}
	switch words[len(words)-2] {
	case "page", "next", "prev", "previous", "continuation", "continue", "cursor", "sync", "start", "starting", "end", "last", "first", "resume",
		"eos", "bos", "pad", "unk", "mask", "sep", "cls", "stop", "special", "max", "min", "per", "total", "num", "input", "output", "prompt",
		"completion", "unexpected", "invalid", "illegal", "expected", "expecting", "missing", "unknown", "current", "new", "each", "this",
		"one", "cached", "reasoning", "text", "image", "audio", "design", "color", "string", "syntax", "parse", "query", "keyword",
		"pagination", "paging", "marker", "progress", "change", "delta", "idempotency", "by", "for", "of", "no", "a", "the", "any", "operator", "lock", "watch", "resource",
		"has", "is", "use", "bad", "operation", "skip", "scroll", "price", "cost", "erc20", "nft":
		return class{}
	}
	return class{secret, "token", false}
}

// classifyKey tells the keys that open something from those of maps and tables.
func classifyKey(key string, words []string) class {
	if len(words) == 1 {
		return class{}
	}
	many := words[len(words)-1] == "keys"
	switch before := words[len(words)-2]; before {
	case "api", "private", "access", "secret", "auth", "app", "application", "signing", "sign", "encryption", "encrypt", "decryption", "master", "account",
		"subscription", "license", "licence", "shared", "hmac", "jwt", "aes", "recovery", "wrapping", "admin", "root", "consumer", "service",
		"functions", "webhook", "storage", "client", "role", "authentication", "authorization", "bot", "integration", "ingest", "ingestion", "token", "developer",
		"session", "deploy", "wireguard", "preshared", "unseal", "token_signing", "cipher", "crypto", "data_encryption", "pgp", "host_private":
		return class{secret, keyWord(before + "key"), many}
	case "public", "sort", "primary", "foreign", "partition", "cache", "object", "issue", "project", "sorting", "composite", "unique", "host", "publishable":
		return class{}
	}
	// OPENAI_KEY: the name of a variable, whose value decides.
	if !many && key == strings.ToUpper(key) {
		return class{perhaps, "api-key", false}
	}
	return class{}
}

// keyWord returns how marks name a kind of key.
func keyWord(glued string) string {
	switch glued = strings.TrimSuffix(glued, "s"); glued {
	case "privatekey", "privkey", "accesskey", "secretkey", "signingkey", "encryptionkey", "licensekey", "sessionkey":
		return strings.TrimSuffix(strings.Replace(glued, "priv"+"key", "privatekey", 1), "key") + "-key"
	}
	return "api-key"
}

// classifyGlued finds the words of secrets at the end of names without separators:
// PGPASSWORD, authtoken, clientsecret.
func classifyGlued(word string) class {
	for _, end := range []string{"password", "passwd", "passphrase", "passwort", "kennwort"} {
		if strings.HasSuffix(word, end) {
			return class{password, "password", false}
		}
	}
	for _, end := range []string{"apikey", "secretkey", "privatekey", "accesskey", "authkey", "encryptionkey", "signingkey"} {
		if strings.HasSuffix(word, end) {
			return class{secret, keyWord(end), false}
		}
	}
	if start, ok := strings.CutSuffix(word, "secret"); ok {
		switch start {
		case "client", "app", "api", "shared", "consumer", "jwt", "cookie", "session", "webhook", "oauth", "auth", "signing", "my", "nextauth":
			return class{secret, "secret", false}
		}
	}
	if start, ok := strings.CutSuffix(word, "token"); ok {
		switch start {
		case "access", "auth", "refresh", "api", "id", "session", "bearer", "bot", "user", "app", "jwt", "csrf", "xsrf", "oauth", "device",
			"personal", "deploy", "webhook", "service", "github", "gitlab", "slack", "gh", "my", "private", "admin", "security", "secret", "npm", "csrfmiddleware", "accessor":
			return class{secret, "token", false}
		}
	}
	return class{}
}

// foreignWords are words for secrets in other languages, at the end of a key.
var foreignWords = []struct {
	word string
	is   class
}{
	{"パスワード", class{password, "password", false}},
	{"パスコード", class{password, "passcode", false}},
	{"パスフレーズ", class{password, "passphrase", false}},
	{"合言葉", class{password, "passphrase", false}},
	{"暗証番号", class{digits, "pin", false}},
	{"秘密鍵", class{secret, "private-key", false}},
	{"暗号鍵", class{secret, "encryption-key", false}},
	{"シークレット", class{secret, "secret", false}},
	{"シークレットキー", class{secret, "secret-key", false}},
	{"APIキー", class{secret, "api-key", false}},
	{"apiキー", class{secret, "api-key", false}},
	{"アクセスキー", class{secret, "access-key", false}},
	{"トークン", class{token, "token", false}},
	{"認証情報", class{secret, "credential", true}},
	{"認証コード", class{secret, "code", false}},
	{"密码", class{password, "password", false}},
	{"密碼", class{password, "password", false}},
	{"口令", class{password, "password", false}},
	{"密钥", class{secret, "secret", false}},
	{"令牌", class{token, "token", false}},
	{"비밀번호", class{password, "password", false}},
	{"пароль", class{password, "password", false}},
	{"пароля", class{password, "password", false}},
}

func classifyForeign(key string) class {
	ascii := true
	for i := range len(key) {
		if key[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return class{}
	}
	// パスワード（確認）, パスワード2
	if i := strings.IndexAny(key, "（("); i > 0 {
		key = key[:i]
	}
	key = strings.TrimRight(strings.ToLower(key), " 　*：:0123456789")
	for _, w := range foreignWords {
		if strings.HasSuffix(key, strings.ToLower(w.word)) {
			return w.is
		}
	}
	return class{}
}

// neutral reports whether a word after the name of a secret does not change what it
// is.
func neutral(word string) bool {
	switch word {
	case "value", "val", "plain", "plaintext", "text", "raw", "string", "base", "b64", "base64", "old", "new", "current", "confirm", "confirmation", "confirmed", "again", "repeat",
		"retype", "verify", "prod", "production", "dev", "development", "test", "staging", "live", "sandbox", "primary", "secondary", "default",
		"backup", "env", "var", "encrypted", "enc", "decrypted", "v", "":
		return true
	}
	return strings.Trim(word, "0123456789") == ""
}

// splitWords splits a key into words in lower case: apiKey, API_KEY and X-Api-Key end
// in api and key. Digits at the end of a word are dropped.
func splitWords(key string) []string {
	words := make([]string, 0, 4)
	start := -1
	end := func(i int) {
		if start >= 0 {
			word := strings.ToLower(key[start:i])
			if trimmed := strings.TrimRight(word, "0123456789"); trimmed != "" && word != "base64" && word != "b64" && word != "k8" {
				word = trimmed
			}
			words = append(words, word)
		}
		start = -1
	}
	var before rune
	for i, r := range key {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end(i)
		case start < 0:
			start = i
		case unicode.IsUpper(r) && unicode.IsLower(before):
			end(i)
			start = i
		case unicode.IsUpper(r) && (unicode.IsUpper(before) || unicode.IsDigit(before)):
			// The last capital of several begins a word: JWTSecret, oauth2Token.
			if next, _ := utf8.DecodeRuneInString(key[i+utf8.RuneLen(r):]); unicode.IsLower(next) && !pluralOfCapitals(key[i:]) {
				end(i)
				start = i
			}
		}
		before = r
	}
	end(len(key))
	return words
}

// pluralOfCapitals reports whether a text is the end of a word like IDs.
func pluralOfCapitals(s string) bool {
	return len(s) == 2 && s[1] == 's'
}

// asksForPassword reports whether the description of a field asks for a password:
// "Password textbox", #password, input[type=password].
func asksForPassword(label string) bool {
	for _, word := range splitWords(label) {
		switch word {
		case "password", "passwd", "pwd", "passphrase", "passcode", "passwort", "kennwort":
			return true
		}
		if strings.HasSuffix(word, "password") {
			return true
		}
	}
	return strings.Contains(label, "パスワード") || strings.Contains(label, "暗証番号") || strings.Contains(label, "密码")
}
