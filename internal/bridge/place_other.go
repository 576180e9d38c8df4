//go:build !unix

package bridge

import "io/fs"

// noFollow is a flag that Windows does not have; there links need privileges.
const noFollow = 0

// Windows has no such owners and bits; there the profile folder protects what
// is in it.
func isOurs(fs.FileInfo) bool         { return true }
func isOpenToOthers(fs.FileInfo) bool { return false }
