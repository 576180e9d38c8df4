package index

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
)

// limits bound the memory of a build. Tests use small ones.
type limits struct {
	// runBytes is the size of the postings in memory before they are written to a
	// temporary file.
	runBytes int
	// sample is the number of first documents that decide which runs are common.
	sample int
	// beginning is the number of postings from which a beginning of words gets a
	// list of its own.
	beginning int
}

func usualLimits() limits { return limits{runBytes: 48 << 20, sample: 2048, beginning: 1024} }

// Build writes a base of documents, which come in the order of their ids, to a file. It
// writes under another name, syncs and renames. Expected is the approximate number of
// documents: large collections are indexed differently from small ones. Memory is
// bounded; further data goes to a temporary file beside the base. Build calls progress,
// which may be nil, every thousand documents. A killed process leaves a file path.new-*,
// which may be removed while no build runs.
func Build(ctx context.Context, path string, sequence int64, expected int, documents iter.Seq2[Document, error], progress func(done int)) error {
	return build(ctx, path, sequence, expected, documents, progress, usualLimits())
}

func build(ctx context.Context, path string, sequence int64, expected int, documents iter.Seq2[Document, error], progress func(done int), limits limits) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return fmt.Errorf("build search index: %w", err)
	}
	b := &builder{runs: runs{dir: filepath.Dir(path), name: filepath.Base(path) + ".run-*"}, limits: limits, grams: newCounter(expected)}
	defer func() {
		b.runs.close()
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name()) //nolint:gosec // the file was just created
			err = fmt.Errorf("build search index: %w", err)
		}
	}()
	if err = b.gather(ctx, documents, progress); err != nil {
		return err
	}
	if err = b.write(ctx, f, sequence); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil { //nolint:gosec // the caller says where the base is
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes a rename durable. Where folders cannot be synced, the system does it
// by itself.
func syncFolder(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the caller says where the base is
	if err != nil {
		return err
	}
	defer d.Close()
	_ = d.Sync()
	return nil
}

// builder collects documents into runs.
type builder struct {
	columns
	kinds, states names
	titles        titleBuilder
	total         uint64
	last          int64
	limits        limits
	runs          runs
	grams         *counter
}

func (b *builder) gather(ctx context.Context, documents iter.Seq2[Document, error], progress func(done int)) error {
	run := newRun(b.grams)
	t := tokeniser{emit: run.token}
	add := func(d *Document) error {
		n := b.count()
		switch {
		case n > 0 && d.ID <= b.last:
			return fmt.Errorf("document %d comes after %d", d.ID, b.last)
		case n+1 >= maxRecords:
			return fmt.Errorf("there are too many documents")
		}
		b.last = d.ID
		length, head := t.document(d)
		run.end(uint32(n))
		kind := b.kinds.number(d.Type)
		b.add(d, length, head, kind, b.states.number(d.Status))
		b.titles.add(d.Title)
		b.total += uint64(length)
		if run.size >= b.limits.runBytes {
			if err := b.runs.putAside(run); err != nil {
				return err
			}
		}
		if n%1000 == 999 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if progress != nil {
				progress(n + 1)
			}
		}
		return nil
	}
	// The first documents are held back, because they decide which runs are common.
	var first []Document
	held := 0
	learn := func() error {
		b.grams.sample(first)
		for i := range first {
			if err := add(&first[i]); err != nil {
				return err
			}
		}
		first, held = nil, -1
		return nil
	}
	for d, err := range documents {
		if err != nil {
			return err
		}
		if held < 0 {
			if err := add(&d); err != nil {
				return err
			}
			continue
		}
		first = append(first, d)
		if held += len(d.Content); len(first) == b.limits.sample || held >= sampleBytes {
			if err := learn(); err != nil {
				return err
			}
		}
	}
	if held >= 0 {
		if err := learn(); err != nil {
			return err
		}
	}
	b.runs.last = run
	if progress != nil {
		progress(b.count())
	}
	return ctx.Err()
}

// write writes the sections to the file, the header last.
func (b *builder) write(ctx context.Context, f *os.File, sequence int64) error {
	if _, err := f.Seek(headerLen, io.SeekStart); err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	w := &sectionWriter{w: out, at: headerLen}
	w.section(idSection, b.ids)
	w.section(updatedSection, b.updated)
	w.section(lengthSection, b.lengths)
	w.section(headSection, b.heads)
	w.section(typeSection, b.types)
	w.section(statusSection, b.statuses)
	w.section(typeNameSection, appendNames(nil, b.kinds.list))
	w.section(statusNameSection, appendNames(nil, b.states.list))
	w.section(titleSection, b.titles.text)
	w.section(titleStartSection, b.titles.offsets())
	order, byType := b.titles.sort(&b.columns)
	w.section(titleOrderSection, order.docs)
	w.section(titleMarkSection, order.marks)
	w.section(typeOrderSection, byType.docs)
	w.section(typeMarkSection, byType.marks)
	w.section(typeStartSection, b.typeStarts(len(b.kinds.list)))
	b.titles = titleBuilder{} // it is large
	w.section(gramSection, appendGrams(nil, b.grams.common))
	dictionary, err := b.writeLists(ctx, w)
	if err != nil {
		return err
	}
	w.header.sequence, w.header.documents = sequence, uint64(b.count())
	w.header.terms, w.header.length = uint64(dictionary.terms), b.total
	if w.err != nil {
		return w.err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = f.WriteAt(w.header.encode(), 0)
	return err
}

// writeLists merges the runs. The dictionary precedes the lists in the file but grows
// with them, so each is first written to its own temporary file.
func (b *builder) writeLists(ctx context.Context, w *sectionWriter) (*dictionaryWriter, error) {
	groups, err := b.runs.temporary()
	if err != nil {
		return nil, err
	}
	d := dictionaryWriter{out: bufio.NewWriterSize(groups, 1<<20)}
	lists, err := b.runs.temporary()
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewWriterSize(lists, 1<<20)
	norm := normsAt(float64(b.total) / float64(max(1, b.count())))
	e := encoder{documents: uint32(b.count()), norm: func(doc uint32) float64 { return norm.at(b.length(doc)) }}
	aside, err := b.runs.temporary()
	if err != nil {
		return nil, err
	}
	beginnings := newBeginnings(aside, e, b.limits.beginning)
	var packed []byte
	put := func(key []byte, df int, packed []byte) error {
		if err := d.add(key, df, len(packed)); err != nil {
			return err
		}
		_, err := buffered.Write(packed)
		return err
	}
	err = b.runs.merge(func(key []byte, postings []runPostings) error {
		if d.terms%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.begin(key[0] == pairTerm)
		for i := range postings {
			if err := postings[i].each(e.positions, e.add); err != nil {
				return err
			}
		}
		packed = e.finish(packed[:0])
		if key[0] == wordTerm || key[0] == kanaTerm {
			if err := beginnings.add(key, e.docs, e.values); err != nil {
				return err
			}
		}
		return put(key, len(e.docs), packed)
	})
	if err != nil {
		return nil, err
	}
	err = beginnings.finish(func(key string, df int, packed []byte) error { return put([]byte(key), df, packed) })
	if err != nil {
		return nil, err
	}
	if err := w.copy(groupSection, d.out, groups); err != nil {
		return nil, err
	}
	w.section(directorySection, d.directory)
	err = w.copy(listSection, buffered, lists)
	return &d, err
}

// appendPosting encodes a posting: the gap to the document before, the value, and for
// pairs the gaps between positions, all varints.
func appendPosting(dst []byte, gap, value uint32) []byte {
	if gap < 0x80 && value < 0x80 { // the usual case
		return append(dst, byte(gap), byte(value))
	}
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(gap)), uint64(value))
}
