//go:build !unix

package privatedir

import "io/fs"

// Windows has no such owners and bits; there the profile folder protects what
// is in it.
func isOurs(fs.FileInfo) bool         { return true }
func isOpenToOthers(fs.FileInfo) bool { return false }
