package gateway

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is text that must not be seen: it prints, logs and encodes as ***.
type Secret string

const masked = "***"

// Reveal returns the text. Every use is a place to look at in a review.
func (s Secret) Reveal() string { return string(s) }

func (Secret) String() string { return masked }

// Format covers every verb: fmt shows the text of a string type for a verb
// that does not fit it, without asking String.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// LogValue keeps it out of structured logs.
func (Secret) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText keeps it out of JSON, YAML and everything else that encodes.
func (Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }
