//go:build unix

package n8n_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"genkan/internal/gateway"
	"genkan/internal/n8n"
	"genkan/internal/testkit"
	"genkan/internal/testkit/conversation"
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
	// A file within, by its absolute path, and one in a folder that is allowed to callers
	// without one.
	good := filepath.Join(dir, "good.json")
	if err := os.WriteFile(good, []byte(`{"name":"Good","nodes":[],"connections":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, s, dir, "create_workflow_from_file", map[string]any{"filePath": good}); !strings.Contains(got, `"success":true`) {
		t.Error(got)
	}
	homeless := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{Allowed: func(_ *gateway.Call, dir string) (string, gateway.Text) {
		if dir == outside {
			return dir, gateway.Text{}
		}
		return "", gateway.Textf("not here")
	}})
	for path, want := range map[string]string{
		secret:      `"success":true`,
		good:        "Files cannot be read in the folder of " + good + ": not here",
		"good.json": "an absolute path on Genkan's machine, below the home directory or in `folders` of Genkan's configuration",
		filepath.Join(outside, "..", filepath.Base(dir), "good.json"): "not here",
	} {
		if got := ask(t, homeless, "", "create_workflow_from_file", map[string]any{"filePath": path}); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestConversationsAboutFiles plays the conversations in testdata/unix. Their file special
// says what is in the caller's folder beside files: fifo NAME, link NAME TARGET, and
// sparse NAME SIZE.
func TestConversationsAboutFiles(t *testing.T) {
	t.Parallel()
	conversation.Play(t, "testdata/unix/files.txtar", func(t *testing.T, arc *txtar.Archive) testkit.Conn {
		c := connect(t, arc)
		for _, f := range arc.Files {
			if f.Name != "special" {
				continue
			}
			for line := range strings.Lines(string(f.Data)) {
				words := strings.Fields(line)
				path := filepath.Join(c.dir, words[1])
				var err error
				switch words[0] {
				case "fifo":
					err = syscall.Mkfifo(path, 0o600)
				case "link":
					err = os.Symlink(words[2], path)
				case "sparse":
					size, _ := strconv.ParseInt(words[2], 10, 64)
					if err = os.WriteFile(path, nil, 0o600); err == nil {
						err = os.Truncate(path, size)
					}
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		return c
	})
}
