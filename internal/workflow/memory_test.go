package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"genkan/internal/gateway"
)

// NewMemory makes a Store in memory.
func NewMemory(testing.TB) Store { return newMemory() }

// memory is a Store in memory.
type memory struct {
	mu        sync.Mutex
	workflows map[string][]*Definition
	// drafts are those that versions are steps of, and enabled when versions were enabled.
	drafts  map[*Definition]string
	enabled map[*Definition]Millis
	running map[string]int
	ran     map[string]int
	modules map[string][]Module
	tests   map[string]map[string]Test
	off     Switch
}

func (m *memory) Switch(context.Context) (Switch, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.off, nil
}

func (m *memory) PutSwitch(_ context.Context, s Switch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.off = s
	return nil
}

func newMemory() *memory {
	return &memory{workflows: map[string][]*Definition{}, drafts: map[*Definition]string{}, enabled: map[*Definition]Millis{}, running: map[string]int{}, ran: map[string]int{}, modules: map[string][]Module{}, tests: map[string]map[string]Test{}}
}

func (m *memory) Workflows(ctx context.Context) (all []Stored, err error) {
	if ctx.Err() != nil {
		return nil, gateway.AsError(ctx.Err())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(m.workflows)) {
		versions := m.workflows[id]
		all = append(all, m.stored(versions[len(versions)-1]))
	}
	return all, nil
}

// copied is what somebody else reads.
func copied(d *Definition) *Definition {
	raw, err := d.MarshalJSON()
	again := &Definition{}
	if err == nil {
		err = json.Unmarshal(raw, again)
	}
	if err != nil {
		panic(err)
	}
	return again
}

// version finds one of several versions; 0 is the last.
func version[T any](all []T, n int, otherwise error) (found T, err error) {
	if n = cmp.Or(n, len(all)); n < 1 || n > len(all) {
		return found, otherwise
	}
	return all[n-1], nil
}

func (m *memory) Workflow(_ context.Context, id string, n int) (Stored, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.find(id, n)
	if d == nil {
		return Stored{}, NoWorkflow(id, n)
	}
	return m.stored(d), nil
}

func (m *memory) stored(d *Definition) Stored {
	return Stored{Definition: copied(d), Running: m.running[d.ID], Ran: m.ran[d.ID], Draft: m.drafts[d]}
}

// find returns a version of a workflow, nil if there is none; 0 is the newest.
func (m *memory) find(id string, n int) *Definition {
	all := m.workflows[id]
	for i := len(all) - 1; i >= 0; i-- {
		if n == 0 || all[i].Version == n {
			return all[i]
		}
	}
	return nil
}

func (m *memory) Versions(_ context.Context, id string) (all []Version, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.workflows[id] {
		all = append(all, Version{copied(d), m.enabled[d]})
	}
	slices.Reverse(all)
	return all, nil
}

func (m *memory) PutWorkflow(_ context.Context, d *Definition, draft string, base Millis, tests ...Test) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, newest := m.workflows[d.ID], &Definition{}
	if n := len(all); n > 0 {
		newest = all[n-1]
	}
	again := d.Version == newest.Version && draft != "" && draft == m.drafts[newest]
	if newest.UpdatedAt != base || d.Version != newest.Version+1 && !again {
		return ChangedMeanwhile(d.ID, d.Version)
	}
	if again {
		all = all[:len(all)-1]
	}
	made := copied(d)
	m.workflows[d.ID], m.drafts[made] = append(all, made), draft
	m.putTests(d.ID, tests)
	return nil
}

func (m *memory) RunWorkflow(_ context.Context, id string, n int, at Millis) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.find(id, n)
	if d == nil {
		return NoWorkflow(id, n)
	}
	if n != 0 {
		if at != 0 && at != d.UpdatedAt {
			return SavedAgain(id, n)
		}
		delete(m.drafts, d)
		m.enabled[d] = Millis(time.Now().UnixMilli())
		m.ran[id] = n
	}
	m.running[id] = n
	return nil
}

func (m *memory) DeleteWorkflow(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.workflows[id] == nil {
		return NoWorkflow(id, 0)
	}
	delete(m.workflows, id)
	delete(m.running, id)
	delete(m.ran, id)
	delete(m.tests, id)
	return nil
}

func (m *memory) Tests(_ context.Context, id string) (all []Test, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, test := range slices.Sorted(maps.Keys(m.tests[id])) {
		all = append(all, m.tests[id][test])
	}
	return all, nil
}

func (m *memory) PutTests(_ context.Context, id string, tests []Test) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.workflows[id] == nil {
		return NoWorkflow(id, 0)
	}
	m.putTests(id, tests)
	return nil
}

func (m *memory) putTests(id string, tests []Test) {
	if m.tests[id] == nil {
		m.tests[id] = map[string]Test{}
	}
	for _, t := range tests {
		m.tests[id][t.ID] = t
	}
}

func (m *memory) DeleteTest(_ context.Context, id, test string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.tests[id][test]; !ok {
		return NoTest(id, test)
	}
	delete(m.tests[id], test)
	return nil
}

func (m *memory) Modules(context.Context) (all []Module, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(m.modules)) {
		versions := m.modules[id]
		all = append(all, versions[len(versions)-1])
	}
	return all, nil
}

func (m *memory) Module(_ context.Context, id string, n int) (Module, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return version(m.modules[id], n, NoModule(id, n))
}

func (m *memory) PutModule(_ context.Context, module Module) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if module.Version != len(m.modules[module.ID])+1 {
		return ChangedMeanwhile(module.ID, module.Version)
	}
	m.modules[module.ID] = append(m.modules[module.ID], module)
	return nil
}

func (m *memory) DeleteModule(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.modules[id] == nil {
		return NoModule(id, 0)
	}
	delete(m.modules, id)
	return nil
}
