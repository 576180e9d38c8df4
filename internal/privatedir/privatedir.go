// Package privatedir keeps other users of the machine out of genkan's files. It makes
// folders that only this user may enter, checks that nobody else has put one in
// their place, and refuses files that another user can change.
package privatedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrOpen is the reason why Check refuses a folder of this user's that others may
// enter. Make closes such a folder.
var ErrOpen = errors.New("is open to other users")

// Make makes a folder that only this user may enter, or closes one of this user's
// to everybody else.
func Make(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if info.IsDir() && isOurs(info) && info.Mode().Perm() != 0o700 {
		if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder needs x to be entered
			return err
		}
	}
	return Check(dir)
}

// Check refuses a folder that others may enter or that is another user's, and a
// link that could lead to one.
func Check(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case !isOurs(info):
		return fmt.Errorf("%s belongs to another user", dir)
	case isOpenToOthers(info):
		return fmt.Errorf("%s %w", dir, ErrOpen)
	}
	return nil
}
