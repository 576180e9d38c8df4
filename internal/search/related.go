package search

import (
	"regexp"
	"strings"
)

// kindred are words that people and tools use for one another: what is done, and
// what it is done to. They are general English and know no tool.
//
//nolint:gochecknoglobals // a table, built once
var kindred = kinships(`
get fetch retrieve obtain read load receive pull download
list show enumerate display browse view
find search lookup query discover locate seek
create make generate build produce compose new
add insert append write put attach
add create
delete remove erase clear drop discard
update edit modify change set replace adjust
send post publish deliver submit forward
calculate compute evaluate math arithmetic
convert transform export
open read view
save store write persist keep
run execute invoke start launch
stop cancel abort end
check verify validate test
analyze analysis examine inspect
compare diff
summarize summary
copy duplicate clone
move rename
image picture photo png jpeg screenshot
document file doc docx
text content string
website page web site webpage url
folder directory
location place address position coordinate
route direction path navigation
price cost quote rate
email mail message
repository repo
chart graph plot diagram visualization
news article headline story
trend trending hot popular rank
calendar schedule agenda
note memo
user account member person people
ticket issue bug
commit change
stock share equity ticker
currency money exchange
movie film video
song music track audio
date time
weather forecast
translate language
sum total add addition plus
error fault exception
log history
`)

func kinships(text string) map[string][]string {
	kin := map[string][]string{}
	for line := range strings.Lines(text) {
		group := strings.Fields(line)
		for i := range group {
			group[i] = stem(group[i])
		}
		for _, w := range group {
			for _, other := range group {
				if w != other {
					kin[w] = append(kin[w], other)
				}
			}
		}
	}
	return kin
}

var (
	addresses = regexp.MustCompile(`\b(?:https?|ftp)://\S+|\bwww\.\S+`)
	paths     = regexp.MustCompile(`(?:~|\.{0,2})(?:/[\w.@-]+)+/?|\b[A-Za-z]:\\[\w\\.-]+|\b[\w-]+\.(?:txt|md|pdf|csv|json|xml|html?|docx?|xlsx?|pptx?|png|jpe?g|gif|wav|mp[34]|zip|py|js|ts|go|bib|log|ya?ml)\b`)
)

// plain says what an address or a path in a query is, instead of what is in it.
func plain(text string) string {
	if !mayHavePath(text) {
		return text
	}
	text = addresses.ReplaceAllString(text, " url ")
	return paths.ReplaceAllStringFunc(text, func(path string) string {
		if dot := strings.LastIndexByte(path, '.'); dot >= 0 && len(path)-dot <= 5 && !strings.Contains(path[dot:], "/") {
			return " file " + path[dot+1:] + " "
		}
		return " path "
	})
}

// mayHavePath saves most queries the expressions above: in all that they match is
// a slash, or a dot before a letter.
func mayHavePath(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case '/', '\\':
			return true
		case '.':
			if i+1 < len(text) && text[i+1] > ' ' {
				return true
			}
		}
	}
	return false
}
