// Package seal makes texts that clients keep for us and give back. A client can
// neither make one up nor use one that was given to somebody else.
package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// Sealer seals with a secret of the process. The same payload always becomes the
// same text.
type Sealer struct{ Secret []byte }

const macSize = 16

// mac covers everything with its length: no two lists of parts look the same.
func (s Sealer) mac(purpose string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, s.Secret)
	add := func(part []byte) {
		var n [4]byte
		binary.BigEndian.PutUint32(n[:], uint32(len(part))) //nolint:gosec // far below
		h.Write(n[:])
		h.Write(part)
	}
	add([]byte(purpose))
	for _, part := range parts {
		add(part)
	}
	return h.Sum(nil)[:macSize]
}

// Seal encodes a payload that is good for what is bound to it.
func (s Sealer) Seal(purpose string, payload []byte, bound ...[]byte) string {
	mac := s.mac(purpose, append([][]byte{payload}, bound...)...)
	return base64.RawURLEncoding.EncodeToString(append(mac, payload...))
}

// Open returns the payload of a sealed text, if it was made here for the same
// purpose and the same bound parts.
func (s Sealer) Open(purpose, sealed string, bound ...[]byte) ([]byte, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || len(raw) < macSize {
		return nil, false
	}
	payload := raw[macSize:]
	ok := hmac.Equal(raw[:macSize], s.mac(purpose, append([][]byte{payload}, bound...)...))
	return payload, ok
}
