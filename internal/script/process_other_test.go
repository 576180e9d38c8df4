//go:build !linux

package script

func probe()  {}
func parent() {}
