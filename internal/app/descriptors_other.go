//go:build !unix

package app

import "math"

// maxDescriptors is how many files and connections this process may have open.
func maxDescriptors() int { return math.MaxInt32 }
