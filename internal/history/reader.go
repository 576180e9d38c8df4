package history

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"genkan/internal/gateway"
)

// Reader answers questions about the history in a folder, which processes may be
// writing.
type Reader struct {
	dir string
	key func(context.Context) ([]byte, error)

	mu sync.Mutex
	// indexes are those of segments that are being written, and heads the beginnings of
	// the others' indexes.
	indexes map[string]*index
	heads   map[string]indexHead
	keys    []byte
}

// NewReader returns a reader. key returns the key that bodies are encrypted with.
func NewReader(dir string, key func(context.Context) ([]byte, error)) *Reader {
	return &Reader{dir: dir, key: key, indexes: map[string]*index{}, heads: map[string]indexHead{}}
}

// part is a segment with its index.
type part struct {
	name string
	indexHead
	index *index // nil until it is needed
}

// parts returns the segments, the one with the newest entry first.
func (r *Reader) parts() ([]*part, error) {
	entries, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(r.dir, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	names, alive := map[string]bool{}, map[string]bool{}
	newest := map[string]int{}
	for _, e := range entries {
		if run, ok := strings.CutSuffix(e.Name(), lockSuffix); ok {
			alive[run] = true // or its process crashed a moment ago
		}
		if run, number, ok := parseSegmentName(e.Name()); ok {
			names[e.Name()] = true
			newest[run] = max(newest[run], number)
		}
	}
	for name := range r.indexes {
		if !names[name] {
			delete(r.indexes, name)
		}
	}
	for name := range r.heads {
		if !names[name] {
			delete(r.heads, name)
		}
	}
	var parts []*part
	for _, e := range entries {
		name := e.Name()
		if !names[name] {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() < int64(headerSize) {
			continue // removed meanwhile, or no segment
		}
		run, number, _ := parseSegmentName(name)
		p, err := r.part(name, info.Size(), number < newest[run] || !alive[run])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, unreadable(r.dir, err)
		}
		if p != nil && p.covered > int64(headerSize) {
			parts = append(parts, p)
		}
	}
	slices.SortFunc(parts, func(a, b *part) int { return cmp.Or(cmp.Compare(b.last, a.last), cmp.Compare(b.name, a.name)) })
	return parts, nil
}

func unreadable(dir string, err error) error {
	return &gateway.Error{
		Code: gateway.CodeInternal, Err: err,
		Message: "the call history in %s cannot be read; check that the folder is yours and that the disk works",
		Values:  []any{dir},
	}
}

// part returns a segment. finished is set if its process does not write it
// any more.
func (r *Reader) part(name string, size int64, finished bool) (*part, error) {
	if head, ok := r.heads[name]; ok && head.covered == size {
		return &part{name: name, indexHead: head}, nil
	}
	path := filepath.Join(r.dir, name)
	x := r.indexes[name]
	if x == nil {
		if head, err := readIndexHead(indexPath(path)); err == nil && head.covered == size {
			r.heads[name] = head
			return &part{name: name, indexHead: head}, nil
		}
		x = &index{}
	}
	if err := r.extend(x, path, size, finished); err != nil {
		return nil, err
	}
	if finished && x.len() > 0 {
		x.covered = max(x.covered, size) // what a crash cut off will not be completed
		if err := x.save(indexPath(path)); err == nil {
			delete(r.indexes, name)
			r.heads[name] = x.indexHead
			return &part{name: name, indexHead: x.indexHead, index: x}, nil
		}
	}
	r.indexes[name] = x
	// The rows of a snapshot stay as they are while others are added.
	snapshot := *x
	return &part{name: name, indexHead: x.indexHead, index: &snapshot}, nil
}

func (r *Reader) extend(x *index, path string, size int64, finished bool) error {
	file, err := openRegular(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return x.extend(file, size, finished)
}

// openRegular opens a file that is a regular one. Opening a FIFO would wait for ever.
func openRegular(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	return os.Open(path)
}

func readIndexHead(path string) (indexHead, error) {
	file, err := openRegular(path)
	if err != nil {
		return indexHead{}, err
	}
	defer file.Close()
	b := make([]byte, indexHeadSize)
	if _, err := io.ReadFull(file, b); err != nil {
		return indexHead{}, err
	}
	return decodeIndexHead(b)
}

// load reads the index of a part, or makes it again.
func (r *Reader) load(p *part) error {
	if p.index != nil {
		return nil
	}
	path := filepath.Join(r.dir, p.name)
	x, err := loadIndex(indexPath(path))
	if err != nil {
		x = &index{}
		if err := r.extend(x, path, p.covered, true); err != nil {
			return err
		}
		x.covered = p.covered
		_ = x.save(indexPath(path)) // it is made again otherwise
	}
	p.index = x
	return nil
}

// entry reads the entry of a row.
func (r *Reader) entry(p *part, i int) (Entry, []byte, error) {
	var e Entry
	file, err := openRegular(filepath.Join(r.dir, p.name))
	if err != nil {
		return e, nil, err
	}
	defer file.Close()
	payload, err := readFrame(file, int64(p.index.row(i).number(rowOffset)), uint32(p.index.sum))
	if err != nil {
		return e, nil, err
	}
	sealed, err := decodeEntry(payload, &e)
	return e, sealed, err
}

// errForgotten is the error of a call that the history does not have, for this reader.
func errForgotten(id string) error {
	return gateway.Errorf(gateway.CodeNotFound,
		"there is no call %s in the history; `genkan calls` lists what there is. Old calls are removed, and clients see their own", id)
}

// find returns the part and the row of a call.
func (r *Reader) find(id string) (*part, int, error) {
	run, number, ok := splitID(id)
	if !ok {
		return nil, 0, errForgotten(gateway.Short(id))
	}
	parts, err := r.parts()
	if err != nil {
		return nil, 0, err
	}
	for _, p := range parts {
		if of, _, _ := parseSegmentName(p.name); of != run || r.load(p) != nil {
			continue
		}
		for i := p.index.len() - 1; i >= 0; i-- {
			if p.index.row(i).number(rowNumber) == number {
				return p, i, nil
			}
		}
	}
	return nil, 0, errForgotten(id)
}

// get returns a call. If caller is not empty, it must be the caller's own.
func (r *Reader) get(id, caller string) (Entry, *sealed, error) {
	p, i, err := r.find(id)
	if err != nil {
		return Entry{}, nil, err
	}
	e, b, err := r.entry(p, i)
	if err != nil || caller != "" && e.Caller != caller {
		return Entry{}, nil, errForgotten(id)
	}
	return e, &sealed{p.name, int64(p.index.row(i).number(rowOffset)), b}, nil
}

// sealed are the sealed bodies of an entry.
type sealed struct {
	segment string
	at      int64
	bytes   []byte
}

// Bodies returns the bodies of a call as they were, with its facts. If caller is not
// empty, it must be the caller's own. Whoever shows them takes secrets out first.
func (r *Reader) Bodies(ctx context.Context, id, caller string) (Entry, Bodies, error) {
	e, s, err := r.get(id, caller)
	if err != nil || !e.Has(HasBodies) {
		return e, Bodies{}, err
	}
	b, err := r.open(ctx, s)
	return e, b, err
}

func (r *Reader) open(ctx context.Context, s *sealed) (Bodies, error) {
	file, err := openRegular(filepath.Join(r.dir, s.segment))
	if err != nil {
		return Bodies{}, unreadable(r.dir, err)
	}
	defer file.Close()
	header := make([]byte, headerSize)
	if _, err := file.ReadAt(header, 0); err != nil {
		return Bodies{}, unreadable(r.dir, err)
	}
	key, err := r.bodyKey(ctx)
	if err != nil {
		return Bodies{}, err
	}
	salt, id := header[len(segmentMagic):len(segmentMagic)+saltSize], header[len(segmentMagic)+saltSize:]
	sealer, err := newSealer(key, salt)
	if err != nil {
		return Bodies{}, err
	}
	plain, err := sealer.aead.Open(nil, nonce(s.at), s.bytes, nil)
	if err != nil {
		if string(id) != string(keyID(key)) {
			err = errOtherKey
		}
		return Bodies{}, &gateway.Error{
			Code: gateway.CodeInternal, Err: err,
			Message: "what was sent and received in this call cannot be read: it is damaged, or the key in the vault is another one now",
		}
	}
	return decodeBodies(plain)
}

var errOtherKey = errors.New("the bodies were encrypted with another key")

func (r *Reader) bodyKey(ctx context.Context) ([]byte, error) {
	r.mu.Lock()
	key := r.keys
	r.mu.Unlock()
	if key != nil {
		return key, nil
	}
	key, err := r.key(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.keys = key
	r.mu.Unlock()
	return key, nil
}

// Size returns how many bytes the history takes.
func Size(dir string) int64 {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	var total int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !strings.HasPrefix(e.Name(), ".") {
			total += info.Size()
		}
	}
	return total
}
