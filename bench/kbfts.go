package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"genkan/internal/testkit/corpus"
)

// mostFTSItems is how many items FTS5 is asked about: at a million, building its
// indexes takes longer than everything else together.
const mostFTSItems = 100_000

// tokenizers are those that come with FTS5 and know Japanese at all.
var tokenizers = []string{"trigram", "unicode61"}

// ftsClasses are the classes of queries that FTS5 can be asked. It knows neither
// types nor slips.
var ftsClasses = []corpus.Class{
	corpus.Japanese1, corpus.Japanese2, corpus.Japanese3, corpus.Japanese5, corpus.Phrase,
	corpus.English1, corpus.English2, corpus.Prefix,
}

// besideFTS compares the text index with FTS5 over the same texts: the index
// alone, because FTS5 is asked for ids alone.
func (k *kbLab) besideFTS(binary string) error {
	if k.items > mostFTSItems {
		k.say("no comparison with FTS5, which is made for up to %s items", thousands(mostFTSItems))
		return nil
	}
	t := table{Title: k.part + ", text index and FTS5: CPU for the ids of the 20 best, in microseconds", Head: []string{"class", "index p50", "p99"}}
	rows := make([][]string, len(ftsClasses))
	for i, class := range ftsClasses {
		c, err := k.cost(k.w, operationSet{opIndexSearch, string(class), k.scale.kbClass, 0})
		if err != nil {
			return err
		}
		rows[i] = []string{string(class), number(c.P50), number(c.P99)}
	}
	recall, err := k.newRecall()
	if err != nil {
		return err
	}
	if err := recall.add("text index", func(texts []string) ([][]int64, error) {
		a, err := k.w.run(kbJob{Do: "found", Texts: texts})
		return a.Found, err
	}); err != nil {
		return err
	}
	for _, tokenizer := range tokenizers {
		w, err := k.openFTS(binary, tokenizer)
		if err != nil {
			return err
		}
		t.Head = append(t.Head, tokenizer+" p50", "p99")
		for i, class := range ftsClasses {
			k.say("FTS5 %s: %s", tokenizer, class)
			c, err := k.ftsCost(w, tokenizer, class)
			if err != nil {
				return err
			}
			rows[i] = append(rows[i], number(c.P50), number(c.P99))
			k.note("FTS5 "+tokenizer+", "+string(class)+", p99", "µs", c.P99)
		}
		err = recall.add("FTS5 "+tokenizer, func(texts []string) ([][]int64, error) {
			a, err := w.run(kbJob{Do: "fts-found", Texts: quoted(texts)})
			return a.Found, err
		})
		w.stop()
		if err != nil {
			return err
		}
	}
	t.Rows = rows
	k.r.Tables = append(k.r.Tables, t, recall.table)
	return nil
}

// openFTS opens FTS5's index, which is built when it is first wanted and then kept
// with what it has cost.
func (k *kbLab) openFTS(binary, tokenizer string) (*worker, error) {
	path := k.dir + "-fts5-" + tokenizer
	var built kbAnswer
	raw, err := os.ReadFile(path + ".json")
	switch {
	case err == nil:
		err = json.Unmarshal(raw, &built)
	case errors.Is(err, fs.ErrNotExist):
		built, err = k.buildFTS(binary, tokenizer, path)
	}
	if err != nil {
		return nil, err
	}
	subject := "FTS5 " + tokenizer
	k.add(row{Subject: subject, Metric: "size", Value: built.Bytes / 1e6, Unit: "MB"})
	k.add(row{Subject: subject, Metric: "CPU to build it", Value: built.Cost.CPU / 1e6, Unit: "s"})
	return k.startWorker("fts5", binary, fileURL(path, "mode=ro&_pragma=cache_size(-200000)"))
}

func (k *kbLab) buildFTS(binary, tokenizer, path string) (kbAnswer, error) {
	k.say("building FTS5's index, %s", tokenizer)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // one that was cut short
		return kbAnswer{}, err
	}
	w, err := k.startWorker("fts5-build", binary, fileURL(path, "mode=rwc"))
	if err != nil {
		return kbAnswer{}, err
	}
	built, err := w.run(kbJob{Do: "fts-build", Name: tokenizer, Texts: []string{fileURL(k.dir+"/"+databaseName, "mode=ro")}})
	w.stop()
	if err != nil {
		return kbAnswer{}, err
	}
	raw, err := json.Marshal(built)
	if err != nil {
		return kbAnswer{}, err
	}
	return built, os.WriteFile(path+".json", raw, 0o600)
}

func fileURL(path, query string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: query}
	return u.String()
}

// ftsCost is cost for FTS5.
func (k *kbLab) ftsCost(w *worker, tokenizer string, class corpus.Class) (kbCost, error) {
	var a kbAnswer
	for _, seed := range []uint64{1, 2} {
		count, seconds := k.scale.kbClass, k.scale.kbSeconds/4
		if seed == 1 {
			count, seconds = leastOperations, seconds/4
		}
		var texts []string
		for _, q := range corpus.Queries(class, count, k.items, seed) {
			texts = append(texts, q.Text)
		}
		texts = quoted(texts)
		if class == corpus.Prefix && tokenizer != "trigram" { // to which three letters are a word
			for i := range texts {
				texts[i] += "*"
			}
		}
		if _, err := w.run(kbJob{Do: "fts-load", Name: string(class), Texts: texts}); err != nil {
			return kbCost{}, err
		}
		var err error
		if a, err = w.run(kbJob{Do: "measure", Name: string(class), Count: count, Seconds: seconds}); err != nil {
			return kbCost{}, err
		}
	}
	return a.Cost, nil
}

// quoted makes queries of FTS5: each word as it is, all of them.
func quoted(texts []string) []string {
	list := make([]string, len(texts))
	for i, text := range texts {
		words := strings.Fields(text)
		for j, word := range words {
			words[j] = `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
		}
		list[i] = strings.Join(words, " ")
	}
	return list
}

// recall is how much of what has a piece of Japanese text in it is found.
type recall struct {
	table
	classes []corpus.Class
	texts   [][]string
	truth   [][][]int64
}

// recallQueries is how many of each class are compared with a scan.
const recallQueries = 25

// newRecall scans all texts for what queries should find.
func (k *kbLab) newRecall() (*recall, error) {
	r := &recall{
		table:   table{Title: k.part + ", Japanese: how much of what a scan finds is found", Head: []string{""}},
		classes: []corpus.Class{corpus.Japanese1, corpus.Japanese2, corpus.Japanese3, corpus.Japanese5},
	}
	for _, class := range r.classes {
		var texts []string
		for _, q := range corpus.Queries(class, recallQueries, k.items, 4) {
			texts = append(texts, q.Text)
		}
		r.texts = append(r.texts, texts)
		r.truth = append(r.truth, make([][]int64, len(texts)))
		r.Head = append(r.Head, strings.TrimPrefix(string(class), "Japanese, "))
	}
	k.say("scanning all texts for %d queries", recallQueries*len(r.classes))
	for i := range k.items {
		if err := k.ctx.Err(); err != nil {
			return nil, err
		}
		item := itemOf(i)
		text := item.Title + "\n" + item.Description + "\n" + item.Content
		for c, texts := range r.texts {
			for q, query := range texts {
				if strings.Contains(text, query) {
					r.truth[c][q] = append(r.truth[c][q], int64(i+1))
				}
			}
		}
	}
	return r, nil
}

// add asks somebody, and notes the mean of what is found.
func (r *recall) add(name string, ask func(texts []string) ([][]int64, error)) error {
	cells := []string{name}
	for c, texts := range r.texts {
		found, err := ask(texts)
		if err != nil {
			return err
		}
		sum := 0.0
		for q := range texts {
			have := 0
			for _, id := range r.truth[c][q] {
				if _, ok := slices.BinarySearch(found[q], id); ok {
					have++
				}
			}
			sum += float64(have) / float64(len(r.truth[c][q]))
		}
		cells = append(cells, fmt.Sprintf("%.3f", sum/float64(len(texts))))
	}
	r.Rows = append(r.Rows, cells)
	return nil
}
