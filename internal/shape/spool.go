package shape

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/privatedir"
)

// Bounds limit what a Spool keeps. Zero values mean the default.
type Bounds struct {
	// Keep is how long a result is kept after its last use.
	Keep time.Duration
	// Total and PerClient are in bytes.
	Total, PerClient int64
}

// The defaults of Bounds.
const (
	defaultKeep      = time.Hour
	defaultTotal     = 256 << 20
	defaultPerClient = 64 << 20
)

// Spool keeps results on disk. Each result belongs to the client whose call it
// answered, and expires some time after its last use.
//
// A result is a file in a folder of its client. Its name is the id, and its time of
// modification the time of its last use.
type Spool struct {
	dir    string
	bounds Bounds
	stop   func()

	saved, readBack atomic.Int64 // tokens

	mu      sync.Mutex
	entries map[key]*entry
	owned   map[string]int64 // bytes, by owner
	total   int64
}

// key names an entry. Nobody finds the entry of another owner.
type key struct{ owner, id string }

type entry struct {
	size int64
	used time.Time
}

// Open opens the spool in a folder, which it makes if it does not exist. It removes
// results that have expired and files that were not completely written.
func Open(dir string, bounds Bounds) (*Spool, error) {
	bounds.Keep = cmp.Or(bounds.Keep, defaultKeep)
	bounds.Total = cmp.Or(bounds.Total, defaultTotal)
	bounds.PerClient = cmp.Or(bounds.PerClient, defaultPerClient)
	if err := privatedir.Make(dir); err != nil {
		return nil, err
	}
	s := &Spool{dir: dir, bounds: bounds, entries: map[key]*entry{}, owned: map[string]int64{}}
	if err := s.load(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.sweep()
	s.mu.Unlock()
	done := make(chan struct{})
	ended := make(chan struct{})
	s.stop = sync.OnceFunc(func() { close(done); <-ended })
	go func() {
		defer close(ended)
		tick := time.NewTicker(s.bounds.Keep / 10)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.mu.Lock()
				s.sweep()
				s.mu.Unlock()
			case <-done:
				return
			}
		}
	}()
	return s, nil
}

// Close stops the removal of expired results. What is kept stays on disk.
func (s *Spool) Close() { s.stop() }

// unfinished begins the names of files that are being written, which takes writeTime at
// most.
const (
	unfinished = "."
	writeTime  = time.Minute
)

func (s *Spool) load() error {
	owners, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if !owner.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(s.dir, owner.Name()))
		if err != nil {
			return err
		}
		for _, file := range files {
			info, err := file.Info()
			if err != nil {
				continue // another process has removed it
			}
			switch k := (key{owner.Name(), file.Name()}); {
			case !strings.HasPrefix(file.Name(), unfinished):
				s.add(k, &entry{info.Size(), info.ModTime()})
			case time.Since(info.ModTime()) > writeTime: // else another process is writing it
				_ = os.Remove(s.path(k))
			}
		}
		_ = os.Remove(filepath.Join(s.dir, owner.Name())) // fails if there is something in it
	}
	return nil
}

// A file has a head, and then the result: a mark, the checksum and the length of the
// result.
const (
	headMark = "gkr1"
	headSize = len(headMark) + 4 + 8
)

//nolint:gochecknoglobals // a table
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Put keeps a result of a client's call, and returns its id.
func (s *Spool) Put(client string, raw []byte) (id string, err error) {
	size := int64(headSize + len(raw))
	if size > min(s.bounds.PerClient, s.bounds.Total) {
		return "", gateway.Errorf(gateway.CodeLimited, "the result is larger than all results that are kept for a client")
	}
	k := key{ownerOf(client), strings.ToLower(rand.Text()[:idSize])}
	dir := filepath.Join(s.dir, k.owner)
	err = privatedir.Make(dir)
	if errors.Is(err, fs.ErrNotExist) { // somebody deleted the results
		err = errors.Join(privatedir.Make(s.dir), privatedir.Make(dir))
	}
	if err != nil {
		return "", err
	}
	head := make([]byte, 0, headSize)
	head = append(head, headMark...)
	head = binary.BigEndian.AppendUint32(head, crc32.Checksum(raw, castagnoli))
	head = binary.BigEndian.AppendUint64(head, uint64(len(raw)))
	temporary := filepath.Join(dir, unfinished+k.id)
	now := time.Now()
	err = writeFile(temporary, head, raw)
	if err == nil {
		err = os.Chtimes(temporary, now, now)
	}
	if err == nil {
		err = os.Rename(temporary, s.path(k))
	}
	if err != nil {
		_ = os.Remove(temporary)
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(k, &entry{size, now})
	s.sweep()
	return k.id, nil
}

func writeFile(path string, parts ...[]byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|privatedir.NoFollow, 0o600)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if _, err := f.Write(part); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// idSize is the length of an id. It has 80 random bits.
const idSize = 16

// errAbsent is the answer to an id that does not exist, has expired or belongs to
// another client. A caller must not learn which.
var errAbsent = &gateway.Error{
	Code: gateway.CodeInvalid, Field: "id",
	Message: "there is no stored result with this id: it has expired, or the id is wrong. Call the tool again that gave it",
}

// Use keeps a result of a client for longer. It returns an error if there is none.
func (s *Spool) Use(client, id string) error {
	if len(id) != idSize || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		return errAbsent
	}
	k := key{ownerOf(client), id}
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Lstat(s.path(k))
	now := time.Now()
	if err != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()) >= s.bounds.Keep {
		return errAbsent
	}
	// Another process may have put it there.
	if e := s.entries[k]; e != nil {
		e.used = now
	} else {
		s.add(k, &entry{info.Size(), now})
	}
	return os.Chtimes(s.path(k), now, now)
}

// Get returns a result of a client, and keeps it for longer.
func (s *Spool) Get(client, id string) ([]byte, error) {
	if err := s.Use(client, id); err != nil {
		return nil, err
	}
	k := key{ownerOf(client), id}
	data, err := os.ReadFile(s.path(k)) // made of a hash and of a checked id
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errAbsent
	}
	if err != nil {
		return nil, err
	}
	if len(data) < headSize || string(data[:len(headMark)]) != headMark ||
		binary.BigEndian.Uint64(data[headSize-8:]) != uint64(len(data)-headSize) || //nolint:gosec // it is as long
		binary.BigEndian.Uint32(data[len(headMark):]) != crc32.Checksum(data[headSize:], castagnoli) {
		s.mu.Lock()
		s.remove(k)
		s.mu.Unlock()
		return nil, errAbsent
	}
	return data[headSize:], nil
}

// Saved returns how many tokens were not sent to clients because they got outlines.
func (s *Spool) Saved() int64 { return s.saved.Load() }

// ReadBack returns how many of these tokens clients have read with read_result.
func (s *Spool) ReadBack() int64 { return s.readBack.Load() }

// Size returns how many bytes are kept.
func (s *Spool) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// sizeOf returns the size of a client's result, without a use of it; 0 if there is none.
func (s *Spool) sizeOf(client, id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[key{ownerOf(client), id}]; e != nil {
		return int(e.size)
	}
	return 0
}

func (s *Spool) path(k key) string { return filepath.Join(s.dir, k.owner, k.id) }

// ownerOf returns the name of a client's folder.
func ownerOf(client string) string {
	sum := sha256.Sum256([]byte(client))
	return hex.EncodeToString(sum[:16])
}

func (s *Spool) add(k key, e *entry) {
	s.entries[k] = e
	s.owned[k.owner] += e.size
	s.total += e.size
}

func (s *Spool) remove(k key) {
	_ = os.Remove(s.path(k))
	e := s.entries[k]
	if e == nil {
		return
	}
	delete(s.entries, k)
	s.total -= e.size
	if s.owned[k.owner] -= e.size; s.owned[k.owner] <= 0 {
		delete(s.owned, k.owner)
	}
}

// sweep removes what has expired, and then the least recently used results of the
// clients that keep too much. If all clients together keep too much, the client that
// keeps the most gives way.
func (s *Spool) sweep() {
	now := time.Now()
	for k, e := range s.entries {
		if now.Sub(e.used) < s.bounds.Keep {
			continue
		}
		// Another process may have used it since.
		if info, err := os.Lstat(s.path(k)); err == nil && now.Sub(info.ModTime()) < s.bounds.Keep {
			e.used = info.ModTime()
			continue
		}
		s.remove(k)
	}
	for owner, size := range s.owned {
		for size > s.bounds.PerClient {
			s.removeOldest(owner)
			size = s.owned[owner]
		}
	}
	for s.total > s.bounds.Total {
		var largest string
		for owner, size := range s.owned {
			if largest == "" || size > s.owned[largest] {
				largest = owner
			}
		}
		s.removeOldest(largest)
	}
}

func (s *Spool) removeOldest(owner string) {
	var oldest key
	var used time.Time
	for k, e := range s.entries {
		if k.owner == owner && (oldest.id == "" || e.used.Before(used)) {
			oldest, used = k, e.used
		}
	}
	if oldest.id != "" {
		s.remove(oldest)
	}
}
