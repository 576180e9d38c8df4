package workflow

import (
	"testing"

	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
