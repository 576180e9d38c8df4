//go:build !unix

package connections

import "math"

// maxDescriptors returns the number of files and connections this process may have open.
func maxDescriptors() int { return math.MaxInt32 }
