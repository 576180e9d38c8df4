package script

import (
	"testing"

	"genkan/internal/testkit"
)

func TestMain(m *testing.M) {
	Main()
	testkit.Main(m)
}
