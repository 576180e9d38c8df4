package shape_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/shape"
)

func put(t *testing.T, s *shape.Spool, client string, raw []byte) string {
	t.Helper()
	id, err := s.Put(client, raw)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func has(s *shape.Spool, client, id string) bool {
	_, err := s.Get(client, id)
	return err == nil
}

// files returns the files of a spool.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	all, err := filepath.Glob(dir + "/*/*")
	if err != nil {
		t.Fatal(err)
	}
	hidden, _ := filepath.Glob(dir + "/*/.*")
	return append(all, hidden...)
}

func TestResultBelongsToItsCaller(t *testing.T) {
	t.Parallel()
	h := open(t, shape.Budgets{Default: 1000})
	args := propose(t, h.outlined(t, callOf("anna"), textResult(rows(1000)), 700))
	if _, err := h.read(t, "anna", args); err != nil {
		t.Error(err)
	}
	_, foreign := h.read(t, "berta", args)
	_, unknown := h.read(t, "berta", map[string]any{"id": "aaaaaaaaaaaaaaaa"})
	if foreign == nil || unknown == nil || foreign.Error() != unknown.Error() {
		t.Errorf("another client got %v, and for an id that there is not %v", foreign, unknown)
	}
	for _, id := range []string{"../anna", "", "AAAAAAAAAAAAAAAA", "................", "aaaaaaaaaaaaaaa/"} {
		if has(h.spool, "anna", id) {
			t.Errorf("there is a result %q", id)
		}
	}
}

func TestResultExpiresAfterItsLastUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/results"
	synctest.Test(t, func(t *testing.T) {
		s, err := shape.Open(dir, shape.Bounds{Keep: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		used, left := put(t, s, "anna", []byte(`{"a":1}`)), put(t, s, "anna", []byte(`{"b":1}`))
		for range 3 {
			time.Sleep(50 * time.Minute)
			if !has(s, "anna", used) {
				t.Fatal("a result that was used has expired")
			}
		}
		if has(s, "anna", left) {
			t.Error("a result that was not used is still there")
		}
		if n := len(files(t, dir)); n != 1 {
			t.Errorf("%d files are left", n)
		}
		time.Sleep(2 * time.Hour)
		if n := len(files(t, dir)); n != 0 || s.Size() != 0 {
			t.Errorf("%d files are left, %d bytes", n, s.Size())
		}
	})
}

func TestSpoolIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/results"
	s, err := shape.Open(dir, shape.Bounds{Total: 10_000, PerClient: 4000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	raw := bytes.Repeat([]byte("x"), 1000)
	kept := put(t, s, "berta", raw)
	var last string
	for range 20 {
		last = put(t, s, "anna", raw)
	}
	if s.Size() > 5100 || !has(s, "anna", last) || !has(s, "berta", kept) {
		t.Errorf("%d bytes are kept", s.Size())
	}
	for _, client := range []string{"c", "d", "e", "f", "g"} {
		for range 4 {
			put(t, s, client, raw)
		}
	}
	if s.Size() > 10_000 || !has(s, "berta", kept) {
		t.Errorf("%d bytes are kept; who has little loses it: %v", s.Size(), !has(s, "berta", kept))
	}
	if _, err := s.Put("anna", bytes.Repeat(raw, 5)); err == nil {
		t.Error("a result larger than the bound is kept")
	}
}

func TestSpoolMakesItsFolderAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/results"
	s, err := shape.Open(dir, shape.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lost := put(t, s, "anna", []byte("{}"))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if kept := put(t, s, "anna", []byte("{}")); !has(s, "anna", kept) || has(s, "anna", lost) {
		t.Error("no result is stored after the folder was deleted")
	}
}

func TestSpoolSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/results"
	s, err := shape.Open(dir, shape.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	raw := []byte(`{"content":[]}`)
	whole, cut, changed, old := put(t, s, "anna", raw), put(t, s, "anna", raw), put(t, s, "anna", raw), put(t, s, "anna", raw)
	s.Close()
	path := func(id string) string { return filepath.Join(filepath.Dir(files(t, dir)[0]), id) }
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{dir: 0o700, filepath.Dir(path(whole)): 0o700, path(whole): 0o600} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	}
	// What a crash can leave.
	if err := os.Truncate(path(cut), 20); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path(changed))
	data[len(data)-1] ^= 1
	if err := os.WriteFile(path(changed), data, 0o600); err != nil {
		t.Fatal(err)
	}
	half := path(".aaaaaaaaaaaaaaaa")
	if err := os.WriteFile(half, data, 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{path(old), half} {
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
	}
	if s, err = shape.Open(dir, shape.Bounds{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := s.Get("anna", whole); err != nil || !bytes.Equal(got, raw) {
		t.Errorf("%s, %v", got, err)
	}
	for what, id := range map[string]string{"truncated": cut, "changed": changed, "expired": old, "unfinished": ".aaaaaaaaaaaaaaa"} {
		if has(s, "anna", id) {
			t.Errorf("a %s result is served", what)
		}
	}
	if left := files(t, dir); len(left) != 1 {
		t.Error(left)
	}
}
