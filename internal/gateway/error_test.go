package gateway_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

func TestAsError(t *testing.T) {
	own := gateway.Errorf(gateway.CodeDenied, "no %s", "entry")
	for name, c := range map[string]struct {
		err  error
		code gateway.Code
		text string
	}{
		"ours":            {own, gateway.CodeDenied, "no entry"},
		"ours, wrapped":   {fmt.Errorf("outside: %w", own), gateway.CodeDenied, "no entry"},
		"ours, joined":    {errors.Join(io.EOF, own), gateway.CodeDenied, "no entry"},
		"a deadline":      {fmt.Errorf("x: %w", context.DeadlineExceeded), gateway.CodeTimeout, ""},
		"a cancellation":  {context.Canceled, gateway.CodeCanceled, ""},
		"ours beats both": {fmt.Errorf("%w: %w", context.Canceled, own), gateway.CodeDenied, "no entry"},
		"anything else":   {errors.New("open /secret/path: denied"), gateway.CodeInternal, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := gateway.AsError(c.err)
			if e.Code != c.code || c.text != "" && e.Text() != c.text {
				t.Errorf("got %s: %s", e.Code, e.Text())
			}
			if strings.Contains(e.Text(), "secret") {
				t.Errorf("the message shows the inside: %s", e.Text())
			}
			if c.code == gateway.CodeInternal && (!errors.Is(e, c.err) || !strings.Contains(e.Error(), "secret")) {
				t.Error("the log would not have the cause")
			}
		})
	}
	if gateway.AsError(nil) != nil {
		t.Error("no error became one")
	}
}

func TestCodes(t *testing.T) {
	seen := map[string]bool{}
	for _, code := range gateway.Codes() {
		name := code.String()
		if name == "" || seen[name] || strings.ToLower(name) != name {
			t.Errorf("code %d is called %q", code, name)
		}
		seen[name] = true
	}
	if got := gateway.Code(200).String(); got != "internal" {
		t.Errorf("a code that is none is %q", got)
	}
}

// TestChain: the first one named is the outermost.
func TestChain(t *testing.T) {
	var order []string
	step := func(name string) gateway.Middleware {
		return func(next gateway.Handler) gateway.Handler {
			return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
				order = append(order, name)
				return next.Handle(ctx, call)
			})
		}
	}
	h := gateway.Chain(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) {
		order = append(order, "end")
		return nil, nil
	}), step("a"), step("b"))
	_, _ = h.Handle(context.Background(), &gateway.Call{})
	if got := strings.Join(order, " "); got != "a b end" {
		t.Errorf("the order is %s", got)
	}
}

// TestSecretIsNeverSeen, whatever prints, logs or encodes it.
func TestSecretIsNeverSeen(t *testing.T) {
	const canary = "c4n4ry"
	secret := gateway.Secret(canary)
	// What the text looks like after any verb: itself, hex, quoted letters.
	shows := func(text string) bool {
		lower := strings.ToLower(text)
		return strings.Contains(lower, canary) || strings.Contains(lower, fmt.Sprintf("%x", canary)) ||
			strings.Contains(lower, fmt.Sprintf("% x", canary)) || strings.Contains(text, "99 52 110 52 114 121") // its bytes
	}
	holder := struct {
		S   gateway.Secret
		P   *gateway.Secret
		L   []gateway.Secret
		M   map[string]gateway.Secret
		Any any
	}{secret, &secret, []gateway.Secret{secret}, map[string]gateway.Secret{"k": secret}, secret}
	for _, value := range []any{secret, &secret, holder, &holder, []any{secret}, map[string]any{"s": secret}, [1]gateway.Secret{secret}} {
		for _, flags := range []string{"", "+", "#", "-", " ", "0", "20", ".3", "+#", "-20.5", "[1]"} {
			// Not %p and %w: fmt complains about these before it asks the
			// value how it wants to be shown, and vet refuses both.
			for _, verb := range "vTtbcdoOqxXUeEfFgGszyk!" {
				format := "%" + flags + string(verb)
				if text := fmt.Sprintf(format, value); shows(text) {
					t.Errorf("%s of %T shows it: %s", format, value, text)
				}
			}
		}
		// Formats that do not fit their arguments make fmt show them in a way of
		// its own. They are made here, so that no linter sees the mistakes.
		extra, width := strings.ToLower("X"), strings.ToLower("%*D")
		for name, text := range map[string]string{
			"Sprint": fmt.Sprint(value), "Sprintln": fmt.Sprintln("x", value), "too many": fmt.Sprintf(extra, value),
			"Errorf": fmt.Errorf("x: %v", value).Error(), "a width": fmt.Sprintf(width, value, 1),
		} {
			if shows(text) {
				t.Errorf("%s of %T shows it: %s", name, value, text)
			}
		}
		if raw, err := json.Marshal(value); err != nil || shows(string(raw)) {
			t.Errorf("JSON of %T: %s, %v", value, raw, err)
		}
		var log strings.Builder
		for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
			slog.New(handler).Error("x", "value", value, slog.Group("g", "value", value))
		}
		if shows(log.String()) {
			t.Errorf("the log of %T: %s", value, log.String())
		}
	}
	if raw, err := xml.Marshal(secret); err != nil || shows(string(raw)) {
		t.Errorf("XML: %s, %v", raw, err)
	}
	if secret.Reveal() != canary {
		t.Error("who asks for it does not get it")
	}
}
