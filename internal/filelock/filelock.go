// Package filelock lets the processes of one data directory agree on who may do
// something: a lock that a crash releases.
package filelock

import "errors"

// ErrTaken: somebody else has the lock.
var ErrTaken = errors.New("somebody else has the lock")
