package app

import (
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// A second gateway on one data directory does not take the command line away
// from the first one, neither while it serves nor when it goes.
func TestASecondGatewayLeavesTheAddressAlone(t *testing.T) {
	t.Parallel()
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	dir := t.TempDir()
	written := Address{Listen: first.Addr().String(), PID: 1}
	if err := written.write(dir); err != nil {
		t.Fatal(err)
	}
	log := &testkit.Buffer{}
	serveOnce(t, dir, log)
	if now, err := ReadAddress(dir); err != nil || now != written {
		t.Errorf("the address is %+v, %v", now, err)
	}
	testkit.Eventually(t, func() bool {
		return strings.Contains(log.String(), "another genkan serves this data directory: both start servers")
	}, "nobody was warned")

	// One that is long gone is in nobody's way.
	_ = first.Close()
	serveOnce(t, dir, io.Discard)
	if _, err := ReadAddress(dir); err == nil {
		t.Error("the address of a gateway that has ended is still there")
	}
}

// serveOnce starts a gateway and stops it when it has written down its address,
// or has seen that another one serves.
func serveOnce(t *testing.T, dir string, log io.Writer) {
	t.Helper()
	p, err := Open(context.Background(), Options{
		DataDir: dir, Log: slog.New(slog.NewTextHandler(log, nil)), Version: "test",
		LookupEnv: func(string) (string, bool) { return "", false },
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx, l) }()
	testkit.Eventually(t, func() bool {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			_ = c.Close()
		}
		a, addressErr := ReadAddress(dir)
		return err == nil && addressErr == nil && (a.Listen == l.Addr().String() || a.PID == 1)
	}, "the gateway does not serve")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
