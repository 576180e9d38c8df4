//go:build !unix

package index

import (
	"io"
	"os"
)

// mapFile reads the file into memory: Windows would not allow a mapped file to be replaced
// or removed.
func mapFile(f *os.File, size int64) ([]byte, func() error, error) {
	content := make([]byte, size)
	_, err := io.ReadFull(f, content)
	return content, func() error { return nil }, err
}
