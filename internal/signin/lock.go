package signin

import "errors"

// errTaken: another process, or another goroutine of this one, has the lock.
var errTaken = errors.New("somebody else has the lock")
