package mcpserver

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/testkit"
)

// TestQuotaReads bodies of every size that matters, whole, whether they say how
// long they are or not, and whatever pieces they come in.
func TestQuotaReads(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, firstQuota - 1, firstQuota, firstQuota + 1, 2 * firstQuota, 2*firstQuota + 1, testkit.Count(5, 48)*firstQuota + 7} {
		text := strings.Repeat("0123456789abcdef", size/16+1)[:size]
		for _, known := range []bool{true, false} {
			for pieces, body := range map[string]io.Reader{
				"at once": strings.NewReader(text), "in halves": iotest.HalfReader(strings.NewReader(text)), "with the end": iotest.DataErrReader(strings.NewReader(text)),
			} {
				t.Run(fmt.Sprintf("%d %t %s", size, known, pieces), func(t *testing.T) {
					length := int64(-1)
					if known {
						length = int64(size)
					}
					budget := gateway.NewShares(64 << 20)
					r := &quota{account: account{budget, "client"}}
					got, err := r.read(body, length)
					if err != nil || string(got) != text {
						t.Fatalf("%d bytes, %v", len(got), err)
					}
					if used := budget.Used(); used < int64(size) || used > 2*int64(size)+firstQuota {
						t.Errorf("%d bytes are counted for it", used)
					}
					r.release()
					if budget.Used() != 0 {
						t.Errorf("%d bytes are left", budget.Used())
					}
				})
			}
		}
	}
}

// endless reads as many bytes as are asked for.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestQuotaRefuses: bodies that are too large, too short or exceed the share are
// refused, and the reserved bytes are released.
func TestQuotaRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sent   int
		length int64
		limit  int64
		want   error
	}{
		"claims too much":      {0, jsonrpc.MaxMessage + 1, 1 << 30, jsonrpc.ErrTooLarge},
		"sends too much":       {jsonrpc.MaxMessage + 1, -1, 1 << 30, jsonrpc.ErrTooLarge},
		"ends early":           {10, 20, 1 << 30, io.ErrUnexpectedEOF},
		"ends early, large":    {100_000, 200_000, 1 << 30, io.ErrUnexpectedEOF},
		"no room":              {10, 10, 5, gateway.ErrShareUsedUp},
		"no room for more":     {200_000, 200_000, 100_000, gateway.ErrShareUsedUp},
		"no room, in chunks":   {10, -1, 5, gateway.ErrShareUsedUp},
		"no room while coming": {200_000, -1, 100_000, gateway.ErrShareUsedUp},
	} {
		if c.sent > 1<<20 && !testkit.Full() {
			continue // TestOversized sends as much
		}
		t.Run(name, func(t *testing.T) {
			budget := gateway.NewShares(c.limit)
			r := &quota{account: account{budget, "client"}}
			if got, err := r.read(io.LimitReader(endless{}, int64(c.sent)), c.length); !errors.Is(err, c.want) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			r.release()
			if budget.Used() != 0 {
				t.Errorf("%d bytes are left", budget.Used())
			}
		})
	}
}
