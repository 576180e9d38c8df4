package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// buildGenkan builds the real thing, as make build does.
func (l *lab) buildGenkan() error {
	binary := filepath.Join(l.dir, "genkan")
	cmd := exec.CommandContext(l.ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", binary, "./cmd/genkan")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("genkan does not build: %w\n%s", err, out)
	}
	l.genkan = []string{binary}
	return nil
}

// server is an entry of mcpServers.
type server struct {
	URL     string            `json:"url,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// child is a server that genkan starts.
func (l *lab) child(args ...string) server {
	s := server{Command: l.self, Args: append([]string{roleCommand, "child"}, args...)}
	if v := os.Getenv(raceOptions); v != "" {
		s.Env = map[string]string{raceOptions: v}
	}
	return s
}

// house is a data directory with a configuration, and whose token opens it.
type house struct {
	dir, token string
	// tools is how many tools it lists when all servers are there.
	tools int
	// config is the configuration.
	config map[string]any
}

// pristine is the data directory that the others are copies of. It has a token
// from the store, as clients have: the admin's is checked on a shorter way.
const pristine = "pristine"

func (l *lab) makePristine() error {
	command := slices.Clone(l.genkan)
	if l.rival != "" {
		command = []string{l.rival} // the older of the two: ours upgrades the database
	}
	args := append(command, "tokens", "add", "bench", "--data", filepath.Join(l.dir, pristine))
	cmd := exec.CommandContext(l.ctx, args[0], args[1:]...)
	cmd.Env = cleanEnvironment()
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("no token could be made: %w", err)
	}
	l.token = strings.TrimSpace(string(out))
	return nil
}

// furnish makes a data directory.
func (l *lab) furnish(name string, tools int, servers map[string]server) (*house, error) {
	h := &house{dir: filepath.Join(l.dir, name), token: l.token, tools: tools}
	if err := os.CopyFS(h.dir, os.DirFS(filepath.Join(l.dir, pristine))); err != nil {
		return nil, err
	}
	h.config = map[string]any{"mcpServers": servers, "kb": map[string]bool{"enabled": false}}
	return h, h.set("", nil)
}

// set writes the configuration with one more key, if there is one.
func (h *house) set(key string, value any) error {
	if key != "" {
		h.config[key] = value
	}
	// JSON is YAML.
	config, err := json.MarshalIndent(h.config, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(h.dir, "genkan.yaml"), config, 0o600)
}

// target is a request to the house's genkan.
func (h *house) target(p *process, era, method, tool string, size int) target {
	return target{Address: p.address, Era: era, Token: h.token, Method: method, Tool: tool, Size: size}
}

// freeAddress finds a port that nobody uses. Somebody could take it before
// genkan does; then genkan says so and the run fails.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

// serve starts genkan serve for a house. It does not wait.
func (l *lab) serve(h *house, name string) (*process, error) {
	return l.serveWith(append(slices.Clone(l.genkan), l.profileArgs(name)...), h, name)
}

func (l *lab) serveWith(command []string, h *house, name string) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p, err := l.start(name, append(command, "serve", "--data", h.dir, "--listen", address)...)
	if err != nil {
		return nil, err
	}
	p.address = address
	return p, nil
}

// gateway starts the role that looks into calls.
func (l *lab) gateway(h *house, kind string) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	command := append([]string{l.self, roleCommand, "gateway"}, l.profileArgs("gateway-"+kind)...)
	p, err := l.start("gateway-"+kind, append(command, kind, h.dir, address)...)
	if err != nil {
		return nil, err
	}
	p.address = address
	return p, h.wait(l.ctx, p)
}

func (l *lab) profileArgs(name string) []string {
	if l.profileDir == "" {
		return nil
	}
	return []string{profileFlag, filepath.Join(l.profileDir, name+".pprof")}
}

// wait waits until genkan lists all tools and its servers answer.
func (h *house) wait(ctx context.Context, p *process) error {
	deadline := time.Now().Add(patience)
	for {
		n, err := h.countTools(p)
		if err == nil && n == h.tools {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("%d tools are listed, not %d", n, h.tools)
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended: %s", p.name, p.lastWords())
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s is not ready: %w; its log: %s", p.name, err, p.lastWords())
		}
	}
}

// countTools asks for the list, without a session, and counts.
func (h *house) countTools(p *process) (int, error) {
	body, err := h.list(p)
	if err != nil {
		return 0, err
	}
	var answer struct {
		Result struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		} `json:"result"`
	}
	// A list is the one event of a stream.
	if err := json.Unmarshal(bytes.TrimPrefix(body, []byte("event: message\ndata: ")), &answer); err != nil {
		return 0, err
	}
	n := 0
	for _, tool := range answer.Result.Tools {
		if tool.Name != "read_result" { // which every list has
			n++
		}
	}
	return n, nil
}

// list returns an answer to tools/list.
func (h *house) list(p *process) ([]byte, error) {
	c, err := dial(h.target(p, "modern", "tools/list", "", 0))
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.ask(); err != nil {
		return nil, err
	}
	if len(c.body) == 0 {
		return nil, errors.New("the answer is empty")
	}
	return c.body, nil
}
