//go:build !unix

package app

// Windows has no such owners and bits; there the profile folder protects what
// is in it.
func checkPrivate(string) error { return nil }
func checkOwner(string) error   { return nil }
