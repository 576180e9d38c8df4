package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"genkan/internal/gateway"
)

// shown is what a Server looks like to whoever prints, logs or encodes it.
// People write keys into arguments (--api-key …) and into the paths and
// queries of URLs, so those are masked like declared secrets. Who must show
// the exact command, to an admin before running it, reads the fields.
type shown struct {
	Name           string                    `json:"name"`
	Command        string                    `json:"command,omitempty"`
	Args           []gateway.Secret          `json:"args,omitempty"`
	Env            map[string]gateway.Secret `json:"env,omitempty"`
	Cwd            string                    `json:"cwd,omitempty"`
	URL            string                    `json:"url,omitempty"`
	Headers        map[string]gateway.Secret `json:"headers,omitempty"`
	Transport      string                    `json:"transport,omitempty"`
	OAuth          OAuth                     `json:"oauth,omitzero"`
	Prefix         string                    `json:"prefix"`
	Overwrite      bool                      `json:"overwrite,omitempty"`
	Isolation      string                    `json:"isolation"`
	Timeout        time.Duration             `json:"timeout"`
	StartupTimeout time.Duration             `json:"startupTimeout"`
	Disabled       bool                      `json:"disabled"`
	Tools          ToolFilter                `json:"tools"`
	ToolOptions    []ToolOptions             `json:"toolOptions,omitempty"`
	Budget         int                       `json:"budget,omitempty"`
	Validate       bool                      `json:"validate"`
	Schemas        string                    `json:"schemas"`
}

func (s Server) shown() shown {
	v := shown{
		Name: s.Name, Command: s.Command, Env: s.Env, Cwd: s.Cwd,
		URL: maskURL(s.URL), Headers: s.Headers, Transport: s.Transport, OAuth: s.OAuth,
		Prefix: s.Prefix, Overwrite: s.Overwrite, Isolation: s.Isolation,
		Timeout: s.Timeout, StartupTimeout: s.StartupTimeout,
		Disabled: s.Disabled, Tools: s.Tools, ToolOptions: s.ToolOptions, Budget: s.Budget, Validate: s.Validate, Schemas: s.Schemas,
	}
	for _, a := range s.Args {
		v.Args = append(v.Args, gateway.Secret(a))
	}
	return v
}

// Format keeps secrets out of every verb. Verbs that do not fit print as %v,
// because fmt reports a bad verb together with the raw value.
func (s Server) Format(f fmt.State, verb rune) {
	if verb != 'v' {
		_, _ = fmt.Fprintf(f, "%v", s.shown())
		return
	}
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), s.shown())
}

// MarshalJSON keeps secrets out of JSON.
func (s Server) MarshalJSON() ([]byte, error) { return json.Marshal(s.shown()) }

// LogValue keeps secrets out of structured logs.
func (s Server) LogValue() slog.Value { return slog.AnyValue(s.shown()) }

// maskURL leaves what says where a server is, and nothing that may open it.
func maskURL(raw string) string {
	if raw == "" {
		return ""
	}
	u, err := url.Parse(raw)
	if err != nil {
		return gateway.Secret(raw).String()
	}
	origin := url.URL{Scheme: u.Scheme, Host: u.Host}
	if (u.Path == "" || u.Path == "/") && u.RawQuery == "" && u.Fragment == "" {
		return origin.String()
	}
	return origin.String() + "/" + gateway.Secret(raw).String()
}
