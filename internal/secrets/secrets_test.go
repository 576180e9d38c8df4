package secrets

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/registry"
	"genkan/internal/testkit"
	"genkan/internal/vault"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	adminToken = "admin-Kq82Lm40Xz"
	webhookURL = "https://chat.example/Rt51Vw93Ya"
	apiKey     = "key-Bn64Cp17Ds"
	signedIn   = "token-Ef20Gh85Jk"
	unrelated  = "file-Mn39Pq76Rs"
)

type fixture struct {
	*Secrets
	vault *vault.File
	cfg   *config.Config
	log   *testkit.Buffer
}

func open(t *testing.T) *fixture {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vault")
	f := &fixture{
		vault: vault.NewFile(dir, nil), log: &testkit.Buffer{},
		cfg: &config.Config{Record: config.Record{Days: 7}, Approvals: config.Approvals{Webhook: webhookURL}},
	}
	f.Secrets = New(Options{
		Vault: f.vault, VaultDir: dir, Prefixes: []string{"signin/"}, Admin: adminToken,
		Config: func() *config.Config { return f.cfg }, Log: slog.New(slog.NewTextHandler(f.log, nil)),
	})
	return f
}

func (f *fixture) save(t *testing.T, name, value string) {
	t.Helper()
	if err := f.vault.Save(t.Context(), name, gateway.Secret(value)); err != nil {
		t.Fatal(err)
	}
}

// shown returns which of the values are left in JSON.
func (f *fixture) shown(t *testing.T, values ...string) (left []string) {
	t.Helper()
	text := string(f.JSON(t.Context(), []byte(`{"text":"`+strings.Join(values, " and ")+`"}`)))
	for _, v := range values {
		if strings.Contains(text, v) {
			left = append(left, v)
		}
	}
	return left
}

// Secrets of the configuration and of the vault are found; other values of the vault, and
// parts of a sign-in that are no tokens, are not.
func TestSecretsAreFound(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.save(t, registry.SecretPrefix+"KEY", apiKey)
	f.save(t, "signin/one", `{"issuer":"https://issuer.example","tokens":[{"access_token":"`+signedIn+`"}]}`)
	f.save(t, "backup/x", unrelated)
	left := f.shown(t, adminToken, webhookURL, apiKey, signedIn, unrelated, "https://issuer.example")
	if got := strings.Join(left, " "); got != unrelated+" https://issuer.example" {
		t.Errorf("left: %s", got)
	}
	f.save(t, registry.SecretPrefix+"LATER", "later-Tu48Vx02Yz")
	if left := f.shown(t, "later-Tu48Vx02Yz"); left != nil {
		t.Error("a secret that came later is not found")
	}
	redact, err := f.Redactor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if out, names := redact([]byte(`"` + apiKey + `"`)); strings.Contains(string(out), apiKey) || strings.Join(names, " ") != "vault:KEY" {
		t.Errorf("%s, names %s", out, names)
	}
}

// Texts are left alone until the vault may be read. Mask knows the configuration only.
func TestTheVaultIsReadForTextsOnlyWhenItIsUsed(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.save(t, registry.SecretPrefix+"KEY", apiKey)
	if got := f.Mask(adminToken + " " + apiKey); strings.Contains(got, adminToken) || !strings.Contains(got, apiKey) {
		t.Errorf("masked: %s", got)
	}
	f.Reloaded(t.Context())
	if f.Text(t.Context(), apiKey) != apiKey || f.Said(t.Context(), apiKey) != apiKey {
		t.Error("the vault was read")
	}
	f.Remember(t.Context())
	if got := f.Text(t.Context(), apiKey) + f.Said(t.Context(), apiKey); strings.Contains(got, apiKey) {
		t.Errorf("got %s", got)
	}
}

// A secret that was replaced is found for as long as calls of its time are kept.
func TestFormerSecrets(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.save(t, registry.SecretPrefix+"KEY", apiKey)
	now := time.Now()
	at := func(days int) {
		t.Helper()
		if err := f.remember(t.Context(), now.AddDate(0, 0, days)); err != nil {
			t.Fatal(err)
		}
	}
	at(0)
	at(2) // it is noted again
	f.save(t, registry.SecretPrefix+"KEY", "new-Ab71Cd36Ef")
	at(9)
	if left := f.shown(t, apiKey, "new-Ab71Cd36Ef"); left != nil {
		t.Errorf("left: %s", left)
	}
	at(11)
	if left := f.shown(t, apiKey, "new-Ab71Cd36Ef"); len(left) != 1 || left[0] != apiKey {
		t.Errorf("left: %s", left)
	}
}

// closed is a vault that cannot be read.
type closed struct{ *vault.File }

func (closed) Names(context.Context, string) ([]string, error) { return nil, errors.New("locked") }

// Nothing is shown of data from which secrets cannot be taken out.
func TestAVaultThatCannotBeRead(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.opt.Vault = closed{f.vault}
	f.Remember(t.Context())
	for _, got := range []string{string(f.JSON(t.Context(), []byte(`{"a":1}`))), f.Text(t.Context(), "a"), f.Said(t.Context(), "a")} {
		if got != `"[redacted: the vault cannot be read]"` {
			t.Errorf("got %s", got)
		}
	}
	if _, err := f.Redactor(t.Context()); err == nil {
		t.Error("there is a redactor")
	}
	if _, err := f.Known(t.Context(), []byte(`{"a":1}`)); err == nil {
		t.Error("a person decides about what cannot be shown")
	}
	if !strings.Contains(f.log.String(), "the vault does not remember the secrets of today") {
		t.Errorf("logged %s", f.log)
	}
}
