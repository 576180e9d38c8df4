//go:build !unix

package privatedir

import "io/fs"

// NoFollow is a flag that Windows does not have; there links need privileges.
const NoFollow = 0

// Windows has no such owners and bits; there the profile folder protects what
// is in it.
func isOurs(fs.FileInfo) bool         { return true }
func isOpenToOthers(fs.FileInfo) bool { return false }

// CheckWriters accepts every path.
func CheckWriters(string) error { return nil }

// CheckOwner accepts every path.
func CheckOwner(string) error { return nil }
