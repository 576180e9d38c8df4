package index

import "sync"

// kept are phrases that cost much to verify, with what was found. The base
// never changes, so they stay right. When they are too many, all are dropped.
type kept struct {
	mu      sync.Mutex
	phrases map[string]list
	size    int
}

const (
	keptBytes   = 16 << 20
	worthToKeep = 4096 // documents that were looked at
)

func (k *kept) get(key string) (list, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l, ok := k.phrases[key]
	return l, ok
}

func (k *kept) put(key string, l *list, lookedAt int) {
	size := 8 * len(l.docs)
	if lookedAt < worthToKeep || size > keptBytes {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.phrases == nil || k.size+size > keptBytes {
		k.phrases, k.size = map[string]list{}, 0
	}
	l.df = len(l.docs)
	k.phrases[key] = *l
	k.size += size + 256
}
