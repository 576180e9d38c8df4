package web_test

import (
	"testing"

	"genkan/internal/script"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) {
	script.Main() // does not return in a worker
	testkit.Main(m)
}
