package workflow

import (
	"testing"

	"genkan/internal/script"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) {
	script.Main()
	testkit.Main(m)
}
