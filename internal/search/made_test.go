package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// maker makes servers and queries that are like real ones where it costs time: a
// few words are in most texts and most are in few (Zipf), verbs and things have
// kindred, names share their words, and queries are long and want several things.
// The same seed makes the same.
type maker struct {
	*rand.Rand
	words        []string
	common, rare *rand.Zipf
}

const (
	madeVerbs  = "get list create delete update find send convert analyze export calculate read search check generate"
	madeThings = "file issue user message chart image page document event note price route song photo folder weather stock account text repository"
)

func newMaker(seed uint64) *maker {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, seed))}
	m.words = strings.Fields(madeThings + " the of a for and in to with by " + madeVerbs + " data name type based specific information id number")
	syllables := strings.Fields("ba co di fe gra hu in jo ka lo men nor pa qui ral sto ter un ver wi xi yo zan tion ing s ed er")
	known := map[string]bool{}
	for len(m.words) < 12_000 {
		var w strings.Builder
		for range 2 + m.IntN(3) {
			w.WriteString(syllables[m.IntN(len(syllables))])
		}
		if !known[w.String()] {
			known[w.String()] = true
			m.words = append(m.words, w.String())
		}
	}
	last := uint64(len(m.words) - 1)
	m.common, m.rare = rand.NewZipf(m.Rand, 1.2, 6, last), rand.NewZipf(m.Rand, 1.05, 60, last)
	return m
}

func (m *maker) pick(list string) string {
	all := strings.Fields(list)
	return all[m.IntN(len(all))]
}

// text has so many words, some of them telling.
func (m *maker) text(n int) string {
	list := make([]string, n)
	for i := range list {
		from := m.common
		if i%3 == 0 {
			from = m.rare
		}
		list[i] = m.words[from.Uint64()]
	}
	return strings.Join(list, " ")
}

func (m *maker) tool(id string) Document {
	verb, thing := m.pick(madeVerbs), m.pick(madeThings)
	d := Document{
		ID: id, Name: verb + "_" + thing + "_" + m.words[m.rare.Uint64()],
		Description: verb + " " + thing + " " + m.text(6+m.IntN(30)) + ".", Category: m.text(1),
	}
	for range m.IntN(5) {
		d.Parameters = append(d.Parameters, Parameter{strings.ReplaceAll(m.text(1+m.IntN(2)), " ", "_"), m.text(3 + m.IntN(8))})
	}
	return d
}

func (m *maker) server(name string, tools int) Server {
	s := Server{Name: name, Title: m.text(2), Description: m.text(10)}
	for i := range tools {
		s.Documents = append(s.Documents, m.tool(fmt.Sprint(name, "__", i)))
	}
	return s
}

func (m *maker) servers(n, tools int) []Server {
	var list []Server
	for s := range n {
		list = append(list, m.server(fmt.Sprint("server-", s), tools))
	}
	return list
}

// query asks for several things, with words of tools, of nobody, and with slips.
func (m *maker) query(list []Server, things int) string {
	var parts []string
	for range things {
		s := list[m.IntN(len(list))]
		d := s.Documents[m.IntN(len(s.Documents))]
		said := strings.Fields(d.Description)
		from := m.IntN(len(said))
		part := slices.Concat([]string{m.pick(madeVerbs), "the", m.pick(madeThings)}, said[from:min(len(said), from+m.IntN(12))], []string{m.text(1), m.text(1) + "x"})
		parts = append(parts, strings.Join(part, " "))
	}
	return strings.Join(parts, ", and ") + "."
}
