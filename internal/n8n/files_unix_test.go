//go:build unix

package n8n_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"genkan/internal/n8n"
	"genkan/internal/testkit/n8nfake"
)

func TestFilesThatAreNoneOfTheCallersAreRefused(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{})
	outside, dir := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret.json")
	if err := os.WriteFile(secret, []byte(`{"name":"Secret","nodes":[],"connections":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, link := range [][2]string{{secret, "out.json"}, {outside, "folder"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	huge, err := os.Create(filepath.Join(dir, "huge.json"))
	if err == nil {
		err = huge.Truncate(1 << 30)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = huge.Close()
	for _, name := range []string{"out.json", "folder/secret.json", secret, "fifo.json", "huge.json", filepath.Join(dir, "..", filepath.Base(outside), "secret.json")} {
		got := ask(t, s, dir, "create_workflow_from_file", map[string]any{"filePath": name})
		if !strings.HasPrefix(got, `{"name":"ValidationError"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if requests := fake.Requests(); len(requests) > 0 {
		t.Errorf("n8n was asked: %v", requests)
	}
	// A file within, by its absolute path, and one in an allowed root.
	good := filepath.Join(dir, "good.json")
	if err := os.WriteFile(good, []byte(`{"name":"Good","nodes":[],"connections":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, s, dir, "create_workflow_from_file", map[string]any{"filePath": good}); !strings.Contains(got, `"success":true`) {
		t.Error(got)
	}
	rooted := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{Roots: []string{outside}})
	if got := ask(t, rooted, "", "create_workflow_from_file", map[string]any{"filePath": secret}); !strings.Contains(got, `"success":true`) {
		t.Error(got)
	}
}
