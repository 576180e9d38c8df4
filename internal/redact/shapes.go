package redact

import (
	"strings"
	"sync"
)

// shape is the form that an issuer gives to its tokens.
type shape struct {
	rule, prefix string
	// chars follow the prefix, at least so many.
	chars *[256]bool
	least int
	// glued shapes may follow a letter or a digit.
	glued bool
	// check decides about what follows the prefix; nil for true.
	check func(rest string) bool
}

//nolint:gochecknoglobals // tables
var (
	charsURL     = charset("_-", true)
	charsDotted  = charset("_-.", true)
	charsBase64  = charset("+/=_-", true)
	charsUpper   = charset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", false)
	charsHex     = charset("0123456789abcdef", false)
	charsWebhook = charset("/_-", true)
	charsDiscord = charset("/_-.", true)
)

// shapeTable has the shapes by their first byte, and which two bytes begin one.
type shapeTable struct {
	byFirst [256][]shape
	begins  [1 << 16 / 64]uint64
}

//nolint:gochecknoglobals // made once
var shapes = sync.OnceValue(func() *shapeTable {
	var t shapeTable
	for _, s := range []shape{
		{"github-token", "github_pat_", isWord, 20, true, nil},
		{"github-token", "ghp_", charsDotted, 16, true, nil},
		{"github-token", "gho_", charsDotted, 16, true, nil},
		{"github-token", "ghu_", charsDotted, 16, true, nil},
		{"github-token", "ghs_", charsDotted, 16, true, nil},
		{"github-token", "ghr_", charsDotted, 16, true, nil},
		{"gitlab-token", "glpat-", charsDotted, 16, true, nil},
		{"gitlab-token", "gldt-", charsDotted, 20, true, nil},
		{"gitlab-token", "glrt-", charsDotted, 20, true, nil},
		{"gitlab-token", "glrtr-", charsDotted, 20, true, nil},
		{"gitlab-token", "glcbt-", charsDotted, 20, true, nil},
		{"gitlab-token", "glptt-", charsDotted, 20, true, nil},
		{"gitlab-token", "glft-", charsDotted, 20, true, nil},
		{"gitlab-token", "glsoat-", charsDotted, 20, true, nil},
		{"gitlab-token", "glimt-", charsDotted, 20, true, nil},
		{"gitlab-token", "glagent-", charsDotted, 20, true, nil},
		{"gitlab-token", "gloas-", charsDotted, 20, true, nil},
		{"gitlab-token", "GR1348941", charsURL, 20, true, nil},
		{"slack-token", "xoxb-", charsURL, 10, true, hasDigit},
		{"slack-token", "xoxp-", charsURL, 10, true, hasDigit},
		{"slack-token", "xoxa-", charsURL, 10, true, hasDigit},
		{"slack-token", "xoxo-", charsURL, 10, true, hasDigit},
		{"slack-token", "xoxr-", charsURL, 10, true, hasDigit},
		{"slack-token", "xoxs-", charsURL, 10, true, hasDigit},
		{"slack-token", "xoxc-", charsURL, 10, true, hasDigit},
		{"slack-token", "xoxd-", charset("_-%", true), 10, true, hasDigit},
		{"slack-token", "xoxe-", charsURL, 10, true, hasDigit},
		{"slack-token", "xoxe.xox", charsURL, 10, true, hasDigit},
		{"slack-token", "xapp-", charsURL, 10, true, hasDigit},
		{"slack-webhook", "hooks.slack.com/services/", charsWebhook, 20, true, nil},
		{"slack-webhook", "hooks.slack.com/workflows/", charsWebhook, 20, true, nil},
		{"discord-webhook", "discord.com/api/webhooks/", charsDiscord, 40, true, nil},
		{"discord-webhook", "discordapp.com/api/webhooks/", charsDiscord, 40, true, nil},
		{"aws-access-key", "AKIA", charsUpper, 16, false, nil},
		{"aws-access-key", "ASIA", charsUpper, 16, false, nil},
		{"aws-access-key", "ABIA", charsUpper, 16, false, nil},
		{"aws-bedrock-key", "ABSKQmVkcm9ja", charsBase64, 20, true, nil},
		{"google-api-key", "AIza", charsURL, 33, true, nil},
		{"google-oauth-token", "ya29.", charsDotted, 16, false, nil},
		{"google-oauth-token", "1//0", charsURL, 30, false, nil},
		{"google-oauth-secret", "GOCSPX-", charsURL, 20, true, nil},
		{"anthropic-key", "sk-ant-", charsURL, 16, true, nil},
		{"openai-key", "sk-proj-", charsURL, 20, true, nil},
		{"openai-key", "sk-svcacct-", charsURL, 20, true, nil},
		{"openai-key", "sk-admin-", charsURL, 20, true, nil},
		{"openrouter-key", "sk-or-v1-", charsURL, 20, true, nil},
		{"langfuse-key", "sk-lf-", charsURL, 20, true, nil},
		{"secret-key", "sk-", charsURL, 16, false, isSecretKey},
		{"stripe-key", "sk_live_", isAlnum, 10, true, nil},
		{"stripe-key", "sk_test_", isAlnum, 10, true, nil},
		{"stripe-key", "rk_live_", isAlnum, 10, true, nil},
		{"stripe-key", "rk_test_", isAlnum, 10, true, nil},
		{"stripe-webhook-secret", "whsec_", charsBase64, 20, true, nil},
		{"npm-token", "npm_", isAlnum, 30, false, nil},
		{"pypi-token", "pypi-", charsURL, 40, false, nil},
		{"huggingface-token", "hf_", isAlnum, 30, false, nil},
		{"huggingface-token", "api_org_", isAlnum, 30, false, nil},
		{"linear-token", "lin_api_", isAlnum, 20, true, nil},
		{"linear-token", "lin_oauth_", isAlnum, 20, true, nil},
		{"notion-token", "ntn_", isAlnum, 30, false, hasDigit},
		{"notion-token", "secret_", isAlnum, 32, false, hasDigit},
		{"sentry-token", "sntrys_", charsBase64, 20, true, nil},
		{"sentry-token", "sntryu_", isAlnum, 32, true, nil},
		{"twilio-key", "SK", charsHex, 32, false, exactly(32)},
		{"sendgrid-key", "SG.", charsDotted, 32, false, twoParts},
		{"digitalocean-token", "dop_v1_", charsHex, 32, true, nil},
		{"digitalocean-token", "doo_v1_", charsHex, 32, true, nil},
		{"digitalocean-token", "dor_v1_", charsHex, 32, true, nil},
		{"jwt", "eyJ", charsDotted, 24, false, twoParts},
		{"age-key", "AGE-SECRET-KEY-1", charsUpper, 30, true, nil},
		{"age-key", "AGE-SECRET-KEY-PQ-1", charsUpper, 30, true, nil},
		{"age-key", "AGE-PLUGIN-", charset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", false), 20, true, nil},
		{"genkan-token", "gk_", charsURL, 43, false, exactly(43)},
		{"shopify-token", "shpat_", isAlnum, 32, true, nil},
		{"shopify-token", "shpss_", isAlnum, 32, true, nil},
		{"shopify-token", "shpca_", isAlnum, 32, true, nil},
		{"shopify-token", "shppa_", isAlnum, 32, true, nil},
		{"atlassian-token", "ATATT3x", charsBase64, 40, true, nil},
		{"atlassian-token", "ATCTT3x", charsBase64, 40, true, nil},
		{"figma-token", "figd_", charsURL, 20, true, nil},
		{"airtable-token", "pat", charset(".", true), 64, false, airtable},
		{"docker-token", "dckr_pat_", charsURL, 20, true, nil},
		{"docker-token", "dckr_oat_", charsURL, 20, true, nil},
		{"firecrawl-key", "fc-", charsHex, 32, false, exactly(32)},
		{"context7-key", "ctx7sk", charsURL, 16, true, nil},
		{"brave-key", "BSA", charsURL, 24, false, mixed},
		{"groq-key", "gsk_", isAlnum, 30, false, nil},
		{"tavily-key", "tvly-", charsURL, 16, true, hasDigit},
		{"xai-key", "xai-", isAlnum, 40, false, nil},
		{"perplexity-key", "pplx-", isAlnum, 30, true, nil},
		{"replicate-token", "r8_", isAlnum, 30, false, nil},
		{"databricks-token", "dapi", charsHex, 32, false, nil},
		{"hashicorp-token", "hvs.", charsURL, 20, false, nil},
		{"hashicorp-token", "hvb.", charsURL, 20, false, nil},
		{"grafana-token", "glsa_", isWord, 30, true, nil},
		{"grafana-token", "glc_", charsBase64, 32, false, nil},
		{"newrelic-key", "NRAK-", isAlnum, 20, true, nil},
		{"mailgun-key", "key-", charsHex, 32, false, exactly(32)},
		{"postman-key", "PMAK-", charsURL, 30, true, nil},
		{"doppler-token", "dp.pt.", isAlnum, 30, false, nil},
		{"doppler-token", "dp.st.", charset("._", true), 30, false, nil},
		{"pulumi-token", "pul-", charsHex, 40, false, nil},
		{"planetscale-token", "pscale_tkn_", charsDotted, 20, true, nil},
		{"planetscale-token", "pscale_pw_", charsDotted, 20, true, nil},
		{"supabase-token", "sbp_", charsHex, 40, false, nil},
		{"supabase-token", "sb_secret_", charsURL, 20, true, nil},
		{"langsmith-key", "lsv2_", isWord, 30, true, nil},
		{"rubygems-token", "rubygems_", charsHex, 40, true, nil},
		{"square-token", "sq0atp-", charsURL, 20, true, nil},
		{"square-token", "sq0csp-", charsURL, 20, true, nil},
		{"fly-token", "fm2_", charset("+/=_,-", true), 40, false, nil},
		{"adafruit-key", "aio_", isAlnum, 28, false, exactly(28)},
		{"contentful-token", "CFPAT-", charsURL, 30, true, nil},
		{"netlify-token", "nfp_", isAlnum, 30, false, nil},
		{"render-token", "rnd_", isAlnum, 28, false, hasDigit},
		{"jina-key", "jina_", charsURL, 40, true, nil},
		{"e2b-key", "e2b_", charsHex, 40, false, nil},
		{"posthog-key", "phx_", isAlnum, 30, false, nil},
		{"onepassword-token", "ops_eyJ", charsBase64, 40, true, nil},
		{"asana-token", "1/", charset(":", true), 40, false, asana},
		{"facebook-token", "EAAC", isAlnum, 60, false, nil},
		{"facebook-token", "EAAB", isAlnum, 60, false, nil},
		{"dropbox-token", "sl.", charsURL, 80, false, nil},
		{"openssh-key", "b3BlbnNzaC1rZXktdjE", charsBase64, 40, true, nil},
	} {
		t.byFirst[s.prefix[0]] = append(t.byFirst[s.prefix[0]], s)
		two := uint(s.prefix[0])<<8 | uint(s.prefix[1])
		t.begins[two/64] |= 1 << (two % 64)
	}
	return &t
})

// ruleNames are the names of all rules but those for known values.
//
//nolint:gochecknoglobals // made once
var ruleNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{
		"authorization": true, "cookie": true, "url-password": true, "private-key": true, "aws-secret-key": true, "telegram-token": true,
		"discord-token": true, "azure-sas": true, "generated": true,
	}
	for _, word := range []string{
		"password", "passphrase", "passcode", "mnemonic", "pin", "code", "secret", "token", "api-key", "private-key", "access-key", "secret-key",
		"signing-key", "encryption-key", "license-key", "session-key", "credential", "auth", "signature",
	} {
		names["key:"+word] = true
	}
	for _, of := range shapes().byFirst {
		for _, s := range of {
			names[s.rule] = true
		}
	}
	return names
})

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// mixed tells a generated text from words: sk-learn-estimator-html is none.
func mixed(s string) bool {
	var digits, upper, lower int
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit[c]:
			digits++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		}
	}
	return digits >= 3 && upper+lower >= 3 || digits > 0 && upper > 2 && lower > 2
}

// isSecretKey tells a key from the names of OpenSSH and of style sheets.
func isSecretKey(s string) bool {
	return mixed(s) && !strings.HasPrefix(s, "ssh-") && !strings.HasPrefix(s, "ecdsa-")
}

func exactly(n int) func(string) bool { return func(s string) bool { return len(s) == n } }

// twoParts reports whether a dot separates two parts of some length.
func twoParts(s string) bool {
	first, rest, ok := strings.Cut(s, ".")
	return ok && len(first) >= 8 && len(rest) >= 4
}

func airtable(s string) bool { return strings.IndexByte(s, '.') == 14 }

func asana(s string) bool {
	id, rest, ok := strings.Cut(s, ":")
	return ok && len(id) >= 10 && strings.Trim(id, "0123456789") == "" && len(rest) >= 20
}

// findShapes finds tokens of well-known forms.
func (p *pass) findShapes(v view) {
	s, table := v.text, shapes()
	const far = 200       // between an access key of AWS and its secret
	lastAccessKey := -far // the end of the last access key
	for i := 0; i < len(s); i++ {
		c := s[i]
		start := i == 0 || !isAlnum[s[i-1]]
		switch {
		case c == '-' && strings.HasPrefix(s[i:], "-----BEGIN "):
			if end := endOfPrivateKey(s, i); end > i {
				p.add(v, i, end, "private-key", byShape)
				i = end - 1
				continue
			}
		case c == ':':
			if strings.HasPrefix(s[i:], "://") {
				p.findURLPassword(v, i)
			} else if from, end := telegram(s, i); end > 0 {
				p.add(v, from, end, "telegram-token", byShape)
				i = end - 1
				continue
			}
		case c == '=' && i >= 4 && (strings.HasSuffix(s[:i], "?sig") || strings.HasSuffix(s[:i], "&sig")):
			end := i + 1
			for end < len(s) && (charsBase64[s[end]] || s[end] == '%') {
				end++
			}
			if end-i > 20 {
				p.add(v, i+1, end, "azure-sas", byShape)
			}
		case start && (c == 'M' || c == 'N' || c == 'O'):
			if end := discord(s, i); end > 0 {
				p.add(v, i, end, "discord-token", byShape)
				i = end - 1
				continue
			}
		}
		if start && i-lastAccessKey < far && charsBase64[c] {
			if end := awsSecret(s, i); end > 0 {
				p.add(v, i, end, "aws-secret-key", byShape)
				i = end - 1
				continue
			}
		}
		if i+1 >= len(s) {
			break
		}
		if two := uint(c)<<8 | uint(s[i+1]); table.begins[two/64]>>(two%64)&1 == 0 {
			continue
		}
		for _, one := range table.byFirst[c] {
			if !start && !one.glued || !strings.HasPrefix(s[i:], one.prefix) {
				continue
			}
			end := one.end(s, i, v.cut)
			if end == 0 {
				continue
			}
			p.add(v, i, end, one.rule, byShape)
			if one.rule == "aws-access-key" {
				lastAccessKey = end
			}
			i = end - 1
			break
		}
	}
}

// end returns the end of a token that begins at i, or 0.
func (sh shape) end(s string, i int, cut bool) int {
	const looked = 256 // how much of a long run is looked at, so that all work is linear
	from := i + len(sh.prefix)
	end := from
	for end < len(s) && sh.chars[s[end]] && end-from < looked {
		end++
	}
	cut = cut && end == len(s)
	if end-from < sh.least && (!cut || end-from < 3) {
		return 0
	}
	if sh.check != nil && !cut && !sh.check(s[from:end]) {
		return 0
	}
	for end < len(s) && sh.chars[s[end]] {
		end++
	}
	for end > from && s[end-1] == '.' { // of a sentence
		end--
	}
	return end
}

// endOfPrivateKey returns the end of a private key in PEM that begins at i, or 0.
func endOfPrivateKey(s string, i int) int {
	const label = 80
	begin := i + len("-----BEGIN ")
	n := strings.Index(s[begin:min(len(s), begin+label)], "-----")
	if n < 0 || !strings.Contains(s[begin:begin+n], "PRIVATE KEY") {
		return 0
	}
	body := begin + n + len("-----")
	end := strings.Index(s[body:], "-----END ")
	if end < 0 {
		return endOfKeyBody(s, body)
	}
	end += body + len("-----END ")
	if n = strings.Index(s[end:min(len(s), end+label)], "-----"); n < 0 {
		return end
	}
	return end + n + len("-----")
}

// endOfKeyBody returns the end of the base64 after the first line of a key without a
// last line.
func endOfKeyBody(s string, i int) int {
	const shortest = 16 // a shorter run is a word, unless the text ends with it
	end := i
	for i < len(s) {
		for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\r' || s[i] == '\t') {
			i++
		}
		start := i
		for i < len(s) && (isBase64[s[i]] || s[i] == '=' || s[i] == '\\') {
			i++
		}
		if i == start || i-start < shortest && i < len(s) {
			break
		}
		end = i
	}
	return end
}

// telegram finds the token of a bot around the colon at i: 123456789:AA….
func telegram(s string, i int) (start, end int) {
	start = i
	for start > 0 && isDigit[s[start-1]] && i-start < 13 {
		start--
	}
	if i-start < 6 || i-start > 12 || !strings.HasPrefix(s[i+1:], "AA") {
		return 0, 0
	}
	for end = i + 1; end < len(s) && charsURL[s[end]]; end++ {
		if end-i > 64 {
			return 0, 0
		}
	}
	if end-i-1 < 32 {
		return 0, 0
	}
	return start, end
}

// discord returns the end of a bot's token that begins at i, or 0: three parts, of
// which the first is the bot's number in base64.
func discord(s string, i int) int {
	part := func(at, least, most int) int {
		end := at
		for end < len(s) && charsURL[s[end]] && end-at <= most {
			end++
		}
		if end-at < least || end-at > most {
			return 0
		}
		return end
	}
	end := part(i, 23, 28)
	if end == 0 || end == len(s) || s[end] != '.' {
		return 0
	}
	if end = part(end+1, 6, 6); end == 0 || end == len(s) || s[end] != '.' {
		return 0
	}
	return part(end+1, 27, 45)
}

// awsSecret returns the end of a secret key of AWS that begins at i, or 0. It has 40
// characters without a mark of its own.
func awsSecret(s string, i int) int {
	const length = 40
	end := i
	for end < len(s) && (isAlnum[s[end]] || s[end] == '/' || s[end] == '+') && end-i <= length {
		end++
	}
	if end-i != length || i > 0 && (s[i-1] == '/' || s[i-1] == '+') {
		return 0
	}
	if t := s[i:end]; !mixed(t) || strings.ToLower(t) == t {
		return 0
	}
	return end
}

// findURLPassword finds the password in the URL whose "://" is at i.
func (p *pass) findURLPassword(v view, i int) {
	s := v.text
	if i == 0 || !isAlnum[s[i-1]] {
		return
	}
	const longest = 1024
	start := i + len("://")
	end := start
	for end < len(s) && end-start < longest && s[end] > ' ' && strings.IndexByte("\"'<>`\\", s[end]) < 0 && !strings.HasPrefix(s[end:], "://") {
		end++
	}
	rest := s[start:end]
	host := rest
	if n := strings.IndexAny(rest, "/?#"); n >= 0 {
		host = rest[:n]
	}
	at := strings.LastIndexByte(host, '@')
	if at < 0 {
		// A password with a slash that is not encoded; a port is none.
		colon := strings.IndexByte(host, ':')
		if colon < 0 || strings.Trim(host[colon+1:], "0123456789") == "" || strings.HasPrefix(host, "[") {
			if !v.cut || end < len(s) || len(host) < len(rest) || colon <= 0 || colon+1 >= len(rest) || strings.Trim(host[colon+1:], "0123456789") == "" {
				return
			}
			at = len(rest)
		} else if at = strings.IndexByte(rest, '@'); at < 0 {
			if !v.cut || end < len(s) {
				return
			}
			at = len(rest)
		}
	}
	user, pass, ok := strings.Cut(rest[:at], ":")
	switch {
	case ok && pass != "" && !Placeholder(pass) && !isReference(pass+" "):
		p.add(v, start+len(user)+1, start+at, "url-password", byShape)
	case !ok && isGenerated(user): // https://TOKEN@host
		p.add(v, start, start+at, "url-password", byShape)
	}
}
