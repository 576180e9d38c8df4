package index

import "math/bits"

// bitmap is a set of the documents of a segment.
type bitmap []uint64

func bitmapFor(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) has(i uint32) bool { w := int(i >> 6); return w < len(b) && b[w]>>(i&63)&1 != 0 }
func (b bitmap) set(i uint32)      { b[i>>6] |= 1 << (i & 63) }
func (b bitmap) unset(i uint32)    { b[i>>6] &^= 1 << (i & 63) }

func (b bitmap) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

func (b bitmap) and(o bitmap) {
	for i := range b {
		b[i] &= o[i]
	}
}

func (b bitmap) or(o bitmap) {
	for i := range o {
		b[i] |= o[i]
	}
}

// without removes the documents of another set, which may be shorter.
func (b bitmap) without(o bitmap) {
	for i := range min(len(b), len(o)) {
		b[i] &^= o[i]
	}
}

// each calls yield with the members from one document up to, but not including, another.
func (b bitmap) each(from, to uint32, yield func(uint32)) {
	for w := int(from >> 6); w < len(b) && uint32(w)<<6 < to; w++ {
		word := b[w]
		if w == int(from>>6) {
			word &= ^uint64(0) << (from & 63)
		}
		for ; word != 0; word &= word - 1 {
			i := uint32(w)<<6 + uint32(bits.TrailingZeros64(word))
			if i >= to {
				return
			}
			yield(i)
		}
	}
}
