package clients

import (
	"strconv"
	"strings"
)

// maxName and the letters are the rule of genkan's configuration: a name
// becomes part of URLs and of tool names.
const maxName = 32

// LegalName makes a name that genkan's configuration takes, and that nobody
// has, out of any other. Clients use package paths as names, whose last part is
// the telling one.
func LegalName(original string, taken func(string) bool) string {
	s := strings.TrimRight(original, "/")
	s = s[strings.LastIndexByte(s, '/')+1:]
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(s) {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			dash = b.Len() > 0
			continue
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		b.WriteRune(r)
	}
	name := b.String()
	switch {
	case name == "":
		name = "server"
	case name[0] < 'a':
		name = "s-" + name
	}
	name = shortened(name, maxName)
	free := name
	for i := 2; taken(free); i++ {
		tail := "-" + strconv.Itoa(i)
		free = shortened(name, maxName-len(tail)) + tail
	}
	return free
}

func shortened(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.TrimRight(s, "-")
}
