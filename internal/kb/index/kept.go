package index

import "sync"

// kept is what cost much to find out: the documents of phrases that had to be
// verified in many, and of terms that many have. The base never changes, so it
// stays right. When it is too much, all is dropped.
type kept struct {
	mu      sync.Mutex
	phrases map[string]list
	size    int
	sets    map[string]bitmap
	bytes   int // of the sets
}

// worthToKeep is how many documents must have been looked at.
const worthToKeep = 4096

// keptBytes is how much is kept of phrases, 16 bytes for a document of the base;
// of sets it is twice that, those of 256 terms.
func keptBytes(documents uint32) int { return 1<<20 + 16*int(documents) }

func (k *kept) get(key string) (list, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l, ok := k.phrases[key]
	return l, ok
}

func (k *kept) put(key string, l *list, lookedAt int) {
	size := 8 * len(l.docs)
	if lookedAt < worthToKeep || size > keptBytes(l.documents) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.phrases == nil || k.size+size > keptBytes(l.documents) {
		k.phrases, k.size = map[string]list{}, 0
	}
	l.df = len(l.docs)
	k.phrases[key] = *l
	k.size += size + 256
}

// isCommon tells the lists that are kept as sets.
func isCommon(l *list) bool {
	return !l.plain && l.df >= worthToKeep && l.df >= int(l.documents/32)
}

// set is the documents of a common list, made by mark when it is not there. It
// must not be changed.
func (k *kept) set(key string, documents int, mark func(bitmap)) bitmap {
	k.mu.Lock()
	set, ok := k.sets[key]
	k.mu.Unlock()
	if ok {
		return set
	}
	set = bitmapFor(documents)
	mark(set)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sets == nil || k.bytes > 2*keptBytes(uint32(documents)) {
		k.sets, k.bytes = map[string]bitmap{}, 0
	}
	k.sets[key] = set
	k.bytes += 8 * len(set)
	return set
}
