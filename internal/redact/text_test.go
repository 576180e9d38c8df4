package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// S stands for the secret in these texts, and is what is masked.
func TestTexts(t *testing.T) {
	t.Parallel()
	const github, jwt = "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
	for _, c := range []struct{ text, secret, rule string }{
		// Variables, files of settings, YAML.
		{"PASSWORD=S", "hunter2", "key:password"},
		{"A=b\nexport GITHUB_TOKEN=S\nC=d", "hunter2", "key:token"},
		{"export DB_PASSWORD='S'", "pa ss", "key:password"},
		{"DB_PASSWORD=S", "a,b;c)d", "key:password"},
		{"set API_KEY=S", "abcd1234", "key:api-key"},
		{"ENV API_KEY=S", "abcd1234", "key:api-key"},
		{"  password: S", "letmein", "key:password"},
		{"db:\n  user: me\n  password: S # rotate\n  port: 1", "letmein", "key:password"},
		{"- api_key: \"S\"", "abcd", "key:api-key"},
		{"[db]\npassword = S\n", "letmein", "key:password"},
		{"spring.datasource.password=S", "letmein", "key:password"},
		{"//registry.npmjs.org/:_authToken=S", "abcd-efgh", "key:token"},
		{"パスワード：S", "hunter2", "key:password"},
		{"パスワード: S", "hunter2", "key:password"},
		{"**Password**: S", "hunter2", "key:password"},
		{"Password: S", "hunter2", "key:password"},
		{"API key: S", "abcd1234", "key:api-key"},
		{"Your access token: S, keep it.", "abcd1234", "key:token"},
		{"The password: S works", "hunter2", "key:password"},
		{"password: S", "mySecretPassword", "key:password"},
		{"password: S", "Tr0ub4dor&3", "key:password"},
		{"a password = S, x", "Tr0ub4dor&3", "key:password"},
		{"DB_PASSWORD=S", "my_secret_password", "key:password"},
		{"UID=sa;PWD=S;", "hunter2", "key:password"},
		{"I don't know password='S'", "hunter2", "key:password"},
		{"mnemonic: S", "legal winner thank year wave sausage worth", "key:mnemonic"},
		// Code and logs.
		{`const apiKey = "S";`, "abcd1234", "key:api-key"},
		{`password := "S"`, "hunter2", "key:password"},
		{`'password' => 'S',`, "hunter2", "key:password"},
		{`os.environ["API_TOKEN"] = "S"`, "abcdefgh", "key:token"},
		{`{'X-Token': 'S'}`, "abcdefgh", "key:token"},
		{`login(user="me", password="S")`, "hunter2", "key:password"},
		{`{User:me Password:S}`, "hunter2", "key:password"},
		{`level=info token=S user=me`, "abcd1234", "key:token"},
		{`see {"password": "S"} here`, "hunter2", "key:password"},
		{`see {\"password\": \"S\"} here`, "hunter2", "key:password"},
		{`see {\\\"password\\\": \\\"S\\\"} here`, "hunter2", "key:password"},
		{"Server=x;User Id=sa;Password=S;", "hunter2", "key:password"},
		{"host=x user=me password=S dbname=y", "hunter2", "key:password"},
		{"DefaultEndpointsProtocol=https;AccountName=x;AccountKey=S;EndpointSuffix=y", "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==", "key:api-key"},
		// Other languages.
		{"<password>S</password>", "letmein", "key:password"},
		{`<add key="ApiKey" value="S" />`, "letmein", "key:api-key"},
		{`<input type="password" name="p" value="S">`, "letmein", "key:password"},
		{"| DB_PASSWORD | S |", "hunter2", "key:password"},
		{"CREATE USER me WITH PASSWORD 'S';", "letmein", "key:password"},
		{"machine x.example login me password S", "letmein", "key:password"},
		{"secret: |\n  S\nnext: 1", "one\n  two", "key:secret"},
		{"The password is S.", "hunter2", "key:password"},
		{"パスワードはSです", "hunter2", "key:password"},
		{"Found 1:\n{\"name\": \"TOKEN\", \"value\": \"S\"}\nDone.", "abcd1", "key:token"},
		{"https://maps.example/?key=S&x=1", "aB3dE5gH7jK9mN1pQ3sT5vW7", "key:token"},
		// Command lines.
		{"curl -u S https://x.example", "me:hunter2", "key:password"},
		{"sshpass -p S ssh x", "hunter2", "key:password"},
		{"tool --key S", "aB3dE5gH7jK9mN1pQ3sT5vW7", "key:api-key"},
		{"tool --password S --verbose", "hunter2", "key:password"},
		{"tool --password=S --verbose", "hunter2", "key:password"},
		{"tool --api-key 'S'", "a b c d", "key:api-key"},
		{"curl --user S https://x.example", "me:hunter2", "key:password"},
		{"GITHUB_TOKEN=S tool run", "hunter2", "key:token"},
		{"docker run -e DB_PASSWORD=S image", "hunter2", "key:password"},
		// Headers.
		{"Authorization: Bearer S", "abc.def-ghi", "authorization"},
		{"authorization: basic S\r\nHost: x", "dXNlcjpwYXNz", "authorization"},
		{"curl -H 'Authorization: Bearer S' https://x.example", "abc.def-ghi", "authorization"},
		{`curl -H "X-Api-Key: S" https://x.example`, "abcd1234", "key:api-key"},
		{"Authorization: Digest S", `username="me", realm="x", response="abc"`, "authorization"},
		{"GET / HTTP/1.1\r\nCookie: S\r\nAccept: */*", "a=b; c=d", "cookie"},
		{"Set-Cookie: S", "sid=abc; HttpOnly", "cookie"},
		{"curl -b x -H 'Cookie: S' y", "a=b; c=d", "cookie"},
		{"sent Bearer S to it", "abcdef123456", "authorization"},
		{"sent Basic S to it", "dXNlcjpwYXNz", "authorization"},
		// URLs.
		{"postgres://me:S@db.example/x failed", "hunter22", "url-password"},
		{"redis://:S@cache.example:6379", "hunter22", "url-password"},
		{"mongodb+srv://me:S@c.example/x?y=z", "p@ss:w0rd", "url-password"},
		{"https://S@api.example/x", "aB3dE5gH7jK9mN1pQ3sT5vW7", "url-password"},
		{"GET https://api.example/v1?api_key=S&page=2", "abc123xyz", "key:api-key"},
		{"https://x.example/#access_token=S&state=1", "abc123xyz", "key:token"},
		{"https://x.blob.core.windows.net/c/b?sv=2022&se=2026&sig=S", "abcdefghijklmnopqrstuvwxyz%2B0123456789%3D", "azure-sas"},
		{"https://b.s3.amazonaws.com/k?X-Amz-Signature=S&x=1", "fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024", "key:signature"},
		// Well-known tokens.
		{"using S, it seems", github, "github-token"},
		{"x S.", "github_pat_11ABCDEFG0abcdefghijklmnopqrstuvwxyz", "github-token"},
		{"x=S", "glpat-abcdefghij0123456789", "gitlab-token"},
		{"(S)", "xoxb-123456789012-abcdefghijkl", "slack-token"},
		{"https://S", "hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", "slack-webhook"},
		{"id S", "AKIAIOSFODNN7EXAMPLE", "aws-access-key"},
		{"key AIza, S", "AIzaSyA1234567890abcdefghijklmnopqrstuv", "google-api-key"},
		{"x S", "ya29.a0AfH6SMBabcdefghijklmnop", "google-oauth-token"},
		{"x S", "GOCSPX-abcdefghijklmnopqrstuvwxyz12", "google-oauth-secret"},
		{"x S", "sk-ant-api03-abcdefghijklmnopqrstuvwxyz", "anthropic-key"},
		{"x S", "sk-proj-abcdefghijklmnopqrstuvwxyz0123", "openai-key"},
		{"x S", "sk-1234567890abcdef1234567890abcdef", "secret-key"},
		{"x S", "sk_live_abcdefghijklmnopqrstuvwx", "stripe-key"},
		{"x S", "whsec_abcdefghijklmnopqrstuvwxyz012345", "stripe-webhook-secret"},
		{"x S", "npm_abcdefghijklmnopqrstuvwxyz0123456789", "npm-token"},
		{"x S", "pypi-AgEIcHlwaS5vcmcCJDEyMzQ1Njc4LTEyMzQtMTIzNC0xMjM0", "pypi-token"},
		{"x S", "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "huggingface-token"},
		{"x S", "lin_api_abcdefghijklmnopqrstuvwxyz0123456789ABCD", "linear-token"},
		{"x S", "ntn_123456789012abcdefghijklmnopqrstuvwxyzABCDEFG", "notion-token"},
		{"x S", "sntrys_eyJpYXQiOjE2ODczMzY1NDMuNjk4NTksInVybCI6", "sentry-token"},
		{"x S", "SK0123456789abcdef0123456789abcdef", "twilio-key"},
		{"x S", "SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG", "sendgrid-key"},
		{"x S", "dop_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "digitalocean-token"},
		{"https://api.telegram.org/botS/getMe", "123456789:AAabcdefghijklmnopqrstuvwxyz0123456", "telegram-token"},
		{"x S", "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs", "discord-token"},
		{"x S", jwt, "jwt"},
		{"x S", "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ", "age-key"},
		{"x S", "gk_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG", "genkan-token"},
		{"a\nS\nb", "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabcd\n-----END RSA PRIVATE KEY-----", "private-key"},
		{"a S", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\nAAAAEbm9uZQAAAAAAAAAB", "private-key"},
		{"x S", "hvs.CAESIabcdefghijklmnopqrstuvwxyz", "hashicorp-token"},
		// Encoded.
		{"q=S", "Z2hwX2FiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6MDEyMzQ1Njc4OQ==", "github-token"},
		{"q=S", "eyJ0b2tlbiI6ImdocF9hYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NTY3ODkifQ", "github-token"},
		{"u=https%3A%2F%2Fme%3AS%40db.example%2Fx", "hunter22", "url-password"},
		{"<a href=\"?x=1&amp;api_key=S\">", "abcd1234", "key:api-key"},
	} {
		in := strings.Replace(c.text, lastS(c.text), strings.Replace(lastS(c.text), "S", c.secret, 1), 1)
		want := strings.Replace(c.text, lastS(c.text), strings.Replace(lastS(c.text), "S", "[redacted:"+c.rule+"]", 1), 1)
		got, names := New(nil).Text(in)
		if got != want || len(names) != 1 || names[0] != c.rule {
			t.Errorf("%s\n got %s %v\nwant %s", in, got, names, want)
		}
		again, _ := New(nil).Text(got)
		if again != got {
			t.Errorf("%s\nthen %s", got, again)
		}
		// The same as the text of a tool's result, once and twice in JSON.
		once, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": in}}})
		twice, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(once)}}})
		wantOnce, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": want}}})
		wantTwice, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(wantOnce)}}})
		if got, _ := New(nil).JSON(once); string(got) != string(wantOnce) {
			t.Errorf("%s\n got %s\nwant %s", once, got, wantOnce)
		}
		if got, _ := New(nil).JSON(twice); string(got) != string(wantTwice) {
			t.Errorf("%s\n got %s\nwant %s", twice, got, wantTwice)
		}
	}
}

// lastS returns the placeholder of a text with what is around it: the S that is no
// part of a word, or the last one.
func lastS(text string) string {
	word := func(i int) bool { return i >= 0 && i < len(text) && isWord[text[i]] }
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == 'S' && !word(i+1) && (!word(i-1) || strings.HasSuffix(text[:i], "bot") || strings.HasSuffix(text[:i], "%3A")) {
			return text[max(0, i-1):i] + "S"
		}
	}
	return "S"
}

func TestHarmlessTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"listening on port 3000",
		"npm error code E404",
		"Error: Cannot find module '/srv/example/node_modules/x/index.js'",
		"GITHUB_TOKEN is not set",
		"max_tokens=4096, total tokens: 123456",
		"SyntaxError: Unexpected token < in JSON at position 0",
		"Unexpected token: }",
		"Invalid token: expired",
		"unexpected token: abc123def",
		"--- PASS: TestSecrets1 (0.00s)\nPASS: 12\nok",
		"password: ${DB_PASSWORD}",
		"APIキー: ［キー］",
		"api_key=[key], password: <hidden word>",
		"password=$DB_PASSWORD",
		"password: <your password>",
		"password: string;",
		"token: string,",
		"token?: string | undefined;",
		"function login(user: string, password: string): Promise<void> {",
		"def login(user: str, password: str = None) -> bool:",
		"login(user=user, password=password)",
		"client = Client(api_key=config.api_key, token=self.token)",
		"const token = await getToken();",
		"token = request.headers.get('x')",
		"password := os.Getenv(\"DB_PASSWORD\")",
		"const apiKey = process.env.OPENAI_API_KEY;",
		"token: ${{ secrets.GITHUB_TOKEN }}",
		"if (token === null) return",
		"if token == \"\" {",
		"  --token string      The token to use",
		"  --password PASSWORD  the password",
		"use --token to sign in, or --api-key with a key",
		"--password <value>",
		"--password-stdin reads it",
		"cmd.Env = append(os.Environ(), \"PASSWORD=\"+value(1), \"GOROOT=\"+root)",
		"config := Config{PrivateKey: testRSA2048PrivateKey}",
		"dk.encryptionKey1024 = ek.encryptionKey1024",
		"cliSecret := cli2.writeSecret[level]",
		"CAP_CREDENTIALS = 0x800",
		"  password: userPassword,",
		"TEST_PASSWD=%s TOKEN: '%v'",
		"| paths: %d | cookies: %d | pending: %d |",
		"missing cookie: %v",
		"Send it as \"Authorization: Bearer TOKEN\".",
		"const awsSecretAccessKey = \"AWS_SECRET_ACCESS_KEY\"",
		"| password | varchar(255) | required |",
		"| token | string |",
		"the token is expired, and the password is wrong",
		"The secret is to begin; the key is a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
		"docker run -u 1000:1000 image",
		"<token>one</token> <secret/> a -> b",
		"secret: |\nnext: 1",
		"\tPrivateKey:   key,\n\tSecret: brokenSigner{testKey},",
		"sk-ecdsa-sha2-nistp256-cert-v01@openssh.com",
		"The bearer token is missing",
		"Bearer authentication is required",
		"Basic authentication is required",
		"Authorization: required",
		"Authorization: Bearer <token>",
		"Authorization: Bearer ${TOKEN}",
		"Cookie: none",
		"The password must have at least 8 characters.",
		"Password: required",
		"commit a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
		"id 8f14e45f-ceea-467f-a83c-5d2f1a1b2c3d",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"https://example.com/a/b?page=2&sort_key=name",
		"https://github.com/me/repo/blob/a94a8fe5ccb19ba61c4c0873d391e987982fbbd3/x.go",
		"C:\\Users\\new\\token.txt",
		"/srv/example/.config/very-long-directory-name/with_underscores/file.json",
		"It begins with -----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"git@github.com:me/repo.git",
		"10:30:15 INFO key: value",
		"<div class=\"sk-toggleable__control sk-estimator-doc-link\">",
		"TypeError: token.startsWith is not a function",
		"monkey: george1234567",
		"author: Jane Doe <jane@example.com>",
		"The author's key: be kind",
		"VGhpcyBpcyBqdXN0IGEgc2VudGVuY2Ugd2l0aG91dCBhbnl0aGluZyBpbiBpdC4=",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
		"type Config struct {\n\tPassword string `json:\"password\"`\n\tToken    string `yaml:\"token\"`\n}",
		"| Password | Token |\n|---|---|\n| required | optional |",
		"パスワードを忘れた方: こちら",
		"eyJust a word. eyJ",
		"1//2 and 1/2, sl.abc, SG.x",
	} {
		if got, names := New(nil).Text(text); got != text {
			t.Errorf("%s\nbecame\n%s\nby %v", text, got, names)
		}
	}
}
