package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"genkan/internal/privatedir"
)

// maxSocketPath is the longest path of a socket, in bytes. Systems allow 104 or
// 108.
const maxSocketPath = 100

// runDir is the folder through which the processes of a data directory find each
// other. Only the user may enter it. It has
//
//   - lock, which the owner holds;
//   - genkan.sock, the socket, unless its path would be too long;
//   - address, which holds the path of the socket. A short path depends on the
//     environment, which two processes need not share.
type runDir struct {
	dataDir string
	dir     string
}

// runDirOf returns the run directory of a data directory. It need not exist yet.
func runDirOf(dataDir string) (runDir, error) {
	dataDir, err := filepath.Abs(dataDir)
	if err != nil {
		return runDir{}, err
	}
	if resolved, err := filepath.EvalSymlinks(dataDir); err == nil {
		dataDir = resolved
	}
	return runDir{dataDir: dataDir, dir: filepath.Join(dataDir, "run")}, nil
}

func (p runDir) lockFile() string    { return filepath.Join(p.dir, "lock") }
func (p runDir) addressFile() string { return filepath.Join(p.dir, "address") }

// make creates the folder.
func (p runDir) make() error {
	if err := os.MkdirAll(p.dataDir, 0o700); err != nil {
		return err
	}
	return privatedir.Make(p.dir)
}

// socketPath decides where the socket is, and creates the folder that it needs
// outside of the data directory.
func (p runDir) socketPath() (path string, shortDir string, err error) {
	if path = filepath.Join(p.dir, "genkan.sock"); len(path) <= maxSocketPath {
		return path, "", nil
	}
	reason := fmt.Errorf("the path %s is too long for a socket", path)
	for _, dir := range p.shortDirs() {
		if err := privatedir.Make(dir); err != nil {
			reason = errors.Join(reason, err)
			continue
		}
		return filepath.Join(dir, "s"), dir, nil
	}
	return "", "", reason
}

// shortDirs returns the folders that may hold the socket if the path of the data
// directory is too long, the best first.
func (p runDir) shortDirs() []string {
	sum := sha256.Sum256([]byte(p.dataDir))
	name := "genkan-" + strconv.Itoa(os.Getuid()) + "-" + hex.EncodeToString(sum[:8])
	var dirs []string
	for _, parent := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir()} {
		if dir := filepath.Join(parent, name); filepath.IsAbs(parent) && len(filepath.Join(dir, "s")) <= maxSocketPath {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// CheckRunDir returns why the processes of a data directory cannot find each other.
// It changes nothing. A missing folder is not an error.
func CheckRunDir(dataDir string) error {
	p, err := runDirOf(dataDir)
	if err != nil {
		return err
	}
	if err := privatedir.Check(p.dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, privatedir.ErrOpen) {
		return err
	}
	path := filepath.Join(p.dir, "genkan.sock")
	if len(path) <= maxSocketPath {
		return nil
	}
	reason := fmt.Errorf("the path %s is too long for a socket", path)
	for _, dir := range p.shortDirs() {
		err := privatedir.Check(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, privatedir.ErrOpen) {
			return nil
		}
		reason = errors.Join(reason, err)
	}
	return reason
}

// announce records the path of the socket. It writes the file atomically.
func (p runDir) announce(socket string) error {
	temp, err := os.CreateTemp(p.dir, ".address-*") // 0600
	if err != nil {
		return err
	}
	_, err = temp.WriteString(socket + "\n")
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), p.addressFile())
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// socket reads the path of the socket. Both folders must belong to the user alone,
// because another user who could write there could pose as the owner.
func (p runDir) socket() (string, error) {
	raw, err := os.ReadFile(p.addressFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNobody
	}
	if err != nil {
		return "", err
	}
	path := strings.TrimRight(string(raw), "\r\n")
	if err := privatedir.Check(p.dir); err != nil {
		return "", err
	}
	err = privatedir.Check(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNobody
	}
	return path, err
}
