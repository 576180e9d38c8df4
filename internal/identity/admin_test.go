package identity

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"genkan/internal/gateway"
)

func TestAdminTokenIsMadeOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", "admin-token")
	first, err := LoadAdminToken(path)
	if err != nil {
		t.Fatal(err)
	}
	if !looksIssued(first.Reveal()) {
		t.Error("the admin token does not look like a token")
	}
	second, err := LoadAdminToken(path)
	if err != nil {
		t.Fatal(err)
	}
	if first != second {
		t.Error("the second start has another token")
	}
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != want {
				t.Errorf("%s has mode %v, want %v", filepath.Base(name), info.Mode(), want)
			}
		}
	}
	wantOnly(t, filepath.Dir(path), "admin-token")
}

// wantOnly checks that no temporary file was left.
func wantOnly(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("the directory holds %v, want only %s", entries, name)
	}
}

func TestAdminTokenOfManyStartsAtOnce(t *testing.T) {
	t.Parallel()
	// What decides is the file system, so goroutines stand for processes.
	for range 20 {
		path := filepath.Join(t.TempDir(), "admin-token")
		tokens := make([]gateway.Secret, 16)
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for i := range tokens {
			wg.Go(func() {
				<-begin
				token, err := LoadAdminToken(path)
				if err != nil {
					t.Error(err)
				}
				tokens[i] = token
			})
		}
		close(begin)
		wg.Wait()
		for _, token := range tokens {
			if token == "" || token != tokens[0] {
				t.Fatal("two starts disagree on the admin token")
			}
		}
		wantOnly(t, filepath.Dir(path), "admin-token")
	}
}

func TestAdminTokenFileThatOthersCouldRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("windows has no permission bits")
	}
	path := filepath.Join(t.TempDir(), "admin-token")
	want := strings.Repeat("s", 40)
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil { // that is the point
		t.Fatal(err)
	}
	token, err := LoadAdminToken(path)
	wantCode(t, err, gateway.CodeDenied)
	if token.Reveal() != want {
		t.Error("the token is not returned beside the warning")
	}
	if strings.Contains(err.Error(), want) {
		t.Error("the warning holds the token")
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	if token, err := LoadAdminToken(path); err != nil || token.Reveal() != want {
		t.Errorf("the next start: %v", err)
	}
}

func TestAdminTokenFileThatIsNoToken(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxAdminToken)
	for name, content := range map[string]string{
		"empty":      "",
		"short":      strings.Repeat("x", minAdminToken-1),
		"long":       long + "x",
		"very long":  strings.Repeat("x", 1<<20),
		"two lines":  strings.Repeat("x", 40) + "\n" + strings.Repeat("y", 40),
		"blanks":     strings.Repeat("x y", 20),
		"binary":     strings.Repeat("\x00", 40),
		"not ASCII":  strings.Repeat("é", 40),
		"only lines": strings.Repeat("\n", 100),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "admin-token")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			token, err := LoadAdminToken(path)
			wantCode(t, err, gateway.CodeDenied)
			if token != "" {
				t.Error("a token was returned")
			}
		})
	}
	for name, content := range map[string]string{
		"own": strings.Repeat("x", minAdminToken), "longest with a DOS line end": long + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "admin-token")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			token, err := LoadAdminToken(path)
			if err != nil || token.Reveal() != strings.TrimSpace(content) {
				t.Errorf("got %d characters, %v", len(token.Reveal()), err)
			}
		})
	}
}

func TestAdminTokenIsNeitherLinkNorDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte(strings.Repeat("s", 40)), 0o644); err != nil { // must stay untouched
		t.Fatal(err)
	}
	link, dangling := filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), dangling); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, dangling, dir} {
		token, err := LoadAdminToken(path)
		wantCode(t, err, gateway.CodeDenied)
		if token != "" {
			t.Errorf("%s gave a token", filepath.Base(path))
		}
	}
	if info, _ := os.Stat(target); runtime.GOOS != "windows" && info.Mode().Perm() != 0o644 {
		t.Error("the file behind the link was touched")
	}
	if _, err := os.Lstat(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a file was made behind the dangling link")
	}
}
