package index

import (
	"encoding/binary"
	"math/bits"
)

// Numbers are packed with as many bits as most of them need; the few that need
// more leave their upper bits behind the others:
//
//	width, and 128 if there are such exceptions    1 byte
//	bytes of the exceptions                        varint, only if there are any
//	the lower bits of all numbers                  (count·width+7)/8 bytes
//	for each exception its distance from the last one and its upper bits, varints

const exceptions = 0x80

// appendPacked appends numbers.
func appendPacked(dst []byte, values []uint32) []byte {
	var lengths [33]int // how many numbers have this many bits
	all := uint32(0)
	for _, v := range values {
		lengths[bits.Len32(v)]++
		all |= v
	}
	longest := bits.Len32(all)
	width, least := longest, len(values)*longest
	for w := longest - 1; w >= 0; w-- {
		// Numbers of more than w bits are exceptions.
		extra := 8
		for b := w + 1; b <= longest; b++ {
			extra += lengths[b] * (8 + 8*((b-w+6)/7))
		}
		if cost := len(values)*w + extra; cost <= least {
			width, least = w, cost
		}
	}
	mask := uint32(1)<<width - 1
	var exc []byte
	last := 0
	for i, v := range values {
		if v > mask {
			exc = binary.AppendUvarint(exc, uint64(i-last))
			exc = binary.AppendUvarint(exc, uint64(v>>width))
			last = i
		}
	}
	if len(exc) == 0 {
		dst = append(dst, byte(width))
	} else {
		dst = append(dst, byte(width)|exceptions)
		dst = binary.AppendUvarint(dst, uint64(len(exc)))
	}
	var word uint64
	filled := 0
	for _, v := range values {
		word |= uint64(v&mask) << filled
		if filled += width; filled >= 32 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(word))
			word >>= 32
			filled -= 32
		}
	}
	for ; filled > 0; filled -= 8 {
		dst = append(dst, byte(word))
		word >>= 8
	}
	return append(dst, exc...)
}

// packed holds the offsets of the parts of packed numbers.
type packed struct {
	width     int
	low, high int // offsets of the lower bits and of the exceptions
	end       int
}

// layout reads the head of n packed numbers. False means damage, here and below.
func layout(src []byte, n int) (packed, bool) {
	if len(src) == 0 {
		return packed{}, false
	}
	p := packed{width: int(src[0] &^ exceptions), low: 1}
	extra := uint64(0)
	if src[0]&exceptions != 0 {
		var used int
		if extra, used = binary.Uvarint(src[1:]); used <= 0 || extra > uint64(len(src)) {
			return packed{}, false
		}
		p.low += used
	}
	p.high = p.low + (n*p.width+7)/8
	p.end = p.high + int(extra)
	return p, p.width <= 32 && p.end <= len(src)
}

// unpack reads len(out) numbers and returns the bytes after them.
func unpack(src []byte, out []uint32) ([]byte, bool) {
	p, ok := layout(src, len(out))
	if !ok {
		return nil, false
	}
	if p.width == 0 {
		clear(out)
	} else {
		unpackLow(src[p.low:], out, uint(p.width), p.high-p.low)
	}
	at := uint64(0)
	for exc := src[p.high:p.end]; len(exc) > 0; {
		gap, high, used := exception(exc)
		if at += gap; used == 0 || gap > uint64(len(out)) || at >= uint64(len(out)) {
			return nil, false
		}
		out[at] |= uint32(high << p.width)
		exc = exc[used:]
	}
	return src[p.end:], true
}

// exception reads one exception and returns the number of its bytes. Each of its two
// numbers nearly always takes one byte.
func exception(exc []byte) (gap, high uint64, used int) {
	if len(exc) > 1 && exc[0]|exc[1] < 0x80 {
		return uint64(exc[0]), uint64(exc[1]), 2
	}
	return longException(exc)
}

func longException(exc []byte) (gap, high uint64, used int) {
	gap, a := binary.Uvarint(exc)
	if a <= 0 {
		return 0, 0, 0
	}
	high, b := binary.Uvarint(exc[a:])
	if b <= 0 {
		return 0, 0, 0
	}
	return gap, high, a + b
}

// pick reads the i-th of n numbers. Without exceptions n is not used.
func pick(src []byte, i, n int) (uint32, bool) {
	if len(src) == 0 {
		return 0, false
	}
	if width := int(src[0]); width&exceptions == 0 {
		return lowAt(src, 1, i*width, width), true
	}
	var one [1]uint32
	ok := pickSome(src, i, n, one[:])
	return one[0], ok
}

// lowAt reads a number of width bits.
func lowAt(src []byte, from, bit, width int) uint32 {
	var low uint64
	if at := from + bit>>3; at+8 <= len(src) {
		low = binary.LittleEndian.Uint64(src[at:])
	} else {
		var last [8]byte
		copy(last[:], src[min(at, len(src)):])
		low = binary.LittleEndian.Uint64(last[:])
	}
	return uint32(low >> (bit & 7) & (1<<width - 1))
}

// pickSome reads len(out) of n numbers, starting with the i-th.
func pickSome(src []byte, i, n int, out []uint32) bool {
	p, ok := layout(src, n)
	if !ok {
		return false
	}
	for k := range out {
		out[k] = lowAt(src, p.low, (i+k)*p.width, p.width)
	}
	at := uint64(0)
	for exc := src[p.high:p.end]; len(exc) > 0; {
		gap, high, used := exception(exc)
		if used == 0 {
			return false
		}
		if at += gap; gap > uint64(n) || at >= uint64(i+len(out)) {
			return true
		}
		if at >= uint64(i) {
			out[at-uint64(i)] |= uint32(high << p.width)
		}
		exc = exc[used:]
	}
	return true
}

// unpackLow unpacks the lower bits. Eight numbers of w bits are w bytes. Up to 16 bits
// they are read as two words.
func unpackLow(src []byte, out []uint32, width uint, size int) {
	mask := uint64(1)<<width - 1
	i, bit := 0, uint(0)
	if width <= 16 {
		second, shift := int(4*width>>3), 4*width&7
		for ; i+8 <= len(out) && int(bit>>3)+second+8 <= len(src); i += 8 {
			at := src[bit>>3:]
			to := out[i : i+8 : i+8]
			a, b := binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[second:])>>shift
			to[0], to[4] = uint32(a&mask), uint32(b&mask)
			to[1], to[5] = uint32(a>>width&mask), uint32(b>>width&mask)
			to[2], to[6] = uint32(a>>(2*width)&mask), uint32(b>>(2*width)&mask)
			to[3], to[7] = uint32(a>>(3*width)&mask), uint32(b>>(3*width)&mask)
			bit += 8 * width
		}
	}
	// Read eight bytes at a time while the file has that many.
	for ; i < len(out) && int(bit>>3)+8 <= len(src); i++ {
		out[i] = uint32(binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
	for ; i < len(out); i++ {
		var last [8]byte
		copy(last[:], src[bit>>3:size])
		out[i] = uint32(binary.LittleEndian.Uint64(last[:]) >> (bit & 7) & mask)
		bit += width
	}
}
