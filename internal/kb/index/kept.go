package index

import "sync"

// kept caches the documents of phrases that had to be verified in many documents. The base
// never changes, so entries stay valid. When the cache is too large, it is emptied.
type kept struct {
	mu      sync.Mutex
	phrases map[string]list
	size    int
}

// worthToKeep is the number of verified documents from which a result is cached.
const worthToKeep = 4096

// keptBytes returns the maximum size of the cache: 16 bytes for a document of the base.
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
