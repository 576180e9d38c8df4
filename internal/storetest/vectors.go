package storetest

import (
	"math"
	"testing"

	"genkan/internal/embed"
)

func testVectors(t *testing.T, s Stores) {
	find := func(s Stores, keys ...embed.Key) map[embed.Key][]float32 {
		t.Helper()
		found, err := s.Vectors.Vectors(t.Context(), keys)
		must(t, err)
		return found
	}
	a, b, c := embed.Key{1}, embed.Key{2}, embed.Key{0, 3}
	wantEqual(t, find(s, a, b), map[embed.Key][]float32{})
	before := sequenceOf(t, s)
	va, vb := []float32{.25, -1, math.SmallestNonzeroFloat32, math.MaxFloat32}, []float32{1}
	must(t, s.Vectors.SaveVectors(t.Context(), map[embed.Key][]float32{a: va, b: vb}, 10))
	wantEqual(t, find(s, a, b, c), map[embed.Key][]float32{a: va, b: vb})
	wantEqual(t, find(s.Another(t), b), map[embed.Key][]float32{b: vb})
	if sequenceOf(t, s) != before {
		t.Error("vectors moved the change sequence, and made every cache look again")
	}
	// Another one in its place, and no more than may be.
	must(t, s.Vectors.SaveVectors(t.Context(), map[embed.Key][]float32{a: vb}, 10))
	wantEqual(t, find(s, a), map[embed.Key][]float32{a: vb})
	must(t, s.Vectors.SaveVectors(t.Context(), map[embed.Key][]float32{c: va}, 1))
	if left := find(s, a, b, c); len(left) != 1 {
		t.Errorf("%d are left of 1", len(left))
	}
}
