package catalog

import (
	"crypto/sha256"
	"encoding/hex"
)

// longestName is how long a prefixed name may be. Clients put their own prefix
// before it and allow 64 in all; with "mcp__genkan__" 51 are left.
const longestName = 51

// exposedName is the name that clients see. It depends on nothing but its
// arguments, so that it stays the same across restarts.
func exposedName(prefix, name string) string {
	if prefix == "" {
		return name
	}
	full := prefix + "__" + name
	legal := make([]byte, 0, len(full))
	changed := false
	for i := range len(full) {
		c := full[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			legal = append(legal, c)
			continue
		}
		legal = append(legal, '_')
		changed = true
	}
	if !changed && len(full) <= longestName {
		return full
	}
	// Two names that differ only in what was replaced or cut must not meet.
	sum := sha256.Sum256([]byte(full))
	tail := "_" + hex.EncodeToString(sum[:4])
	if len(legal) > longestName-len(tail) {
		legal = legal[:longestName-len(tail)]
	}
	return string(legal) + tail
}
