package bridge

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"strings"
)

// Environment identifies the values of variables without revealing them. The owner
// compares the variables that its configuration uses. It learns nothing about the
// others, which may be secrets.
type Environment struct {
	// Salt gives the same value a different fingerprint in each hello.
	Salt string `json:"salt"`
	// Values are the fingerprints of all variables, by name.
	Values map[string]string `json:"values"`
}

// FingerprintEnvironment returns the Environment of NAME=VALUE entries.
func FingerprintEnvironment(entries []string) Environment {
	e := Environment{Salt: rand.Text(), Values: make(map[string]string, len(entries))}
	for _, entry := range entries {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			e.Values[variableName(name)] = e.fingerprint(value)
		}
	}
	return e
}

// Has reports whether the variable has this value, or, if isSet is false, whether
// it is not set.
func (e Environment) Has(name, value string, isSet bool) bool {
	fingerprint, theirs := e.Values[variableName(name)]
	return theirs == isSet && (!isSet || fingerprint == e.fingerprint(value))
}

func (e Environment) fingerprint(value string) string {
	mac := hmac.New(sha256.New, []byte(e.Salt))
	mac.Write([]byte(value)) // a hash takes every write
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// variableName returns the name in the form in which the system compares names.
func variableName(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}
