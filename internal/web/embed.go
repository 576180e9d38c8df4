//go:build !noui

package web

import (
	"embed"
	"io/fs"
)

// Built reports whether the binary has the web UI.
const Built = true

// dist is the build of the front end.
//
//go:embed all:dist
var dist embed.FS

// files returns the files of the front end.
func files() (fs.FS, error) { return fs.Sub(dist, "dist") }
