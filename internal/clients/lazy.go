package clients

import (
	"regexp"
	"sync"
)

// lazily compiles an expression when it is first used: most starts of genkan have
// no use for any, and together they would take longer than opening the database.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
