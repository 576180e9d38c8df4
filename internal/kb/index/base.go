package index

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
)

// Base is an index in a file. It never changes. Many processes may have it open and share
// its memory. Opening reads little more than the header.
type Base struct {
	columns
	dictionary
	header header
	titles titles
	grams  grams
	file   []byte
	unmap  func() error

	kept kept
}

// Open opens a base. It returns ErrDamaged if the structure of the file is damaged.
// Verify checks the rest.
func Open(path string) (*Base, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open search index: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("open search index: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("open search index: %s: %w", path, fs.ErrInvalid)
	case info.Size() < headerLen:
		return nil, damaged("it is too short")
	}
	content, unmap, err := mapFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("open search index: %w", err)
	}
	var b *Base
	fault := Guard(func() { b, err = newBase(content) })
	if err := cmp.Or(fault, err); err != nil {
		_ = unmap()
		return nil, err
	}
	b.unmap = unmap
	return b, nil
}

func newBase(file []byte) (*Base, error) {
	b := &Base{file: file, unmap: func() error { return nil }}
	if err := b.header.decode(file); err != nil {
		return nil, err
	}
	at := func(s section) []byte {
		return file[b.header.offsets[s]:][:b.header.sizes[s]:b.header.sizes[s]]
	}
	b.columns = columns{
		ids: at(idSection), updated: at(updatedSection), lengths: at(lengthSection), heads: at(headSection),
		types: at(typeSection), statuses: at(statusSection),
	}
	var ok, ok2 bool
	b.typeNames, ok = readNames(at(typeNameSection))
	b.states, ok2 = readNames(at(statusNameSection))
	if !ok || !ok2 {
		return nil, damaged("the names of its types and statuses are damaged")
	}
	if b.grams, ok = readGrams(at(gramSection)); !ok {
		return nil, damaged("its common runs of characters are damaged")
	}
	b.titles = titles{
		text: at(titleSection), starts: at(titleStartSection),
		order:  titleOrder{at(titleOrderSection), at(titleMarkSection)},
		byType: titleOrder{at(typeOrderSection), at(typeMarkSection)}, typeStarts: at(typeStartSection), columns: &b.columns,
	}
	if len(b.titles.typeStarts) != 4*(len(b.typeNames)+1) {
		return nil, damaged("it does not say where its types begin")
	}
	b.dictionary = dictionary{
		groups: at(groupSection), directory: at(directorySection), lists: at(listSection),
		terms: int(b.header.terms), documents: uint32(b.header.documents),
	}
	return b, nil
}

// Sequence returns the change sequence that the base covers.
func (b *Base) Sequence() int64 { return b.header.sequence }

// Len returns the number of documents.
func (b *Base) Len() int { return int(b.header.documents) }

// Size returns the size of the file in bytes.
func (b *Base) Size() int64 { return int64(len(b.file)) }

// Verify reads the whole file and compares the checksums.
func (b *Base) Verify() error {
	var wrong error
	if err := Guard(func() { wrong = b.compare() }); err != nil {
		return err
	}
	return wrong
}

func (b *Base) compare() error {
	for s := range b.header.offsets {
		part := b.file[b.header.offsets[s]:][:b.header.sizes[s]]
		if crc32.Checksum(part, castagnoli()) != b.header.sums[s] {
			return damaged("the checksum of section %d is wrong", s)
		}
	}
	return nil
}

// Close releases the memory. The base must not be searched afterwards. To close a base
// that an Index uses, close the Index.
func (b *Base) Close() error {
	file := b.file
	b.file = nil
	if file == nil {
		return nil
	}
	return b.unmap()
}
