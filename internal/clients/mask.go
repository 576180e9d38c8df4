package clients

import (
	"sync"

	"genkan/internal/redact"
)

//nolint:gochecknoglobals // made once
var maskRules = sync.OnceValue(func() *redact.Rules { return redact.New(nil, redact.Strict) })

// Mask replaces everything that looks like a key in a foreign text, such as the
// output of a server. It masks too much rather than too little.
func Mask(text string) string {
	text, _ = maskRules().Text(text)
	return text
}
