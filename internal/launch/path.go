package launch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Folders are joined and split with slashes and colons by hand here, or with
// backslashes and semicolons, by the system that is meant and not by the one
// that runs: so all of them can be tested on any.

// listSeparator stands between the folders of a PATH.
func listSeparator(goos string) string {
	if goos == "windows" {
		return ";"
	}
	return ":"
}

// folders are those of a PATH, each once, in order. Empty and relative ones
// are left out: what they mean depends on where somebody stands.
func folders(goos string, paths ...string) []string {
	var list []string
	for _, path := range paths {
		for dir := range strings.SplitSeq(path, listSeparator(goos)) {
			if goos == "windows" {
				dir = strings.Trim(dir, `"`)
			}
			if isAbsolute(goos, dir) && !slices.Contains(list, dir) {
				list = append(list, dir)
			}
		}
	}
	return list
}

func isAbsolute(goos, dir string) bool {
	if goos == "windows" {
		return len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/') || strings.HasPrefix(dir, `\\`)
	}
	return strings.HasPrefix(dir, "/")
}

// hasFolder reports whether a command says where it is, and is not looked for.
func hasFolder(goos, command string) bool {
	return strings.ContainsRune(command, '/') || goos == "windows" && strings.ContainsAny(command, `\:`)
}

// extensions are what a command may end with. Elsewhere than on Windows it is
// itself.
func extensions(goos, command, pathext string) []string {
	if goos != "windows" {
		return []string{""}
	}
	if pathext == "" {
		pathext = ".COM;.EXE;.BAT;.CMD"
	}
	var list []string
	for ext := range strings.SplitSeq(strings.ToLower(pathext), ";") {
		if ext == "" {
			continue
		}
		if ext[0] != '.' {
			ext = "." + ext
		}
		if strings.HasSuffix(strings.ToLower(command), ext) {
			return []string{""} // it says so itself
		}
		list = append(list, ext)
	}
	return list
}

// find looks for a command in folders. A file that may not be run is passed
// over, as shells do.
func find(goos, command, pathext string, dirs []string, runs func(file string) bool) (string, bool) {
	separator := "/"
	if goos == "windows" {
		separator = `\`
	}
	for _, dir := range dirs {
		for _, ext := range extensions(goos, command, pathext) {
			if file := strings.TrimSuffix(dir, separator) + separator + command + ext; runs(file) {
				return file, true
			}
		}
	}
	return "", false
}

// withExtension completes a command that says where it is.
func withExtension(goos, command, pathext string, runs func(file string) bool) (string, bool) {
	for _, ext := range extensions(goos, command, pathext) {
		if runs(command + ext) {
			return command + ext, true
		}
	}
	return "", false
}

// executable reports whether a file can be run, as far as its mode tells.
func executable(file string) bool {
	info, err := os.Stat(file)
	if err != nil || info.IsDir() {
		return false
	}
	return os.PathSeparator == '\\' || info.Mode()&0o111 != 0
}

// usualFolders are where people's tools are that a desktop's or a service
// manager's PATH does not know of: package managers, and those of languages.
func usualFolders(home string) []string {
	list := []string{"/opt/homebrew/bin", "/usr/local/bin"}
	if !strings.HasPrefix(home, "/") {
		return list
	}
	for _, dir := range []string{".local/bin", ".cargo/bin", "go/bin", ".bun/bin", ".volta/bin"} {
		list = append(list, filepath.Join(home, dir))
	}
	versions := filepath.Join(home, ".nvm/versions/node")
	if entries, err := os.ReadDir(versions); err == nil {
		if newest := newestVersion(entries); newest != "" {
			list = append(list, filepath.Join(versions, newest, "bin"))
		}
	}
	return append(list, filepath.Join(home, ".local/share/mise/shims"), filepath.Join(home, ".asdf/shims"))
}

func existing(dirs []string) []string {
	return slices.DeleteFunc(dirs, func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
}

// newestVersion is the highest of folders like v22.11.0; empty if there is none.
func newestVersion(entries []fs.DirEntry) string {
	var newest string
	var highest []int
	for _, entry := range entries {
		numbers := versionOf(entry.Name())
		if numbers != nil && slices.Compare(numbers, highest) > 0 {
			newest, highest = entry.Name(), numbers
		}
	}
	return newest
}

func versionOf(name string) []int {
	rest, ok := strings.CutPrefix(name, "v")
	if !ok {
		return nil
	}
	var numbers []int
	for part := range strings.SplitSeq(rest, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		numbers = append(numbers, n)
	}
	return numbers
}
