package bridge

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Protocol is the version of the protocol on the socket before and around the MCP
// messages. It increases when an older genkan could misunderstand a newer one. A
// new field that may be ignored does not increase it.
const Protocol = 2

// Purpose is the reason for a connection.
type Purpose string

// These are the purposes.
const (
	// PurposeMCP is followed by a client's messages, one per line.
	PurposeMCP Purpose = "mcp"
	// PurposeREST is followed by HTTP requests to the REST API.
	PurposeREST Purpose = "rest"
	// PurposeRetire asks a background process to hand the ownership to the caller.
	PurposeRetire Purpose = "retire"
)

// Hello is the first line on the socket, from the joining process. It has
// everything that the process's own serving would depend on, so that the owner can
// decide whether it would serve the same.
type Hello struct {
	Protocol int     `json:"genkan"`
	Purpose  Purpose `json:"purpose"`
	// Version is the build of the joining genkan.
	Version string `json:"version"`
	PID     int    `json:"pid"`
	// Dir is the directory that the client works in.
	Dir string `json:"dir,omitempty"`
	// ConfigFile is the absolute path of the process's configuration file.
	ConfigFile string `json:"configFile,omitempty"`
	// Only are the servers that the client asks for; empty means all. Mode is the
	// mode in which it sees their tools.
	Only []string `json:"only,omitempty"`
	Mode string   `json:"mode,omitempty"`
	// Settings are flags that change what a client sees, by name. An owner refuses
	// an unknown flag.
	Settings map[string]string `json:"settings,omitempty"`
	// Environment has the fingerprints of the variables that the configuration may
	// use.
	Environment Environment `json:"environment,omitzero"`
}

// Welcome is the line that answers a Hello. All versions of the protocol understand
// its refusals.
type Welcome struct {
	Protocol int    `json:"genkan"`
	Version  string `json:"version"`
	PID      int    `json:"pid"`
	// Listen is the host:port that the owner serves HTTP on, with TLS or not. It
	// is empty if the owner serves the socket only.
	Listen string `json:"listen,omitempty"`
	TLS    bool   `json:"tls,omitempty"`
	// Config is the absolute path of the owner's configuration.
	Config  string  `json:"config,omitempty"`
	Refusal Refusal `json:"refusal,omitempty"`
	// Reason is the text of the refusal for people.
	Reason string `json:"reason,omitempty"`
}

// Refusal is the reason why a process cannot be served.
type Refusal string

// These are the refusals.
const (
	// RefusedProtocol and RefusedVersion mean that the two processes are different
	// builds.
	RefusedProtocol Refusal = "protocol"
	RefusedVersion  Refusal = "version"
	// RefusedConfig, RefusedSettings, RefusedEnvironment and RefusedOnly mean that
	// the owner would not serve what was asked for.
	RefusedConfig      Refusal = "config"
	RefusedSettings    Refusal = "settings"
	RefusedEnvironment Refusal = "environment"
	RefusedOnly        Refusal = "only"
	// RefusedPurpose means that the owner does not support the purpose.
	RefusedPurpose Refusal = "purpose"
	// RefusedGoingDown means that the owner is shutting down and another will
	// follow.
	RefusedGoingDown Refusal = "going_down"
)

// RefusedError is a refusal as an error.
type RefusedError struct {
	Welcome
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the genkan that runs (process %d, version %s) cannot serve this one: %s", e.PID, e.Version, e.Reason)
}

// maxHello bounds the first lines, in bytes. An environment may have many names.
const maxHello = 1 << 20

var errHelloTooLong = errors.New("the first line is too long")

func writeLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// readLine reads one line and leaves the rest in r.
func readLine(r *bufio.Reader, v any) error {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxHello:
			return errHelloTooLong
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return err
		}
		return json.Unmarshal(line, v)
	}
}
