package clients

import (
	"regexp"
	"sync"
)

// lazily compiles an expression when it is first used. Most starts of genkan need
// none, and compiling all would take longer than opening the database.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
