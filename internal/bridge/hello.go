package bridge

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Protocol is the number of what is spoken on the socket before and around
// the MCP messages. It moves when an older genkan could misunderstand a newer
// one; a field that may be ignored does not move it.
const Protocol = 2

// Purpose is what somebody comes for.
type Purpose string

// The purposes.
const (
	// PurposeMCP: a client's messages follow, a line each.
	PurposeMCP Purpose = "mcp"
	// PurposeREST: HTTP requests to the REST API follow.
	PurposeREST Purpose = "rest"
	// PurposeRetire asks a background process to let the caller be the owner.
	PurposeRetire Purpose = "retire"
)

// Hello is the first line on the socket, from whoever joins: what its own
// serving would depend on, so that the owner can tell whether it can do the
// same.
type Hello struct {
	Protocol int     `json:"genkan"`
	Purpose  Purpose `json:"purpose"`
	// Version is the build of the joining genkan.
	Version string `json:"version"`
	PID     int    `json:"pid"`
	// Dir is the directory that the client works in.
	Dir string `json:"dir,omitempty"`
	// ConfigFile is the configuration file that was meant, as a full path.
	ConfigFile string `json:"configFile,omitempty"`
	// Only are the servers that the client wants to see, none for all of them,
	// and Mode is how it wants to see their tools.
	Only []string `json:"only,omitempty"`
	Mode string   `json:"mode,omitempty"`
	// Settings are flags that change what a client sees, by their names. An
	// owner that does not know one refuses.
	Settings map[string]string `json:"settings,omitempty"`
	// Environment says which values the configuration's variables would have.
	Environment Environment `json:"environment,omitzero"`
}

// Welcome is the line that answers a Hello. Genkans of every protocol number
// understand its refusals.
type Welcome struct {
	Protocol int    `json:"genkan"`
	Version  string `json:"version"`
	PID      int    `json:"pid"`
	// Listen is the host:port that the owner serves HTTP on, with TLS or not. It
	// is empty if the owner serves the socket only.
	Listen string `json:"listen,omitempty"`
	TLS    bool   `json:"tls,omitempty"`
	// Config is the whole path of the owner's configuration.
	Config  string  `json:"config,omitempty"`
	Refusal Refusal `json:"refusal,omitempty"`
	// Reason is the refusal for people.
	Reason string `json:"reason,omitempty"`
}

// Refusal says why somebody cannot be served.
type Refusal string

// The refusals.
const (
	// RefusedProtocol and RefusedVersion: the two are of different builds.
	RefusedProtocol Refusal = "protocol"
	RefusedVersion  Refusal = "version"
	// RefusedConfig, RefusedSettings, RefusedEnvironment and RefusedOnly: the
	// owner would serve something else than was asked for.
	RefusedConfig      Refusal = "config"
	RefusedSettings    Refusal = "settings"
	RefusedEnvironment Refusal = "environment"
	RefusedOnly        Refusal = "only"
	// RefusedPurpose: the owner does not do that.
	RefusedPurpose Refusal = "purpose"
	// RefusedGoingDown: another owner is to come.
	RefusedGoingDown Refusal = "going_down"
)

// RefusedError is a refusal as an error.
type RefusedError struct {
	Welcome
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the genkan that runs (process %d, version %s) cannot serve this one: %s", e.PID, e.Version, e.Reason)
}

// maxHello bounds the first lines. An environment may have many names.
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

// readLine reads one line and leaves what follows in r.
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
