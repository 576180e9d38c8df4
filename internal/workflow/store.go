package workflow

import "context"

// Store keeps workflows and hook modules, with all their versions. What may be stored is
// decided by Library.
type Store interface {
	// Workflows returns the newest version of each workflow.
	Workflows(ctx context.Context) ([]Stored, error)
	// Workflow returns a version of a workflow; 0 is the newest. The error for one that
	// does not exist has CodeNotFound.
	Workflow(ctx context.Context, id string, version int) (Stored, error)
	// Versions returns all versions of a workflow, the newest first.
	Versions(ctx context.Context, id string) ([]*Definition, error)
	// PutWorkflow adds a version. It has CodeConflict if there is one with that number.
	PutWorkflow(ctx context.Context, d *Definition) error
	// RunWorkflow says which version runs; 0 is none.
	RunWorkflow(ctx context.Context, id string, version int) error
	DeleteWorkflow(ctx context.Context, id string) error

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
}

// Module is a script that several hooks use.
type Module struct {
	ID          string `json:"id"`
	Description string `json:"description,omitempty"`
	Script      string `json:"script"`
	Version     int    `json:"version"`
	UpdatedAt   Millis `json:"updatedAt"`
}
