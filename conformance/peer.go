package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// peer is somebody else's client. It does what a method of MCP names, and
// returns the result as its own types encode it; a call's also says how many
// messages of progress came ("progress").
type peer interface {
	do(ctx context.Context, method string, params map[string]any) (json.RawMessage, error)
	close()
}

// target is what a peer connects to.
type target struct {
	URL     string   `json:"url,omitempty"`
	Token   string   `json:"token,omitempty"`
	Command []string `json:"command,omitempty"` // of a server over stdio
	Version string   `json:"version"`
	Modern  bool     `json:"modern"`
	// Content is what the user answers to every question, Reply what the model
	// says to everything.
	Content map[string]any `json:"content"`
	Reply   string         `json:"reply"`
}

// params are the target as parameters of the method connect.
func (t target) params() (map[string]any, error) {
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(raw, &out)
}

// stepLimit is how long one thing may take.
const stepLimit = 40 * time.Second

// linePeer is a program that reads what to do, a line each, and writes what
// came of it.
type linePeer struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	log    *os.File
	broken error
}

// startLinePeer starts such a program; what it says beside goes to a log.
func (l *lab) startLinePeer(name string, env []string, command ...string) (peer, error) {
	l.logs++
	log, err := os.Create(filepath.Join(l.dir, fmt.Sprintf("%s-%d.log", name, l.logs)))
	if err != nil {
		return nil, err
	}
	p := &linePeer{cmd: exec.CommandContext(l.ctx, command[0], command[1:]...), log: log}
	p.cmd.Env = append(cleanEnvironment(), env...)
	p.cmd.Stderr = log
	p.cmd.WaitDelay = 5 * time.Second
	p.in, err = p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, p.cmd.Start()
}

func (p *linePeer) do(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	if p.broken != nil {
		return nil, p.broken
	}
	line, err := json.Marshal(map[string]any{"method": method, "params": params})
	if err != nil {
		return nil, err
	}
	type answer struct {
		line []byte
		err  error
	}
	came := make(chan answer, 1)
	go func() {
		if _, err := p.in.Write(append(line, '\n')); err != nil {
			came <- answer{err: err}
			return
		}
		line, err := p.out.ReadBytes('\n')
		came <- answer{line, err}
	}()
	var a answer
	select {
	case a = <-came:
	case <-ctx.Done():
		// Its next line would answer this question, not the next one.
		p.broken = errors.New("the client still waits for an answer to " + method)
		_ = p.cmd.Process.Kill()
		<-came
		return nil, ctx.Err()
	}
	if a.err != nil {
		p.broken = fmt.Errorf("the client has ended: %w", a.err)
		return nil, p.broken
	}
	var out struct {
		Result json.RawMessage `json:"result"`
		Error  string          `json:"error"`
	}
	if err := json.Unmarshal(a.line, &out); err != nil {
		return nil, err
	}
	if out.Error != "" {
		return nil, errors.New(out.Error)
	}
	return out.Result, nil
}

// close ends the program by the end of its input; one that does not care is
// killed.
func (p *linePeer) close() {
	_ = p.in.Close()
	kill := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() })
	_ = p.cmd.Wait()
	kill.Stop()
	_ = p.log.Close()
}

// inspectorPeer is the Inspector's command line: a process for every question.
type inspectorPeer struct {
	lab    *lab
	node   node
	era    string
	target target
}

func (p *inspectorPeer) close() {}

func (p *inspectorPeer) do(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	if method == "connect" {
		return json.RawMessage(`{}`), nil // it does so for every question
	}
	args := []string{
		filepath.Join(p.node.modules, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"),
		"--cli", "--protocol-era", p.era, "--format", "json", "--quiet", "--method", method,
	}
	text := func(key string) string { s, _ := params[key].(string); return s }
	switch method {
	case "tools/call":
		raw, err := json.Marshal(params["arguments"])
		if err != nil {
			return nil, err
		}
		args = append(args, "--tool-name", text("name"), "--tool-args-json", string(raw))
	case "prompts/get":
		args = append(args, "--prompt-name", text("name"))
		if pairs, ok := params["arguments"].(map[string]any); ok {
			for k, v := range pairs {
				args = append(args, "--prompt-args", fmt.Sprintf("%s=%v", k, v))
			}
		}
	case "resources/read":
		args = append(args, "--uri", text("uri"))
	case "logging/setLevel":
		args = append(args, "--log-level", text("level"))
	}
	if p.target.URL != "" {
		args = append(args, "--transport", "http", "--server-url", p.target.URL)
		if p.target.Token != "" {
			args = append(args, "--header", "Authorization: Bearer "+p.target.Token)
		}
	} else {
		args = append(append(args, "--"), p.target.Command...)
	}
	cmd := exec.CommandContext(ctx, p.node.binary, args...)
	// Its own files stay in the lab too.
	cmd.Env = append(cleanEnvironment(), "HOME="+p.lab.dir)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil, errors.New(lastLine(string(failed.Stderr)+"\n"+string(out)) + " (" + failed.Error() + ")")
	}
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
	}
	return answer.Result, json.Unmarshal(out, &answer)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
