package mcpserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// signer seals what clients keep for us, so that they cannot make it up, and
// cannot use what was given to somebody else.
type signer struct{ secret []byte }

const macSize = 16

// mac covers everything with its length: no two lists of parts look the same.
func (s signer) mac(purpose string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, s.secret)
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

// seal encodes a payload that is good for what is bound to it.
func (s signer) seal(purpose string, payload []byte, bound ...[]byte) string {
	mac := s.mac(purpose, append([][]byte{payload}, bound...)...)
	return base64.RawURLEncoding.EncodeToString(append(mac, payload...))
}

// open returns the payload of something sealed, if it is ours and for this.
func (s signer) open(purpose, sealed string, bound ...[]byte) ([]byte, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || len(raw) < macSize {
		return nil, false
	}
	payload := raw[macSize:]
	ok := hmac.Equal(raw[:macSize], s.mac(purpose, append([][]byte{payload}, bound...)...))
	return payload, ok
}
