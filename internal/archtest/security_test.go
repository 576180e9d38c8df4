package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every defence in docs/security.md names a test. A test that is renamed or
// removed must not leave its name behind there.
func TestSecurityPageNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	root := moduleRoot(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err = filepath.WalkDir(filepath.Join(root, "internal"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case strings.HasSuffix(path, ".txtar"):
			there["TestScripts/"+strings.TrimSuffix(d.Name(), ".txtar")] = true
		case strings.HasSuffix(path, "_test.go"):
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, found := range function.FindAllSubmatch(source, -1) {
				there[filepath.Base(filepath.Dir(path))+"."+string(found[1])] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z]+\\.(?:Test|Fuzz)\\w+)(/\\w+)?").FindAllSubmatch(page, -1)
	if len(named) < 50 {
		t.Fatalf("the page names %d tests only: this test may not have read it right", len(named))
	}
	for _, name := range named {
		test, script := string(name[1]), string(name[2])
		if !there[test] || script != "" && !there["TestScripts"+script] {
			t.Errorf("docs/security.md names %s%s, which does not exist", test, script)
		}
	}
}
