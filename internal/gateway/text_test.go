package gateway_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// shout is a language in which everything is loud.
func shout(format string) string {
	return strings.NewReplacer("%S", "%s", "%D", "%d", "%Q", "%q").Replace(strings.ToUpper(format))
}

// A text is English when nobody asks for another language, and its parts are
// said in the language of the whole.
func TestTextIsSaidInALanguage(t *testing.T) {
	inner := &gateway.Error{Code: gateway.CodeDenied, Message: "no %s", Values: []any{"entry"}, Err: errors.New("a cause")}
	for name, c := range map[string]struct {
		text          gateway.Text
		english, loud string
	}{
		"plain":            {gateway.Textf("it is"), "it is", "IT IS"},
		"nothing":          {gateway.Text{}, "", ""},
		"literally":        {gateway.Text{Format: "100% sure"}, "100% sure", "100% SURE"},
		"values":           {gateway.Textf("%s is %d", "a", 1), "a is 1", "a IS 1"},
		"a text inside":    {gateway.Textf("it: %s", gateway.Textf("so %s", "a")), "it: so a", "IT: SO a"},
		"an error inside":  {gateway.Textf("it: %s", inner), "it: no entry", "IT: NO entry"},
		"a percent inside": {gateway.Textf("%s", "100%d"), "100%d", "100%d"},
		"several inside": {
			gateway.Textf("it: %s", gateway.Texts{Each: []gateway.Text{gateway.Textf("so"), gateway.Textf("and so")}, Between: "; "}),
			"it: so; and so", "IT: SO; AND SO",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.text.String(); got != c.english {
				t.Errorf("English: %q, want %q", got, c.english)
			}
			if got := c.text.In(shout); got != c.loud {
				t.Errorf("translated: %q, want %q", got, c.loud)
			}
			if got := c.text.String(); got != c.english {
				t.Errorf("saying it changed it: %q", got)
			}
		})
	}
}

// The message is for callers, the cause for the log.
func TestErrorShowsItsTextAndLogsItsCause(t *testing.T) {
	e := gateway.Errorf(gateway.CodeInvalid, "%s is 100%% wrong", "it")
	e.Err = errors.New("a cause")
	if got := e.Text(); got != "it is 100% wrong" {
		t.Errorf("it shows %q", got)
	}
	if got := e.In(shout); got != "it IS 100% WRONG" {
		t.Errorf("translated it shows %q", got)
	}
	if got := e.Error(); got != "it is 100% wrong: a cause" {
		t.Errorf("it logs %q", got)
	}
}

// TestPublicTexts: a private part is replaced however deep it is, and the original
// stays as it is.
func TestPublicTexts(t *testing.T) {
	t.Parallel()
	private := gateway.Private{Full: gateway.Textf("its command %q was not found", "/srv/example/x"), Public: gateway.Textf("it could not be started")}
	cause := errors.New("cause")
	inner := &gateway.Error{Code: gateway.CodeUnavailable, Message: "%s", Values: []any{private}, Err: cause}
	for name, value := range map[string]any{
		"itself":      private,
		"in a text":   gateway.Textf("%s", private),
		"in an error": inner,
		"in a list":   gateway.Texts{Each: []gateway.Text{gateway.Textf("%s", inner)}, Between: "; "},
	} {
		err := &gateway.Error{Code: gateway.CodeUnavailable, Message: "server %s is down: %s", Values: []any{"a", value}, Err: cause}
		public := gateway.AsError(gateway.PublicError(fmt.Errorf("wrapped: %w", err)))
		if got := public.Text(); got != "server a is down: it could not be started" || !errors.Is(public, cause) || public.Code != err.Code {
			t.Errorf("%s: %q, %v", name, got, public)
		}
		if got := (gateway.Text{Format: err.Message, Values: err.Values}).Public().String(); got != public.Text() {
			t.Errorf("%s: %q", name, got)
		}
		if got := err.Text(); got != `server a is down: its command "/srv/example/x" was not found` {
			t.Errorf("%s: %q", name, got)
		}
	}
	plain := fmt.Errorf("wrapped: %w", gateway.Errorf(gateway.CodeInvalid, "%s", gateway.Texts{Each: []gateway.Text{gateway.Textf("a %d", 1)}}))
	if got := gateway.PublicError(plain); got != plain { //nolint:errorlint // the same value
		t.Errorf("an error without private parts became %v", got)
	}
}
