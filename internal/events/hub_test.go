package events_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/events"
	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var (
	admin = gateway.Identity{ClientID: "admin", Admin: true}
	alice = gateway.Identity{ClientID: "alice"}
	bob   = gateway.Identity{ClientID: "bob"}
)

type number struct {
	N int `json:"n"`
}

func publish(h *events.Hub, from, to int) {
	for n := from; n <= to; n++ {
		h.Publish(events.Event{Topic: events.Tools, Name: "tools.changed", Data: number{n}})
	}
}

// read returns all that is ready, in short.
func read(t *testing.T, s *events.Subscriber) string {
	t.Helper()
	var all []string
	for _, m := range s.Next(1 << 20) {
		var e struct {
			ID, Topic, Name, Client string
			Time                    time.Time
			Data                    json.RawMessage
		}
		if err := json.Unmarshal(m.Data, &e); err != nil || e.ID != m.ID || e.Name != m.Name || e.Time.IsZero() || strings.Contains(string(m.Data), "\n") {
			t.Errorf("%v: %+v", err, m)
		}
		_, number, _ := strings.Cut(e.ID, "-")
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", number, e.Name, e.Data, e.Client)))
	}
	return strings.Join(all, "; ")
}

func want(t *testing.T, s *events.Subscriber, text string) {
	t.Helper()
	if got := read(t, s); got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
}

func TestReadersGetWhatFollows(t *testing.T) {
	t.Parallel()
	h := events.NewHub(8)
	publish(h, 1, 2)
	s := h.Subscribe(alice, events.Topics(), "")
	want(t, s, "")
	publish(h, 3, 4)
	want(t, s, `3 tools.changed {"n":3}; 4 tools.changed {"n":4}`)
	want(t, s, "")
}

func TestResume(t *testing.T) {
	t.Parallel()
	h := events.NewHub(8)
	begin := h.Subscribe(alice, events.Topics(), "").Position()
	publish(h, 1, 3)
	want(t, h.Subscribe(alice, events.Topics(), begin), `1 tools.changed {"n":1}; 2 tools.changed {"n":2}; 3 tools.changed {"n":3}`)
	s := h.Subscribe(alice, events.Topics(), begin)
	first := s.Next(1)
	if len(first) != 1 || s.Position() != first[0].ID {
		t.Fatalf("one at a time: %v, position %s", first, s.Position())
	}
	want(t, h.Subscribe(alice, events.Topics(), first[0].ID), `2 tools.changed {"n":2}; 3 tools.changed {"n":3}`)
	publish(h, 4, 8)
	want(t, h.Subscribe(alice, []events.Topic{events.Calls}, begin), "")
	// The ring has 2 to 9 now: the first of those that follow is gone.
	publish(h, 9, 9)
	s = h.Subscribe(alice, events.Topics(), begin)
	want(t, s, `9 dropped {"missed":9}`)
	publish(h, 10, 10)
	want(t, s, `10 tools.changed {"n":10}`)
	want(t, h.Subscribe(alice, events.Topics(), first[0].ID), `10 dropped {"missed":9}`)
}

func TestAReaderThatIsLappedIsTold(t *testing.T) {
	t.Parallel()
	h := events.NewHub(8)
	s := h.Subscribe(alice, events.Topics(), "")
	publish(h, 1, 8)
	if got := s.Next(1); len(got) != 1 {
		t.Fatalf("got %v", got)
	}
	publish(h, 9, 9)
	want(t, h.Subscribe(alice, events.Topics(), s.Position()), `2 tools.changed {"n":2}; 3 tools.changed {"n":3}; 4 tools.changed {"n":4}; `+
		`5 tools.changed {"n":5}; 6 tools.changed {"n":6}; 7 tools.changed {"n":7}; 8 tools.changed {"n":8}; 9 tools.changed {"n":9}`)
	publish(h, 10, 10)
	want(t, s, `10 dropped {"missed":9}`)
	publish(h, 11, 11)
	want(t, s, `11 tools.changed {"n":11}`)
}

func TestAnIDOfAnotherProcessIsToldAsUnknown(t *testing.T) {
	t.Parallel()
	other, h := events.NewHub(8), events.NewHub(8)
	publish(other, 1, 3)
	for _, after := range []string{
		other.Subscribe(alice, nil, "").Position(), "what", "-", "7", strings.Repeat("x", 1000),
		strings.TrimSuffix(h.Subscribe(alice, nil, "").Position(), "0") + "99", // not yet there
	} {
		s := h.Subscribe(alice, events.Topics(), after)
		select {
		case <-s.Ready():
		default:
			t.Errorf("%s: not ready", after)
		}
		want(t, s, `0 dropped {"missed":-1}`)
		want(t, s, "")
	}
	publish(h, 1, 1)
	want(t, h.Subscribe(alice, events.Topics(), "what"), `1 dropped {"missed":-1}`)
}

// uses says which servers a reader may use.
func uses(servers ...string) func(string) bool {
	return func(server string) bool { return slices.Contains(servers, server) }
}

func TestNobodySeesTheEventsOfOthers(t *testing.T) {
	t.Parallel()
	h := events.NewHub(8)
	readers := map[*events.Subscriber]string{
		h.Subscribe(alice, events.Topics(), ""):                         `1 call {"n":1} alice; 3 tools {"n":3}`,
		h.Subscribe(bob, events.Topics(), ""):                           `2 call {"n":2} bob; 3 tools {"n":3}`,
		h.Subscribe(gateway.Identity{}, events.Topics(), ""):            `3 tools {"n":3}`,
		h.Subscribe(admin, events.Topics(), ""):                         `1 call {"n":1} alice; 2 call {"n":2} bob; 3 tools {"n":3}; 4 config {"n":4}`,
		h.Subscribe(admin, []events.Topic{events.Config}, ""):           `4 config {"n":4}`,
		h.Subscribe(alice, []events.Topic{events.Config}, ""):           ``,
		h.Subscribe(alice, events.Topics(), "").Only(uses("b")):         `1 call {"n":1} alice`,
		h.Subscribe(bob, events.Topics(), "").Only(uses("a", "b")):      `2 call {"n":2} bob; 3 tools {"n":3}`,
		h.Subscribe(alice, []events.Topic{events.Calls}, ""):            `1 call {"n":1} alice`,
		h.Subscribe(gateway.Identity{Admin: true}, events.Topics(), ""): `1 call {"n":1} alice; 2 call {"n":2} bob; 3 tools {"n":3}; 4 config {"n":4}`,
	}
	h.Publish(events.Event{Topic: events.Calls, Name: "call", Client: "alice", Data: number{1}})
	h.Publish(events.Event{Topic: events.Calls, Name: "call", Client: "bob", Data: number{2}})
	h.Publish(events.Event{Topic: events.Tools, Name: "tools", Server: "a", Data: number{3}})
	h.Publish(events.Event{Topic: events.Config, Name: "config", Data: events.ForAdmins(number{4})})
	for s, text := range readers {
		want(t, s, text)
		if !strings.HasSuffix(s.Position(), "-4") {
			t.Errorf("hidden events are passed, too: %s", s.Position())
		}
	}
}

// counted counts how often it is encoded.
type counted struct{ times, forReaders *atomic.Int32 }

func (c counted) MarshalJSON() ([]byte, error) {
	c.times.Add(1)
	return []byte(`"whole"`), nil
}

func (c counted) ForReader(who events.Reader) any {
	c.forReaders.Add(1)
	if who.Language == "ja" {
		return "部分"
	}
	if who.Admin {
		return c
	}
	return "part"
}

func TestAnEventIsEncodedOnceForEachKindOfReader(t *testing.T) {
	t.Parallel()
	h := events.NewHub(8)
	var plain, special, asked atomic.Int32
	begin := h.Subscribe(alice, nil, "").Position()
	h.Publish(events.Event{Topic: events.Tools, Name: "a", Data: struct{ C json.Marshaler }{counted{&plain, &asked}}})
	h.Publish(events.Event{Topic: events.Tools, Name: "b", Data: counted{&special, &asked}})
	if plain.Load() != 0 || asked.Load() != 0 {
		t.Error("Publish encodes")
	}
	var readers sync.WaitGroup
	for range 20 {
		for _, who := range []gateway.Identity{alice, bob, admin} {
			readers.Go(func() {
				b := `"part"`
				if who.Admin {
					b = `"whole"`
				}
				want(t, h.Subscribe(who, events.Topics(), begin), `1 a {"C":"whole"}; 2 b `+b)
				want(t, h.Subscribe(who, events.Topics(), begin).In("ja"), `1 a {"C":"whole"}; 2 b "部分"`)
			})
		}
	}
	readers.Wait()
	if plain.Load() != 1 || special.Load() != 1 || asked.Load() != 4 {
		t.Errorf("encoded %d and %d times, ForReader was called %d times", plain.Load(), special.Load(), asked.Load())
	}
}

func TestDataThatCannotBeEncodedIsLeftOut(t *testing.T) {
	t.Parallel()
	h := events.NewHub(8)
	s := h.Subscribe(alice, events.Topics(), "")
	h.Publish(events.Event{Topic: events.Tools, Name: "a", Data: func() {}})
	h.Publish(events.Event{Topic: events.Tools, Name: "b"})
	want(t, s, "1 a; 2 b")
}

func TestReadersAreWokenTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := events.NewHub(8)
		began := time.Now()
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				s := h.Subscribe(alice, events.Topics(), "")
				<-s.Ready()
				want(t, s, `1 tools.changed {"n":1}; 2 tools.changed {"n":2}`)
				if took := time.Since(began); took > 200*time.Millisecond {
					t.Errorf("woken after %s", took)
				}
				<-s.Ready()
				want(t, s, `3 tools.changed {"n":3}`)
			})
		}
		synctest.Wait()
		publish(h, 1, 2)
		time.Sleep(time.Second)
		publish(h, 3, 3)
		readers.Wait()
	})
}

// An event that nobody follows need not be made. Whoever resumes from before it is told.
func TestEventsThatNobodyFollowsAreSkipped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := events.NewHub(8)
		if h.Followed() {
			t.Error("nobody has read yet")
		}
		s := h.Subscribe(admin, []events.Topic{events.Workflows}, "")
		before := s.Position()
		time.Sleep(50 * time.Second)
		s.Next(1)
		time.Sleep(50 * time.Second)
		if !h.Followed() {
			t.Error("somebody has read less than a minute ago")
		}
		time.Sleep(time.Minute)
		if h.Followed() {
			t.Error("nobody has read for a minute")
		}
		for range 20 {
			h.Skip(events.Workflows)
		}
		publish(h, 1, 1)
		want(t, h.Subscribe(admin, []events.Topic{events.Tools}, before), `2 tools.changed {"n":1}`)
		s = h.Subscribe(admin, events.Topics(), before)
		want(t, s, `2 dropped {"missed":-1}`)
		publish(h, 2, 2)
		want(t, s, `3 tools.changed {"n":2}`)
		want(t, h.Subscribe(admin, events.Topics(), strings.TrimSuffix(before, "0")+"1"), `2 tools.changed {"n":1}; 3 tools.changed {"n":2}`)
		for range 2 {
			time.Sleep(2 * time.Minute)
			h.Skip(events.Workflows)
			if got := read(t, s); !strings.HasSuffix(got, `dropped {"missed":-1}`) {
				t.Errorf("a reader that comes back late is not told: %q", got)
			}
		}
	})
}

// It is not parallel, because it counts allocations.
func TestSkippingAllocatesNothing(t *testing.T) {
	h := events.NewHub(8)
	if n := testing.AllocsPerRun(100, func() {
		if !h.Followed() {
			h.Skip(events.Workflows)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestANilHubIgnoresEvents(t *testing.T) {
	t.Parallel()
	var h *events.Hub
	h.Publish(events.Event{})
}

// Readers at work while others publish get each event once and in order, or are told
// how many they missed.
func TestNothingIsSkippedSilently(t *testing.T) {
	t.Parallel()
	h := events.NewHub(64)
	total := testkit.Count(20_000, 200_000)
	var readers sync.WaitGroup
	for range 4 {
		s := h.Subscribe(alice, events.Topics(), "")
		readers.Go(func() {
			for seen := 0; seen < total; {
				<-s.Ready()
				for _, m := range s.Next(2000) {
					var e struct{ Data struct{ N, Missed int } }
					if err := json.Unmarshal(m.Data, &e); err != nil {
						t.Error(err)
						return
					}
					if m.Name == events.Dropped {
						seen += e.Data.Missed
					} else if seen++; e.Data.N != seen {
						t.Errorf("got %d, want %d", e.Data.N, seen)
						return
					}
				}
			}
		})
	}
	publish(h, 1, total)
	readers.Wait()
}

func BenchmarkPublish(b *testing.B) {
	for _, count := range []int{0, 1, 50} {
		b.Run(fmt.Sprintf("%d subscribers", count), func(b *testing.B) {
			h := events.NewHub(events.Size)
			done := make(chan struct{})
			var readers sync.WaitGroup
			for range count {
				s := h.Subscribe(alice, events.Topics(), "")
				readers.Go(func() {
					for {
						select {
						case <-s.Ready():
							s.Next(64 << 10)
						case <-done:
							return
						}
					}
				})
			}
			b.ReportAllocs()
			for n := range b.N {
				h.Publish(events.Event{Topic: events.Calls, Name: "call.ended", Client: "alice", Data: number{n}})
			}
			b.StopTimer()
			close(done)
			readers.Wait()
		})
	}
}
