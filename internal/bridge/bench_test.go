package bridge

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/jsonrpc"
)

// What a bridge adds to a call: both ways through it and through a socket, to
// an owner that answers at once.
func BenchmarkBridge(b *testing.B) {
	for name, size := range map[string]int{"100 B": 100, "16 KiB": 16 << 10} {
		b.Run(name, func(b *testing.B) { benchmarkBridge(b, size) })
	}
}

func benchmarkBridge(b *testing.B, size int) {
	listener, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	text := strings.Repeat("x", size)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		joined := NewJoined(conn)
		defer joined.Close()
		for lines := jsonrpc.NewLineReader(joined); ; {
			if _, err := lines.Next(); err != nil {
				return
			}
			_, _ = io.WriteString(joined, result("1", text)+"\n")
		}
	}()
	conn, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	in, client := io.Pipe()
	clientIn, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Run(context.Background(), conn, Options{
			In: in, Out: out, Log: slog.New(slog.DiscardHandler), Answer: answerForTest,
			Connect: func(context.Context) (io.ReadWriteCloser, error) { return nil, ErrNobody },
		})
	}()
	request := []byte(call("1") + "\n")
	answers := bufio.NewReaderSize(clientIn, 64<<10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := answers.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	_ = client.Close()
	<-ended
}
