package seal

import (
	"encoding/base64"
	"testing"
)

func TestSealedTextsAreForOnePurposeAndOneOwner(t *testing.T) {
	ours := Sealer{Secret: []byte("secret")}
	sealed := ours.Seal("task", []byte("payload"), []byte("me"), []byte("view"))
	if again := ours.Seal("task", []byte("payload"), []byte("me"), []byte("view")); again != sealed {
		t.Errorf("the same payload becomes %s and %s", sealed, again)
	}
	if payload, ok := ours.Open("task", sealed, []byte("me"), []byte("view")); !ok || string(payload) != "payload" {
		t.Errorf("it opens as %q, %t", payload, ok)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(sealed)
	raw[len(raw)-1] ^= 1
	changed := base64.RawURLEncoding.EncodeToString(raw)
	for name, open := range map[string]func() ([]byte, bool){
		"another purpose": func() ([]byte, bool) { return ours.Open("session", sealed, []byte("me"), []byte("view")) },
		"another owner":   func() ([]byte, bool) { return ours.Open("task", sealed, []byte("you"), []byte("view")) },
		"parts cut anew":  func() ([]byte, bool) { return ours.Open("task", sealed, []byte("mev"), []byte("iew")) },
		"fewer parts":     func() ([]byte, bool) { return ours.Open("task", sealed, []byte("me")) },
		"another secret": func() ([]byte, bool) {
			return Sealer{Secret: []byte("other")}.Open("task", sealed, []byte("me"), []byte("view"))
		},
		"another payload":   func() ([]byte, bool) { return ours.Open("task", changed, []byte("me"), []byte("view")) },
		"nothing":           func() ([]byte, bool) { return ours.Open("task", "", []byte("me"), []byte("view")) },
		"what is no base64": func() ([]byte, bool) { return ours.Open("task", "a b", []byte("me"), []byte("view")) },
	} {
		if payload, ok := open(); ok {
			t.Errorf("%s opens it: %q", name, payload)
		}
	}
}
