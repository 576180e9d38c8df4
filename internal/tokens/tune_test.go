package tokens

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

// TestTune measures the weights on the texts of a folder, whose name is in
// GENKAN_TUNE_TOKENS. Each folder in it counts alike, whatever the size of its texts.
func TestTune(t *testing.T) {
	dir := os.Getenv("GENKAN_TUNE_TOKENS")
	if dir == "" {
		t.Skip("GENKAN_TUNE_TOKENS names no folder with texts")
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	folders, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var seen, begun [1 << 16]float64
	for _, folder := range folders {
		var bytes float64
		var s, b [1 << 16]float64
		err := filepath.WalkDir(filepath.Join(dir, folder.Name()), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			_, parts, err := codec.Encode(string(text))
			if err != nil {
				return err
			}
			begins := make([]bool, len(text)+1)
			at := 0
			for _, part := range parts {
				begins[at] = true
				at += len(part)
			}
			if at != len(text) {
				t.Logf("%s: the tokens have %d bytes of %d", path, at, len(text))
				return nil
			}
			bytes += float64(len(text))
			context := uint16(lineEnd<<4 | lineEnd)
			for i := range text {
				context = context<<4 | uint16(classes[text[i]])
				next := uint16(lineEnd)
				if i+1 < len(text) {
					next = uint16(classes[text[i+1]])
				}
				s[context<<4|next]++
				if begins[i] {
					b[context<<4|next]++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for c := range s {
			seen[c] += s[c] / bytes * 1e6
			begun[c] += b[c] / bytes * 1e6
		}
	}
	// A context that was seen rarely leans on what is known without its first class,
	// and that on what is known without the last one.
	var seen3, begun3 [1 << 12]float64
	var seen2, begun2 [1 << 8]float64
	for c := range seen {
		seen3[c&0xfff] += seen[c]
		begun3[c&0xfff] += begun[c]
		seen2[c>>4&0xff] += seen[c]
		begun2[c>>4&0xff] += begun[c]
	}
	const lean = 30
	out := make([]byte, 1<<16)
	for c := range out {
		p2 := (begun2[c>>4&0xff] + .5*lean) / (seen2[c>>4&0xff] + lean)
		p3 := (begun3[c&0xfff] + p2*lean) / (seen3[c&0xfff] + lean)
		p := (begun[c] + p3*lean) / (seen[c] + lean)
		out[c] = byte(p*unit + .5)
	}
	if err := os.WriteFile("weights.bin", out, 0o644); err != nil {
		t.Fatal(err)
	}
}
