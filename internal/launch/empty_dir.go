package launch

import (
	"errors"
	"os"
	"path/filepath"

	"genkan/internal/gateway"
	"genkan/internal/privatedir"
)

// EmptyDir creates an empty folder for a server without a folder to work in, and
// returns the function that removes it. Programs run what they find in their
// working directory (npx runs node_modules and reads .npmrc), so nobody else may
// write there: neither another user nor, through a server, a caller.
func (l *Launcher) EmptyDir(server string) (dir string, remove func(), err error) {
	parent := ""
	if l.opt.DataDir != "" {
		parent = l.emptyDirs(l.process)
		l.holdProcessLock()
		// npm looks for a project in the folders above. With a node_modules here it
		// stops before it comes to one that somebody else may have put there.
		err = errors.Join(privatedir.Make(filepath.Dir(parent)), privatedir.Make(parent), privatedir.Make(filepath.Join(parent, "node_modules")))
		l.removeLeftOverDirs()
	}
	if err == nil {
		dir, err = os.MkdirTemp(parent, server+"-") // 0700, and new
	}
	if err == nil { // the data directory may be named relative to where genkan was started
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		e := failed(gateway.CodeUnavailable, gateway.Textf(
			"no empty folder can be made for it in the data directory; see that %s belongs to you and can be written", l.opt.DataDir))
		e.Err = err
		return "", func() {}, e
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// emptyDirs returns the folder of the empty folders of a process.
func (l *Launcher) emptyDirs(process string) string {
	return filepath.Join(l.opt.DataDir, "empty", process)
}

// removeLeftOverDirs removes the folders of processes that were killed.
func (l *Launcher) removeLeftOverDirs() {
	all, _ := os.ReadDir(filepath.Dir(l.emptyDirs(l.process)))
	for _, one := range all {
		if name := one.Name(); name != l.process && l.hasEnded(name) {
			_ = os.RemoveAll(l.emptyDirs(name))
		}
	}
}
