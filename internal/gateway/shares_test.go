package gateway_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"genkan/internal/gateway"
)

// greed takes units one by one until there are no more to be had.
func greed(s *gateway.Shares, client string) (got int64) {
	for s.Take(client, 1) {
		got++
	}
	return got
}

// One greedy client gets three quarters, and n of them together never all.
func TestAGreedyClientLeavesSomethingForOthers(t *testing.T) {
	s := gateway.NewShares(1000)
	if got := greed(s, "first"); got != 750 {
		t.Errorf("the first client got %d of 1000", got)
	}
	if got := greed(s, "second"); got < 150 {
		t.Errorf("beside it, the second got %d", got)
	}
	if !s.Take("third", 1) || !s.Take("fourth", 1) {
		t.Error("nothing is left for others")
	}
	if s.Used() != s.Held("first")+s.Held("second")+2 || s.Used() > 1000 {
		t.Errorf("%d of 1000 are used", s.Used())
	}
}

// Clients that come and go in any order converge to equal shares.
func TestGreedyClientsConvergeToEqualShares(t *testing.T) {
	s := gateway.NewShares(1000)
	clients := []string{"a", "b", "c"}
	for _, c := range clients {
		greed(s, c)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		c := clients[random.IntN(len(clients))]
		if s.Held(c) > 0 {
			s.Give(c, 1)
		}
		for _, d := range clients {
			s.Take(d, 1)
		}
	}
	for _, c := range clients {
		if held := s.Held(c); held < 280 || held > 320 { // 3/(3·3+1) of 1000
			t.Errorf("client %s holds %d, want about 300", c, held)
		}
	}
}

// However small the whole is, one unit can be had of it, and never more than
// there are.
func TestSharesOfSmallLimits(t *testing.T) {
	for limit := int64(1); limit < 20; limit++ {
		s := gateway.NewShares(limit)
		if got := greed(s, "first"); got < 1 || got > limit || limit >= 4 && got == limit {
			t.Errorf("a client got %d of %d", got, limit)
		}
		for i := range 100 {
			greed(s, fmt.Sprint("other", i))
		}
		if s.Used() > limit {
			t.Errorf("%d of %d are used", s.Used(), limit)
		}
	}
}

// A large piece counts before it is taken, not after.
func TestALargePieceIsNoWayAroundTheShare(t *testing.T) {
	s := gateway.NewShares(1000)
	if s.Take("greedy", 800) || s.Used() != 0 {
		t.Errorf("800 of 1000 at once: %d are used", s.Used())
	}
	if !s.Take("greedy", 750) || s.Take("greedy", 10) {
		t.Error("750 of 1000 are a client's share, and no more")
	}
	if s.Take("other", 251) {
		t.Error("more than there is")
	}
}

// What is given back can be had again, and clients that hold nothing are
// forgotten.
func TestSharesAreGivenBack(t *testing.T) {
	s := gateway.NewShares(1000)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			client := fmt.Sprint("client", i)
			for range 200 {
				if s.Take(client, 7) {
					if used := s.Used(); used > 1000 {
						t.Errorf("%d are used", used)
					}
					s.Give(client, 7)
				}
			}
		})
	}
	wg.Wait()
	if s.Used() != 0 || s.Peak() == 0 || s.Peak() > 1000 {
		t.Errorf("%d are used, at most %d were", s.Used(), s.Peak())
	}
	if got := greed(s, "later"); got != 750 {
		t.Errorf("then one got %d", got)
	}
	if clients := s.Clients(); clients > 100 {
		t.Errorf("%d clients are kept", clients)
	}
	var none *gateway.Shares
	if !none.Take("anybody", 1<<60) {
		t.Error("no shares have bounds")
	}
	none.Give("anybody", 1)
}

func BenchmarkShares(b *testing.B) {
	s := gateway.NewShares(1 << 30)
	b.ReportAllocs()
	for b.Loop() {
		s.Take("client", 300)
		s.Give("client", 300)
	}
}
