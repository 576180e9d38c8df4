package index

import (
	"runtime"
	"runtime/debug"
)

// Guard runs a function that reads an index, and returns ErrDamaged if a page of the
// mapped file cannot be read: the file was truncated, or the disk fails. Such a fault
// would otherwise end the process. After it the result of the function is unknown, and
// the index must not be used again.
//
// It covers the calling goroutine only, and readers start no others.
func Guard(read func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch problem := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr // only faults have an address, and only index files are mapped
		}:
			err = damaged("a part of it cannot be read any more")
		default:
			panic(problem)
		}
	}()
	read()
	return nil
}
