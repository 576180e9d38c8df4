package client

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"genkan/internal/gateway"
)

// The route that proves that a listener knows the admin token.
const (
	ProofPath      = "/proof"
	ProofChallenge = "challenge"
	// ChallengeLength is how many characters a challenge has.
	ChallengeLength = 2 * sha256.Size

	// proofPatience is how long a proof may take, and maxProof how many bytes it
	// may have with its headers.
	proofPatience = 5 * time.Second
	maxProof      = 8 << 10
)

// Proof answers a challenge. It covers the port, so that a program that listens
// on another port cannot pass the challenge on and use the answer.
func Proof(token gateway.Secret, challenge string, port int) string {
	mac := hmac.New(sha256.New, []byte(token.Reveal()))
	fmt.Fprintf(mac, "genkan: the listener on port %d knows the token\n%s", port, challenge)
	return hex.EncodeToString(mac.Sum(nil))
}

// dialProved connects to an address and has it prove that it knows the token. The
// proof is for this one connection: the listener may change before the next one.
func dialProved(ctx context.Context, address string, token gateway.Secret) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(proofPatience))
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	err = prove(ctx, conn, address, token)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err == nil {
		return conn, nil
	}
	_ = conn.Close()
	return nil, &gateway.Error{
		Code: gateway.CodeDenied, Err: err,
		Message: "the program that listens on %s did not prove that it knows the admin token of this data directory, so the token was not sent; " +
			"check --listen and --data, name the port that genkan itself listens on, and restart a genkan of an older version",
		Values: []any{address},
	}
}

func prove(ctx context.Context, conn net.Conn, address string, token gateway.Secret) error {
	remote, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return errors.New("not a TCP connection")
	}
	secret := make([]byte, ChallengeLength/2)
	_, _ = rand.Read(secret) // never fails
	challenge := hex.EncodeToString(secret)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+ProofPath+"?"+ProofChallenge+"="+challenge, nil)
	if err != nil {
		return err
	}
	if err := r.Write(conn); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, maxProof)), r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || !hmac.Equal(body, []byte(Proof(token, challenge, remote.Port))) {
		return fmt.Errorf("HTTP status %d and %d bytes that are no proof", resp.StatusCode, len(body))
	}
	return nil
}
