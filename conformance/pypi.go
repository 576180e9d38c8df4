package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The servers of PyPI. They speak both eras, so genkan speaks the modern one with
// them, and legacy clients are bridged.
const (
	gitServer   = "git"
	fetchServer = "fetch"
	timeServer  = "time"
)

// openPythonServers makes what the servers work on: a repository, and pages on
// the loopback.
func openPythonServers(l *lab) (map[string]server, error) {
	if err := l.makeRepository(); err != nil {
		return nil, err
	}
	if err := l.openSite(); err != nil {
		return nil, err
	}
	// It refuses the loopback unless it is told to.
	fetch := l.python.server(fetchServer, "--allow-private-ips")
	// Where it finds Node, it has npm install a package when the first page comes;
	// here it must not leave the loopback, and finds one that does not work.
	broken := filepath.Join(l.dir, "broken")
	if err := os.MkdirAll(broken, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(broken, "node"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		return nil, err
	}
	fetch.Env["PATH"] = broken + string(filepath.ListSeparator) + os.Getenv("PATH")
	return map[string]server{
		gitServer:   l.python.server(gitServer, "--repository", l.repository()),
		fetchServer: fetch,
		timeServer:  l.python.server(timeServer, "--local-timezone", "Asia/Tokyo"),
	}, nil
}

// repository is what server-git works on.
func (l *lab) repository() string { return filepath.Join(l.dir, "repository") }

func (l *lab) makeRepository() error {
	for _, args := range [][]string{
		{"init", "--quiet", l.repository()},
		{"-C", l.repository(), "config", "user.name", userSays},
		{"-C", l.repository(), "config", "user.email", "taro@example.com"},
	} {
		if out, err := exec.CommandContext(l.ctx, "git", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// openSite serves a page that robots may read and one that they may not.
func (l *lab) openSite() error {
	if l.site != "" {
		return nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for path, page := range map[string]string{
		"/robots.txt": "User-agent: *\nDisallow: /private\n",
		"/door":       "<html><body><article><h1>The door</h1><p>Shoes stay outside.</p></article></body></html>",
		"/private":    "<html><body><p>Nobody reads this.</p></body></html>",
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(page)) })
	}
	site := &http.Server{Handler: mux, ReadHeaderTimeout: stepLimit}
	go func() { _ = site.Serve(listener) }()
	context.AfterFunc(l.ctx, func() { _ = site.Close() })
	l.site = "http://" + listener.Addr().String()
	return nil
}

var gitSteps = []step{
	{"git_status", func(ctx context.Context, v *visit) error {
		if err := os.WriteFile(filepath.Join(v.repository, v.name), []byte(fileText+"\n"), 0o600); err != nil {
			return err
		}
		return v.call(ctx, "git_status", map[string]any{"repo_path": v.repository}, v.name)
	}},
	{"git_add, git_commit", func(ctx context.Context, v *visit) error {
		if err := v.call(ctx, "git_add", map[string]any{"repo_path": v.repository, "files": []string{v.name}}, "Files staged successfully"); err != nil {
			return err
		}
		return v.call(ctx, "git_commit", map[string]any{"repo_path": v.repository, "message": "玄関: " + v.name}, "Changes committed successfully")
	}},
	{"git_show", func(ctx context.Context, v *visit) error {
		return v.call(ctx, "git_show", map[string]any{"repo_path": v.repository, "revision": "HEAD"}, "玄関: "+v.name)
	}},
	{"a revision that is not there", func(ctx context.Context, v *visit) error {
		return v.callFails(ctx, "git_show", map[string]any{"repo_path": v.repository, "revision": "nowhere"}, "did not resolve to an object")
	}},
}

var fetchSteps = []step{
	{"fetch", func(ctx context.Context, v *visit) error {
		return v.call(ctx, fetchServer, map[string]any{"url": v.site + "/door"}, `# The door\n\nShoes stay outside.`)
	}},
	{"fetch a part", func(ctx context.Context, v *visit) error {
		return v.call(ctx, fetchServer, map[string]any{"url": v.site + "/door", "max_length": 3, "raw": true}, "start_index of 3")
	}},
	{"fetch as a prompt", func(ctx context.Context, v *visit) error {
		name, err := v.find(ctx, "prompts/list", "prompts", "name", fetchServer)
		if err != nil {
			return err
		}
		return v.ask(ctx, "prompts/get", map[string]any{"name": name, "arguments": map[string]any{"url": v.site + "/private"}}, "Nobody reads this.")
	}},
	{"a page that robots may not read", func(ctx context.Context, v *visit) error {
		return v.callFails(ctx, fetchServer, map[string]any{"url": v.site + "/private"}, "autonomous fetching of this page is not allowed")
	}},
}

var timeSteps = []step{
	{"get_current_time", func(ctx context.Context, v *visit) error {
		return v.call(ctx, "get_current_time", map[string]any{"timezone": "Asia/Tokyo"}, "+09:00")
	}},
	{"convert_time", func(ctx context.Context, v *visit) error {
		return v.call(ctx, "convert_time", map[string]any{
			"source_timezone": "Asia/Tokyo", "time": "16:30", "target_timezone": "UTC",
		}, `"time_difference":"-9.0h"`)
	}},
	{"a time zone that is not there", func(ctx context.Context, v *visit) error {
		return v.callFails(ctx, "get_current_time", map[string]any{"timezone": "Mars/Olympus"}, "Invalid timezone")
	}},
}

// callFails calls a tool that must answer with an error.
func (v *visit) callFails(ctx context.Context, tool string, arguments map[string]any, want string) error {
	name, err := v.tool(ctx, tool)
	if err != nil {
		return err
	}
	raw, err := v.peer.do(ctx, "tools/call", calling(name, arguments))
	if err != nil { // the Inspector ends with an error when a tool does
		raw = json.RawMessage(err.Error())
	} else {
		var result struct {
			IsError bool `json:"isError"`
		}
		if err := json.Unmarshal(raw, &result); err != nil || !result.IsError {
			return fmt.Errorf("the result is no error: %s", raw)
		}
	}
	if !strings.Contains(string(raw), want) {
		return fmt.Errorf("the error is %s", raw)
	}
	return nil
}
