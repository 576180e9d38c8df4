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

// maxSocketPath is how long the path of a socket may be. Systems stop at 104
// or 108 bytes.
const maxSocketPath = 100

// place is where the processes of a data directory meet: a folder in it that
// only the user may enter, with
//
//   - lock, which the owner holds;
//   - genkan.sock, the socket, unless its path would be too long;
//   - address, which says where the socket is. It is written down because the
//     short place depends on the environment, which two processes need not
//     share.
type place struct {
	dataDir string
	dir     string
}

// placeOf says where the processes of a data directory meet, which need not
// exist yet.
func placeOf(dataDir string) (place, error) {
	dataDir, err := filepath.Abs(dataDir)
	if err != nil {
		return place{}, err
	}
	if resolved, err := filepath.EvalSymlinks(dataDir); err == nil {
		dataDir = resolved
	}
	return place{dataDir: dataDir, dir: filepath.Join(dataDir, "run")}, nil
}

func (p place) lockFile() string    { return filepath.Join(p.dir, "lock") }
func (p place) addressFile() string { return filepath.Join(p.dir, "address") }

// make makes the folder.
func (p place) make() error {
	if err := os.MkdirAll(p.dataDir, 0o700); err != nil {
		return err
	}
	return privatedir.Make(p.dir)
}

// socketPath decides where the socket goes, and makes the folder that it
// needs beside the place's own.
func (p place) socketPath() (path string, shortDir string, err error) {
	if path = filepath.Join(p.dir, "genkan.sock"); len(path) <= maxSocketPath {
		return path, "", nil
	}
	sum := sha256.Sum256([]byte(p.dataDir))
	name := "genkan-" + strconv.Itoa(os.Getuid()) + "-" + hex.EncodeToString(sum[:8])
	reason := fmt.Errorf("the path %s is too long for a socket", path)
	for _, parent := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir()} {
		if !filepath.IsAbs(parent) {
			continue
		}
		dir := filepath.Join(parent, name)
		if path = filepath.Join(dir, "s"); len(path) > maxSocketPath {
			continue
		}
		if err := privatedir.Make(dir); err != nil {
			reason = errors.Join(reason, err)
			continue
		}
		return path, dir, nil
	}
	return "", "", reason
}

// announce writes down where the socket is. The file appears with its content.
func (p place) announce(socket string) error {
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

// socket reads where the socket is. Both folders must be the user's alone:
// whoever could write there could pose as the owner.
func (p place) socket() (string, error) {
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
