package tokens

import (
	"os"
	"testing"
)

func BenchmarkCount(b *testing.B) {
	text, err := os.ReadFile("../../docs/ARCHITECTURE.md")
	if err != nil {
		b.Fatal(err)
	}
	for len(text) < 1<<20 {
		text = append(text, text...)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Count(text)
	}
}

func BenchmarkEstimate(b *testing.B) {
	text := make([]byte, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		Estimate(text)
	}
}
