//go:build noui

package web

import (
	"embed"
	"io/fs"
)

// Built reports whether the binary has the web UI.
const Built = false

// files returns no files.
func files() (fs.FS, error) { return embed.FS{}, nil }
