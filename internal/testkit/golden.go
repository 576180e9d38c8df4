package testkit

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// registerUpdate defines the flag -update, unless the package under test has
// one of its own, which then serves for both.
func registerUpdate() {
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "rewrite golden files and conversations with what came")
	}
}

// Updating reports whether the tests run with -update, for packages that keep
// expectations in files of their own kind.
func Updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// GoldenFile compares got with the file, or writes the file with -update.
func GoldenFile(tb testing.TB, path string, got []byte) {
	tb.Helper()
	if Updating() {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			tb.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		tb.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		tb.Errorf("%s differs (-want +got; go test -update accepts it):\n%s", path, diff)
	}
}
