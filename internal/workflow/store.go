package workflow

import (
	"context"
	"encoding/json"

	"genkan/internal/gateway"
)

// Store keeps workflows and hook modules, with all their versions. What may be stored is
// decided by Library. The error for what does not exist has CodeNotFound.
type Store interface {
	// Workflows returns the newest version of each workflow.
	Workflows(ctx context.Context) ([]Stored, error)
	// Workflow returns a version of a workflow; 0 is the newest.
	Workflow(ctx context.Context, id string, version int) (Stored, error)
	// Versions returns all versions of a workflow, the newest first; none for a workflow
	// that does not exist.
	Versions(ctx context.Context, id string) ([]Version, error)
	// PutWorkflow adds a version, or saves the newest again. base is when the newest was
	// saved, and 0 if there is none. The number of an added version is the one after the
	// newest. The newest is saved again only if it is a step of the same draft; an empty
	// draft is none. Otherwise the error has CodeConflict. The tests are added as by
	// PutTests; all of it is stored or nothing.
	PutWorkflow(ctx context.Context, d *Definition, draft string, base Millis, tests ...Test) error
	// RunWorkflow says which version runs; 0 is none. The error has CodeConflict if the
	// version was saved at another time than at; 0 is any. A version that has run is no
	// step of a draft any more.
	RunWorkflow(ctx context.Context, id string, version int, at Millis) error
	// DeleteWorkflow removes all versions and tests.
	DeleteWorkflow(ctx context.Context, id string) error

	// Switch returns whether workflows run at all, and PutSwitch changes that.
	Switch(ctx context.Context) (Switch, error)
	PutSwitch(ctx context.Context, s Switch) error

	// Tests returns the tests of a workflow, by their ids; none for a workflow that does
	// not exist.
	Tests(ctx context.Context, workflow string) ([]Test, error)
	// PutTests adds tests to a workflow, and replaces those with the same ids.
	PutTests(ctx context.Context, workflow string, tests []Test) error
	DeleteTest(ctx context.Context, workflow, id string) error

	// Modules, Module, PutModule and DeleteModule are the same for hook modules.
	Modules(ctx context.Context) ([]Module, error)
	Module(ctx context.Context, id string, version int) (Module, error)
	PutModule(ctx context.Context, m Module) error
	DeleteModule(ctx context.Context, id string) error
}

// Stored is a version of a workflow.
type Stored struct {
	*Definition
	// Running is the version that is enabled; 0 if the workflow is not.
	Running int
	// Ran is the version that was enabled last, whether it still is or not; 0 if none ever
	// was.
	Ran int
	// Draft is the draft that the version is a step of; empty for none, and once the
	// version has run.
	Draft string
	// File is the file that the workflow is written in, and that alone can change it;
	// empty if it is in the database.
	File string
}

// Version is a version of a workflow, and when it was enabled last; 0 if it never was, or if
// nobody knows it.
type Version struct {
	*Definition
	EnabledAt Millis
}

// Base names what a change was made to: a version, and when that was saved, because the
// steps of a draft have one number. The zero value is a workflow that does not exist yet.
type Base struct {
	Version int
	// At is 0 if any save of the version is meant.
	At Millis
}

// Base is what a change of the version is made to.
func (s *Stored) Base() Base { return Base{s.Version, s.UpdatedAt} }

// Is reports whether a version is what the change was made to.
func (b Base) Is(s *Stored) bool {
	return b.Version == s.Version && (b.At == 0 || b.At == s.UpdatedAt)
}

// Phase is whether a workflow runs.
type Phase string

// The phases.
const (
	// PhaseActive and PhaseShadow are those of a workflow that is enabled, by its mode.
	PhaseActive Phase = "active"
	PhaseShadow Phase = "shadow"
	// PhaseStopped is that of a workflow that was enabled before.
	PhaseStopped Phase = "stopped"
	// PhaseDraft is that of a workflow that was never enabled.
	PhaseDraft Phase = "draft"
)

// Phase returns whether the workflow runs, if mode is that of the version that does.
func (s *Stored) Phase(mode string) Phase {
	switch {
	case s.Running != 0 && mode == shadow:
		return PhaseShadow
	case s.Running != 0:
		return PhaseActive
	case s.Ran != 0:
		return PhaseStopped
	default:
		return PhaseDraft
	}
}

// Switch says whether workflows run at all. The zero value says that they do.
type Switch struct {
	Off bool
	// By is who changed it last, and At when; empty and zero if nobody has.
	By string
	At Millis
}

// Module is a script that several hooks use.
type Module struct {
	ID          string `json:"id"`
	Description string `json:"description,omitempty"`
	Script      string `json:"script"`
	// Params is a JSON Schema of the params that hooks give it, to make a form of;
	// empty if it says nothing about them.
	Params    json.RawMessage `json:"params,omitempty"`
	Version   int             `json:"version"`
	UpdatedAt Millis          `json:"updatedAt"`
}

// NoWorkflow is the error for a version of a workflow that does not exist; 0 is any.
func NoWorkflow(id string, version int) error {
	if version == 0 {
		return gateway.Errorf(gateway.CodeNotFound, "there is no workflow %q", gateway.Short(id))
	}
	return gateway.Errorf(gateway.CodeNotFound, "there is no version %d of workflow %q", version, gateway.Short(id))
}

// NoModule is NoWorkflow for a hook module.
func NoModule(id string, version int) error {
	if version == 0 {
		return gateway.Errorf(gateway.CodeNotFound, "there is no hook module %q", gateway.Short(id))
	}
	return gateway.Errorf(gateway.CodeNotFound, "there is no version %d of hook module %q", version, gateway.Short(id))
}

// NoTest is the error for a test that does not exist.
func NoTest(workflow, id string) error {
	return gateway.Errorf(gateway.CodeNotFound, "workflow %q has no test %q", gateway.Short(workflow), gateway.Short(id))
}

// SavedAgain is the error for a step of a draft in whose place another one is by now.
func SavedAgain(id string, version int) error {
	return gateway.Errorf(gateway.CodeConflict, "workflow %q was changed meanwhile: its version %d was saved again; read it again and repeat the change", gateway.Short(id), version)
}

// ChangedMeanwhile is the error for a version whose number is not the next one.
func ChangedMeanwhile(id string, version int) error {
	return gateway.Errorf(gateway.CodeConflict, "%q was changed meanwhile, so this cannot become its version %d; read it again and repeat the change", gateway.Short(id), version)
}
