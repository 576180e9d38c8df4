package exchange

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPart limits each part of a file name, in bytes. File systems allow 255; some
// decompose characters and need three times the room, and Windows limits the whole
// path.
const maxPart = 80

// FileName returns the path of an exported item, type/id-slug.md, with a slash on every
// system. The same item always has the same path. Different ids have different paths,
// even on file systems that ignore case. A type or a title cannot lead to another
// folder or name a device.
func FileName(item Item) string {
	folder := slug(item.Type)
	if folder == "" || isDevice(folder) {
		folder = "_" + folder
	}
	name := strconv.FormatInt(item.ID, 10)
	if title := slug(item.Title); title != "" {
		name += "-" + title
	}
	return folder + "/" + name + ".md"
}

// slug keeps letters, digits and combining marks, in lower case, and puts a single
// hyphen for everything between them.
func slug(text string) string {
	var b strings.Builder
	gap := false
	for _, r := range text {
		r = unicode.ToLower(r)
		mark := unicode.IsMark(r) && !gap && b.Len() > 0
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !mark {
			gap = true
			continue
		}
		hyphen := 0
		if gap && b.Len() > 0 {
			hyphen = 1
		}
		if b.Len()+hyphen+utf8.RuneLen(r) > maxPart {
			break
		}
		b.WriteString("-"[:hyphen])
		b.WriteRune(r)
		gap = false
	}
	return b.String()
}

// isDevice reports whether Windows treats a name as a device.
func isDevice(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul", "conin", "conout", "clock":
		return true
	}
	number, port := strings.CutPrefix(name, "com")
	if !port {
		number, port = strings.CutPrefix(name, "lpt")
	}
	return port && len(number) == 1 && number[0] >= '0' && number[0] <= '9'
}
