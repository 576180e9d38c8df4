package jsonrpc

import (
	"encoding/binary"
	"hash/maphash"
)

// Digest returns a hash of a JSON value that does not depend on white space, on
// the order of keys or on how strings are escaped. Numbers count as they are
// written. It reads the bytes once and builds no tree, so that it costs no
// memory. The value must have passed Scan; nil has a digest of its own.
func Digest(seed maphash.Seed, value []byte) uint64 {
	if len(value) == 0 {
		return 0
	}
	d := digester{scanner{data: value}, seed}
	_, sum, _ := d.value(d.space(0), 1)
	return sum
}

type digester struct {
	scanner
	seed maphash.Seed
}

// value returns where the value at i ends, and its digest. depth counts the value
// itself.
func (d *digester) value(i, depth int) (end int, sum uint64, err error) {
	c := d.data[i]
	switch c {
	case '{':
		end, err = d.object(i, depth, func(key []byte, _, vi int) (int, error) {
			end, v, err := d.value(vi, depth+1)
			sum += d.join(c, maphash.Bytes(d.seed, key), v) // a sum has no order
			return end, err
		})
	case '[':
		end, err = d.array(i, depth, func(vi int) (int, error) {
			end, v, err := d.value(vi, depth+1)
			sum = d.join(c, sum, v)
			return end, err
		})
	default:
		if end, err = d.skip(i, depth-1); err != nil {
			return 0, 0, err
		}
		text := d.data[i:end]
		if c == '"' {
			text, _ = Unquote(text)
		} else {
			c = 0
		}
		sum = maphash.Bytes(d.seed, text)
	}
	return end, d.join(c, sum, 0), err
}

// join hashes two digests into one, for a kind of value.
func (d *digester) join(kind byte, x, y uint64) uint64 {
	var b [17]byte
	b[0] = kind
	binary.LittleEndian.PutUint64(b[1:], x)
	binary.LittleEndian.PutUint64(b[9:], y)
	return maphash.Bytes(d.seed, b[:])
}
