package n8n

import (
	"testing"

	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A real n8n is started, and has the workflows and executions that tests read.
func TestPrepare(t *testing.T) {
	i := Start(t)
	for name, ids := range i.Prepare(t) {
		t.Log(name, ids)
	}
}
