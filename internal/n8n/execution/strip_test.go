package execution

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// TestStripKeepsAllData compares a stripped execution with the execution itself.
func TestStripKeepsAllData(t *testing.T) {
	t.Parallel()
	bodies := map[string][]byte{"orders": []byte(orders)}
	for _, name := range []string{"exec_http_error.json", "exec_binary.json", "exec_huge_5000.json.gz", "exec_running.json"} {
		if hasFixture(name) && (testkit.Full() || !strings.Contains(name, "huge")) {
			bodies[name] = fixture(t, name)
		}
	}
	for name, body := range bodies {
		var out bytes.Buffer
		if err := Strip(&out, bytes.NewReader(body)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, secret := range []string{"s3cr3t", "    at ", "resumeToken", "nodeExecutionStack", "rejectUnauthorized", "eyJ"} {
			if bytes.Contains(out.Bytes(), []byte(secret)) {
				t.Errorf("%s has %q", name, secret)
			}
		}
		var got, want map[string]any
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := json.Unmarshal(body, &want); err != nil {
			t.Fatal(err)
		}
		for _, node := range []string{"Split", "Generate 5000", "Text rows", "Prepare", "File"} {
			path := []any{"data", "resultData", "runData", node}
			if a, b := at(t, got, path...), at(t, want, path...); !reflect.DeepEqual(a, b) {
				t.Errorf("%s, %s: %v\nwant %v", name, node, a, b)
			}
		}
		if !reflect.DeepEqual(got["id"], want["id"]) || len(got) != len(want) {
			t.Errorf("%s: %d keys, want %d", name, len(got), len(want))
		}
	}
}

func TestStripReportsWhatIsWrong(t *testing.T) {
	t.Parallel()
	if err := Strip(io.Discard, strings.NewReader(orders[:2000])); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut-off body: %v", err)
	}
	full := errors.New("disk full")
	if err := Strip(failing{full}, strings.NewReader(orders)); !errors.Is(err, full) {
		t.Errorf("a full disk: %v", err)
	}
	var syntax *SyntaxError
	if err := Strip(io.Discard, strings.NewReader(`[]`)); !errors.As(err, &syntax) {
		t.Errorf("a list: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
