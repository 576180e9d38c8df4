package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocumentKeepsWhatIsWrittenByHand(t *testing.T) {
	document := "# Title\n\n" + beginMark + "\nold\n" + endMark + "\n\nBy hand.\n"
	got, err := between(document, "\nnew\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := "# Title\n\n" + beginMark + "\n\nnew\n\n" + endMark + "\n\nBy hand.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := between("# Title\n", "new"); err == nil {
		t.Error("a document without a place for the results is accepted")
	}
}

func TestReportOfSamples(t *testing.T) {
	direct, through := samples(t)
	p := pairingResult{pairing: pairings()[6], direct: direct, through: through, optional: map[string]bool{"tasks-required-task-error": true}}
	p.differences = compare(direct, through, p.optional)
	r := &report{pairings: []pairingResult{p}}
	if got := r.unexplained(); got != 5 {
		t.Errorf("%d checks count as lost, not 5", got)
	}
	var out strings.Builder
	r.print(&out)
	for _, want := range []string{
		"modern-legacy  16 passed, 0 failed  10 passed, 4 failed, 1 skipped  5",
		"tasks-required-task-error (extension, not counted)",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not printed:\n%s", want, out.String())
		}
	}
	if got := r.markdown(); !strings.Contains(got, "| prompts-list | 2 passed, 0 failed | 1 passed, 1 failed | `prompts-list` success → failure: ") {
		t.Errorf("the document does not tell what differs:\n%s", got)
	}
}

func TestEndingOfAClient(t *testing.T) {
	for said, want := range map[string]string{
		"Test Results:\nPassed: 2/2": "",
		"Client exited with code 1\n\nStdout:\n\nStderr:\nx\nconformance: client: genkan is not ready: timeout\n": "genkan is not ready: timeout",
		"Client timed out after 30000ms\n": "Client timed out after 30000ms",
	} {
		c := ending(said)
		if c.ErrorMessage != want || (c.Status == success) != (want == "") {
			t.Errorf("%q: %+v", said, c)
		}
	}
}

func TestChoice(t *testing.T) {
	for only, want := range map[string]string{
		"":                           "modern-modern legacy-legacy modern-stdio legacy-stdio legacy-both legacy-modern modern-legacy clients sign-in",
		"legacy-stdio,clients":       "legacy-stdio clients",
		"sign-in":                    "sign-in",
		"modern-legacy,legacy-stdio": "legacy-stdio modern-legacy",
	} {
		chosen, parts, err := choose(options{only: only})
		var names []string
		for _, p := range chosen {
			names = append(names, p.name)
		}
		names = append(names, parts...)
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", only, got, err, want)
		}
	}
	if _, _, err := choose(options{only: "modern"}); err == nil {
		t.Error("a name that is none is accepted")
	}
}

// A check that came several times counts once, as it went at its worst.
func TestDistinct(t *testing.T) {
	got := distinct([]check{{ID: "a", Status: success}, {ID: "b", Status: info}, {ID: "a", Status: failure}, {ID: "b", Status: success}, {ID: "a", Status: success}})
	want := []check{{ID: "a", Status: failure}, {ID: "b", Status: success}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
