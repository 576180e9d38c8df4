package storetest

import (
	"sync"
	"testing"

	"genkan/internal/config"
	"genkan/internal/gateway"
)

func keptOf(t testing.TB, s Stores) []config.StoredServer {
	t.Helper()
	all, err := s.Servers.StoredServers(t.Context())
	must(t, err)
	return all
}

// keep puts a server in the place of whatever has its name.
func keep(t testing.TB, s Stores, one config.StoredServer) {
	t.Helper()
	must(t, s.Servers.ChangeStoredServer(t.Context(), one.Name, func(*config.StoredServer) (*config.StoredServer, error) { return &one, nil }))
}

func testServers(t *testing.T, s Stores) {
	if all := keptOf(t, s); len(all) != 0 {
		t.Fatalf("a new store has servers: %v", all)
	}
	second := config.StoredServer{Name: "second", Definition: []byte(`{"command":"npx","args":["-y","日本語 'x'"]}`), Secrets: []string{"second.KEY", "second.url"}}
	first := config.StoredServer{Name: "first", Definition: []byte(`{"url":"http://127.0.0.1/mcp"}`)}
	before := sequenceOf(t, s)
	keep(t, s, second)
	keep(t, s, first)
	if after := sequenceOf(t, s); after <= before {
		t.Errorf("the change sequence stayed at %d", after)
	}
	wantEqual(t, keptOf(t, s), []config.StoredServer{second, first}) // as they were added
	wantEqual(t, keptOf(t, s.Another(t)), []config.StoredServer{second, first})

	// A change begins with what is there, and keeps the place.
	changed := config.StoredServer{Name: "second", Definition: []byte(`{"command":"uvx","timeout":1.50}`)}
	must(t, s.Servers.ChangeStoredServer(t.Context(), "second", func(was *config.StoredServer) (*config.StoredServer, error) {
		wantEqual(t, *was, second)
		return &changed, nil
	}))
	wantEqual(t, keptOf(t, s), []config.StoredServer{changed, first})

	remove := func(was *config.StoredServer) (*config.StoredServer, error) { return nil, nil } //nolint:nilnil // nothing is to be there
	must(t, s.Servers.ChangeStoredServer(t.Context(), "second", remove))
	must(t, s.Servers.ChangeStoredServer(t.Context(), "nobody", func(was *config.StoredServer) (*config.StoredServer, error) {
		if was != nil {
			t.Errorf("nobody is %v", was)
		}
		return remove(was)
	}))
	wantEqual(t, keptOf(t, s), []config.StoredServer{first})
}

func testServerNames(t *testing.T, s Stores) {
	var want []config.StoredServer
	for _, name := range oddNames() {
		one := config.StoredServer{Name: name, Definition: []byte(`{}`), Secrets: []string{name}}
		want = append(want, one)
		keep(t, s, one)
	}
	wantEqual(t, keptOf(t, s), want)
}

func testServerRefused(t *testing.T, s Stores) {
	one := config.StoredServer{Name: "one", Definition: []byte(`{}`)}
	keep(t, s, one)
	before := sequenceOf(t, s)
	err := s.Servers.ChangeStoredServer(t.Context(), "one", func(*config.StoredServer) (*config.StoredServer, error) {
		return nil, gateway.Errorf(gateway.CodeConflict, "no")
	})
	wantCode(t, err, gateway.CodeConflict)
	wantEqual(t, keptOf(t, s), []config.StoredServer{one})
	if after := sequenceOf(t, s); after != before {
		t.Errorf("what changed nothing moved the change sequence from %d to %d", before, after)
	}
}

// testServersAtOnce has two handles add one name; one of them is told that it is
// taken.
func testServersAtOnce(t *testing.T, one Stores) {
	var wg sync.WaitGroup
	refused := make(chan error, 2)
	for _, s := range []Stores{one, one.Another(t)} {
		wg.Go(func() {
			refused <- s.Servers.ChangeStoredServer(t.Context(), "one", func(was *config.StoredServer) (*config.StoredServer, error) {
				if was != nil {
					return nil, gateway.Errorf(gateway.CodeConflict, "taken")
				}
				return &config.StoredServer{Name: "one", Definition: []byte(`{}`)}, nil
			})
		})
	}
	wg.Wait()
	if a, b := <-refused, <-refused; (a == nil) == (b == nil) {
		t.Errorf("both or none: %v, %v", a, b)
	}
}
