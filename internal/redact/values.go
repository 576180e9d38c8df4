package redact

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// secretNumber reports whether a number is secret under a key of this class.
func (c class) secretNumber(number string) bool {
	if c.many || strings.ContainsAny(number, "-.eE") {
		return false
	}
	switch c.kind {
	case password, digits:
		return len(number) >= 4
	case secret:
		return len(number) >= 6
	default:
		return false
	}
}

// secretPart returns which part of a value is secret under a key of this class: none,
// all of it, or what follows the scheme of an authorization.
func (c class) secretPart(value string) (start, end int) {
	trimmed := strings.TrimSpace(value)
	if trimmed == "" {
		return 0, 0
	}
	start = strings.Index(value, trimmed)
	end = start + len(trimmed)
	if c.kind == notSecret {
		return 0, 0
	}
	if n := schemeLength(trimmed); n > 0 && c.kind != password && c.kind != cookie {
		rest := trimmed[n:]
		if rest == "" || Placeholder(rest) || isReference(rest) || isMetavariable(rest) {
			return 0, 0
		}
		return start + n, end
	}
	if !c.secretText(trimmed) {
		return 0, 0
	}
	return start, end
}

// secretText reports whether a text is secret under a key of this class.
func (c class) secretText(s string) bool {
	const longest = 512 // of what is looked at
	if len(s) > longest {
		return c.kind != perhaps && c.kind != digits && !isProse(s[:longest])
	}
	if Placeholder(s) || saysNothing(s) || isReference(s) {
		return false
	}
	if (c.kind == secret || c.kind == token) && isNameOfSecret(s) {
		return false
	}
	switch c.kind {
	case notSecret:
		return false
	case password:
		return c.word == "passphrase" || c.word == "mnemonic" || !isProse(s)
	case digits:
		return len(s) >= 4 && len(s) <= 10 && strings.Trim(s, "0123456789 -") == ""
	case perhaps:
		return isGenerated(s) || isUserPassword(s)
	case authorization:
		return !isProse(s) && len(s) >= 6
	case cookie:
		return len(s) >= 4 && !isProse(s)
	case token:
		if strings.TrimFunc(s, isLetter) == "" && len(s) < 16 && c.word != "password" {
			return false // a word
		}
		return len(s) >= 3 && !isProse(s) && !isPath(s) && strings.Trim(s, "0123456789.,") != ""
	default:
		if strings.Trim(s, "0123456789.,") == "" && len(s) < 6 {
			return false
		}
		return len(s) >= 3 && !isProse(s) && !isPath(s) && !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://")
	}
}

func isLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80 || r == '\''
}

// schemeLength returns the length of the scheme of an authorization and the space
// after it; 0 if the text has none.
func schemeLength(s string) int {
	scheme, _, ok := strings.Cut(s, " ")
	if !ok {
		return 0
	}
	switch strings.ToLower(scheme) {
	case "bearer", "basic", "token", "digest", "negotiate", "ntlm", "apikey", "api-key", "key", "oauth", "geniekey", "dpop", "hawk", "ssws", "bot",
		"aws4-hmac-sha256", "sharedkey", "sharedaccesssignature", "zoho-oauthtoken", "splunk", "jwt":
		n := len(scheme)
		for n < len(s) && s[n] == ' ' {
			n++
		}
		return n
	}
	return 0
}

// saysNothing reports whether a value is a word that people and programs write where
// a secret could be.
func saysNothing(s string) bool {
	const longest = 24
	if len(s) > longest {
		return false
	}
	switch strings.ToLower(strings.TrimRight(s, "?!.;,")) {
	case "true", "false", "none", "null", "nil", "undefined", "0", "1", "yes", "no", "on", "off", "ok", "n/a", "na", "-", "--", "unset", "set", "empty", "blank",
		"redacted", "[redacted]", "<redacted>", "(redacted)", "[filtered]", "filtered", "hidden", "[hidden]", "masked", "[masked]", "secret", "password", "token", "sensitive", "(sensitive)", "encrypted", "removed", "omitted",
		"string", "str", "bytes", "byte", "buffer", "any", "unknown", "object", "boolean", "bool", "number", "int", "integer", "char", "varchar", "text",
		"self", "this", "void", "required", "optional", "missing", "invalid", "valid", "incorrect", "wrong", "expired", "changed", "reset", "secretstr", "securestring",
		"inherit", "include", "same-origin", "omit", "default", "auto", "prompt", "never", "always", "disabled", "enabled", "basic", "bearer", "oauth", "oauth2", "jwt", "apikey", "api_key", "header", "query", "cookie", "cookies",
		"value", "example", "placeholder", "changeme", "change-me", "todo", "tbd", "uuid", "email", "textbox", "input", "function", "async", "await", "new", "return", "env", "file", "stdin", "keyring", "keychain", "vault":
		return true
	}
	return isBracketed(s)
}

// isBracketed reports whether a value is words in brackets, as people write them in the place of
// what they have taken out: [key], <token>, ［鍵］.
func isBracketed(s string) bool {
	for _, pair := range [...]string{"[]", "<>", "［］", "【】", "＜＞"} {
		opening, closing := pair[:len(pair)/2], pair[len(pair)/2:]
		inside, ok := strings.CutPrefix(s, opening)
		if inside, closed := strings.CutSuffix(inside, closing); ok && closed && inside != "" {
			return !strings.ContainsFunc(inside, func(r rune) bool { return !unicode.IsLetter(r) && r != ' ' && r != '-' && r != '_' && r != 'ー' })
		}
	}
	return false
}

// isReference reports whether a value says where the secret is instead of the secret:
// $TOKEN, {{ token }}, %TOKEN%, process.env.TOKEN, os.getenv("TOKEN").
func isReference(s string) bool {
	if len(s) < 2 {
		return true
	}
	switch {
	case s[0] == '$' && (s[1] == '{' || s[1] == '(' || strings.TrimFunc(s[1:], isWordRune) == "" && !isDigit[s[1]] && isVariable(s[1:])):
		return true
	case strings.HasPrefix(s, "{{") || strings.HasPrefix(s, "<%") || strings.HasPrefix(s, "#{"):
		return true
	case s[0] == '%' && len(s) <= 3 && isLetter(rune(s[len(s)-1])): // the verb of a format
		return true
	case s[0] == '%' && s[len(s)-1] == '%' && strings.TrimFunc(s[1:len(s)-1], isWordRune) == "":
		return true
	case strings.HasPrefix(s, "op://") || strings.HasPrefix(s, "!vault") || strings.HasPrefix(s, "arn:aws:") || strings.HasPrefix(s, "projects/"):
		return true
	}
	for _, start := range []string{"process.env", "os.environ", "os.getenv", "os.Getenv", "env.", "ENV[", "ENV.", "import.meta.env", "System.getenv", "secrets.", "var.", "local.", "data.", "getenv(", "env(", "vault:", "keyring:", "secretref:"} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return false
}

// isMetavariable reports whether a value is a word in capitals that stands for a
// secret: Bearer TOKEN.
func isMetavariable(s string) bool {
	const longest = 24
	return len(s) <= longest && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// isNameOfSecret reports whether a value is a name of several words: access_token.
func isNameOfSecret(s string) bool {
	return !hasDigit(s) && strings.TrimFunc(s, isWordRune) == "" && classify(s).kind != notSecret && len(splitWords(s)) > 1
}

// isVariable reports whether a name after a dollar is a variable's. A password may
// begin with a dollar, too.
func isVariable(name string) bool {
	return name == strings.ToUpper(name) || classify(name).kind != notSecret || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == ""
}

func isWordRune(r rune) bool {
	return r < 0x80 && isWord[byte(r)] //nolint:gosec // it is ASCII
}

// isProse reports whether a text is a sentence about a secret.
func isProse(s string) bool {
	if strings.Count(s, " ") < 2 {
		return false
	}
	words, common := 0, 0
	for w := range strings.FieldsSeq(s) {
		words++
		switch strings.ToLower(strings.Trim(w, ".,:;!?()'\"")) {
		case "a", "an", "the", "to", "for", "is", "are", "must", "your", "of", "in", "be", "with", "or", "and", "this", "that", "if", "you", "used", "at", "from",
			"on", "not", "enter", "please", "should", "can", "has", "was", "it", "as", "by", "when", "will", "use", "characters", "required", "optional":
			common++
		}
	}
	return common*3 >= words
}

// isPath reports whether a value is the path of a file.
func isPath(s string) bool {
	rest, ok := s, false
	for _, start := range []string{"/", "~/", "./", "../", `C:\`, "file:"} {
		if strings.HasPrefix(s, start) {
			rest, ok = s[len(start):], true
			break
		}
	}
	if !ok || strings.ContainsAny(rest, "+=") {
		return false
	}
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == '/' || r == '\\' }) {
		if Random(part) {
			return false
		}
	}
	return true
}

// isGenerated reports whether a value looks generated, and is neither a hash nor a
// UUID.
func isGenerated(s string) bool {
	return Random(s) && !isUUID(s) && strings.TrimFunc(s, func(r rune) bool { return r < 0x80 && isHex[byte(r)] }) != "" //nolint:gosec // it is ASCII
}

// isUserPassword reports whether a value is a user and a password, as they are or in
// base64.
func isUserPassword(s string) bool {
	if strings.ContainsAny(s, " \n/") && !strings.Contains(s, "==") {
		return false
	}
	if user, pass, ok := strings.Cut(s, ":"); ok {
		return user != "" && len(pass) >= 3 && strings.Trim(pass, "0123456789") != "" && strings.TrimFunc(user, func(r rune) bool { return isWordRune(r) || r == '.' || r == '@' || r == '-' }) == ""
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil && len(raw) >= 5 && isText(raw) && strings.Contains(string(raw[1:]), ":")
}

// isUUID reports whether a text is a UUID.
func isUUID(s string) bool {
	const length = 36
	if len(s) != length {
		return false
	}
	for i := range len(s) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (s[i] == '-') || !dash && !isHex[s[i]] {
			return false
		}
	}
	return true
}

// isText reports whether bytes are printable text. Its last rune may be cut off.
func isText[T string | []byte](s T) bool {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		rest := string(s[i:min(len(s), i+utf8.UTFMax)])
		r, n := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && n <= 1 {
			return i+utf8.UTFMax > len(s) && !utf8.FullRuneInString(rest)
		}
		i += n
	}
	return true
}
