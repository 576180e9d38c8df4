package index

import (
	"runtime"
	"runtime/debug"
)

// Guard lets a function read an index. A mapped file may lose its pages: somebody
// cuts it, or the disk does not give them any more. The system says so with a fault
// at the address that is read, which would end the process; here it is ErrDamaged.
// What the function was about to find out is unknown then, and the index must not be
// asked again.
//
// It holds for the calling goroutine only, and no reader starts others.
func Guard(read func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch problem := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr // only faults have one, and nothing else here is mapped
		}:
			err = damaged("a part of it cannot be read any more")
		default:
			panic(problem)
		}
	}()
	read()
	return nil
}
