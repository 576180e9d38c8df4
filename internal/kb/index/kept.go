package index

import "sync"

// kept is what cost much to find out: the documents of phrases that had to be
// verified in many. The base never changes, so it stays right. When it is too much, all is dropped.
type kept struct {
	mu      sync.Mutex
	phrases map[string]list
	size    int
}

// worthToKeep is how many documents must have been looked at.
const worthToKeep = 4096

// keptBytes is how much is kept, 16 bytes for a document of the base.
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
