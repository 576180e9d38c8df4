package jsonrpc

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func request(size int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"server__echo","arguments":{"text":%q,"items":[%s{"n":1.5}]},"_meta":{"progressToken":3}}}`,
		strings.Repeat("lorem ipsum dolor ", size/36), strings.Repeat(`{"id":123,"name":"some name","ok":true},`, size/80))
}

func BenchmarkScan(b *testing.B) {
	for _, size := range []int{256, 16 << 10, 1 << 20} {
		data := request(size)
		b.Run(fmt.Sprintf("%d", size), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Scan(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d/encoding-json-valid", size), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if !json.Valid(data) {
					b.Fatal("invalid")
				}
			}
		})
	}
}
