//go:build !noui

package web

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// loaded matches the scripts that index.html loads.
	loaded = regexp.MustCompile(`<(?:script|link rel="modulepreload")[^>]* (?:src|href)="\./([^"]+\.js)"`)
	// imported matches the static imports of a script; import("…") is a dynamic one.
	imported = regexp.MustCompile(`(?:from|import)\s*"\./([^"]+\.js)"`)
)

// entry returns the scripts that a browser runs before any page is drawn: those of
// index.html and, transitively, what they import statically.
func entry(t *testing.T, from fs.FS) []string {
	t.Helper()
	var names []string
	for _, match := range loaded.FindAllStringSubmatch(read(t, from, indexFile), -1) {
		names = append(names, match[1])
	}
	for i := 0; i < len(names); i++ {
		for _, match := range imported.FindAllStringSubmatch(read(t, from, names[i]), -1) {
			if name := path.Join(path.Dir(names[i]), match[1]); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func read(t *testing.T, from fs.FS, name string) string {
	t.Helper()
	content, err := fs.ReadFile(from, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// The scripts of the first screen stay small, and the editor is loaded when it is opened.
func TestEntryIsSmall(t *testing.T) {
	t.Parallel()
	const most = 180_000 // bytes, compressed as browsers receive them
	built, err := files()
	if err != nil {
		t.Fatal(err)
	}
	names := entry(t, built)
	if len(names) == 0 {
		t.Fatal("index.html loads no script")
	}
	size := 0
	for _, name := range names {
		content := []byte(read(t, built, name))
		if packed := pack(content); packed != nil {
			content = packed
		}
		size += len(content)
	}
	t.Logf("%d bytes: %s", size, strings.Join(names, " "))
	if size > most {
		t.Errorf("the entry has %d bytes, more than %d: load something of it later", size, most)
	}
	for _, chunk := range []string{"canvas", "code"} { // React Flow, CodeMirror
		later, err := fs.Glob(built, "assets/"+chunk+"-*.js")
		if err != nil || len(later) == 0 {
			t.Errorf("the build has no chunk %s (%v): name the chunks of the editor here", chunk, err)
		}
		for _, name := range later {
			if slices.Contains(names, name) {
				t.Errorf("%s is loaded with the entry", name)
			}
		}
	}
}
