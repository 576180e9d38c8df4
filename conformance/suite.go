package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
)

// suiteDir is where the installed suite lies.
func (l *lab) suiteDir() string {
	return filepath.Join(l.node.modules, "@modelcontextprotocol", "conformance")
}

func (l *lab) requirementsOf(era string) (requirements, error) {
	return readRequirements(filepath.Join(l.suiteDir(), "requirements", revision(era)+".yaml"))
}

// suite runs the suite, which writes its results below dir, and returns what
// it said. A suite that found failures is no error.
func (l *lab) suite(dir string, env, args []string) (string, error) {
	args = append([]string{filepath.Join(l.suiteDir(), "dist", "index.js")}, args...)
	cmd := exec.CommandContext(l.ctx, l.node.binary, append(args, "-o", dir)...)
	cmd.Env = append(cleanEnvironment(), env...)
	log, err := os.Create(dir + ".log")
	if err != nil {
		return "", err
	}
	defer func() { _ = log.Close() }()
	var said bytes.Buffer
	cmd.Stdout = io.MultiWriter(log, &said)
	cmd.Stderr = cmd.Stdout
	err = cmd.Run()
	var failed *exec.ExitError
	if errors.As(err, &failed) && l.ctx.Err() == nil {
		err = nil
	}
	return said.String(), err
}

// askServer runs the server scenarios of an era. With a token, it is shown to
// the server at the URL.
func (l *lab) askServer(name, era, address, token string) (results, error) {
	dir := filepath.Join(l.dir, "results-"+name)
	var env []string
	if token != "" {
		preload, err := l.asset("suite/bearer.mjs")
		if err != nil {
			return nil, err
		}
		origin, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		env = []string{
			"NODE_OPTIONS=--import=file://" + filepath.ToSlash(preload),
			"CONFORMANCE_ORIGIN=" + origin.Scheme + "://" + origin.Host, "CONFORMANCE_TOKEN=" + token,
		}
	}
	said, err := l.suite(dir, env, []string{"server", "--url", address, "--requirements", revision(era)})
	if err != nil {
		return nil, err
	}
	r, err := readResults(dir)
	if err != nil {
		return nil, fmt.Errorf("%w; it said: %s", err, said[max(0, len(said)-2000):])
	}
	return r, nil
}

// askDirect is what the fixture of the client's own era answers, without
// genkan: the measure of every pairing of that client.
func (l *lab) askDirect(era string) (results, error) {
	defer l.stopAll()
	l.say("%s: direct", era)
	s, err := l.httpFixture(era == modern)
	if err != nil {
		return nil, err
	}
	return l.askServer("direct-"+era, era, s.URL, "")
}

// askThrough asks the same through genkan.
func (l *lab) askThrough(p pairing) (results, error) {
	defer l.stopAll()
	l.say("%s: through genkan", p.name)
	s, err := p.behind(l)
	if err != nil {
		return nil, err
	}
	d, err := l.openDoor(p.name, map[string]server{"fixture": s.bare()})
	if err != nil {
		return nil, err
	}
	if err := d.untilReady(l.ctx); err != nil {
		return nil, err
	}
	through, err := l.askServer(p.name, p.client, d.url(), d.token)
	if err != nil {
		return nil, err
	}
	// Only now: the era of a fixture that speaks both follows its client.
	if era, err := d.era(l.ctx); err != nil || era != p.server {
		return nil, errors.Join(err, fmt.Errorf("genkan speaks %s with this fixture, not %s", era, p.server))
	}
	return through, nil
}
