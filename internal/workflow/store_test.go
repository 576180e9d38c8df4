package workflow_test

import (
	"log/slog"
	"testing"

	"genkan/internal/storetest"
	"genkan/internal/workflow"
)

func TestStoreInMemory(t *testing.T) {
	t.Parallel()
	storetest.RunWorkflows(t, func(t *testing.T) storetest.Stores { return both(workflow.NewMemory(t)) })
}

// A folder without files changes nothing of the store behind it.
func TestStoreBehindFolder(t *testing.T) {
	t.Parallel()
	storetest.RunWorkflows(t, func(t *testing.T) storetest.Stores {
		return both(workflow.NewFolder(workflow.NewMemory(t), slog.New(slog.DiscardHandler)))
	})
}

// both is a store whose second handle is the same.
func both(s workflow.Store) storetest.Stores {
	return storetest.Stores{Workflows: s, Another: func(*testing.T) storetest.Stores { return both(s) }}
}
