package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// signInPart is the part with the client scenarios about authorization.
const signInPart = "sign-in"

// authPrefix begins the names of the scenarios about authorization.
const authPrefix = "auth/"

// firstAuthorization is the revision whose servers were their own authorization
// servers. Its scenarios are in nobody's requirements any more, but its servers
// are still there.
const firstAuthorization = "2025-03-26"

var firstAuthorizationScenarios = []string{"auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"}

// askSignIns runs the scenarios about authorization: the Go SDK's own
// conformance client directly, and genkan, which is signed in by its command.
// Whoever calls genkan has no part in that, so one caller is enough.
func (l *lab) askSignIns() ([]clientResult, error) {
	l.say("building the SDK's client")
	var err error
	if l.sdkClient, err = l.build("everything-client", "github.com/modelcontextprotocol/go-sdk/conformance/everything-client"); err != nil {
		return nil, err
	}
	var out []clientResult
	ask := func(scenario, revision, era string) error {
		l.say("sign-in scenario %s, %s", scenario, revision)
		r := clientResult{scenario: scenario, era: revision}
		if r.direct, err = l.runAuth(scenario, revision, era, false); err != nil {
			return err
		}
		if r.same, err = l.runAuth(scenario, revision, era, true); err != nil {
			return err
		}
		r.direct, r.same = distinct(r.direct), distinct(r.same)
		if refusal := (check{ID: finished, Status: failure}); has(r.direct, refusal) && has(r.same, refusal) {
			// The scenario's server is not to be trusted, and neither has.
			r.direct, r.same = without(r.direct, finished), without(r.same, finished)
		}
		r.differences = compare(results{scenario: r.direct}, results{scenario: r.same}, nil)
		explain(signInPart, r.differences)
		out = append(out, r)
		return nil
	}
	for _, scenario := range firstAuthorizationScenarios {
		if err := ask(scenario, firstAuthorization, legacy); err != nil {
			return out, fmt.Errorf("%s: %w", scenario, err)
		}
	}
	for _, era := range []string{legacy, modern} {
		set, err := l.requirementsOf(era)
		if err != nil {
			return out, err
		}
		for _, scenario := range set.Client {
			if !strings.HasPrefix(scenario, authPrefix) {
				continue
			}
			if err := ask(scenario, revision(era), era); err != nil {
				return out, fmt.Errorf("%s, %s: %w", scenario, era, err)
			}
		}
	}
	return out, nil
}

// distinct counts each check once, as it went at its worst: how often a client
// tries is no merit.
func distinct(checks []check) []check {
	var out []check
	for _, c := range checks {
		i := slices.IndexFunc(out, func(o check) bool { return o.ID == c.ID })
		switch {
		case i < 0:
			out = append(out, c)
		case rank(c.Status) < rank(out[i].Status) || out[i].Status == info:
			out[i] = c
		}
	}
	return out
}

func has(checks []check, like check) bool {
	return slices.ContainsFunc(checks, func(c check) bool { return c.ID == like.ID && c.Status == like.Status })
}

func without(checks []check, id string) []check {
	return slices.DeleteFunc(checks, func(c check) bool { return c.ID == id })
}

// runAuth has the suite start its servers, and one of the two sign in to them.
func (l *lab) runAuth(scenario, revision, era string, throughGenkan bool) ([]check, error) {
	way, command := "direct", l.sdkClient
	var env []string
	dir := filepath.Join(l.dir, strings.ReplaceAll("signin-"+scenario+"-"+revision, "/", "-"))
	if throughGenkan {
		way, command = "through", strings.Join([]string{l.self, roleCommand, roleSignIn}, " ")
		env = []string{envCaller + "=" + era, envDir + "=" + dir + "-files", envGenkan + "=" + l.genkan}
	}
	return l.runSuiteClient(scenario, revision, dir+"-"+way, command, env)
}

// runSuiteClient has the suite start its server, and a command be the client.
func (l *lab) runSuiteClient(scenario, revision, dir, command string, env []string) ([]check, error) {
	said, err := l.suite(dir, env, []string{"client", "--scenario", scenario, "--spec-version", revision, "--command", command})
	if err != nil {
		return nil, err
	}
	found, err := readResults(dir)
	if err != nil {
		return nil, fmt.Errorf("%w; the suite said: %s", err, said)
	}
	return append(found[scenario], ending(said)), nil
}

// clientMetadataURL is where the suite believes the client to be described.
const clientMetadataURL = "https://conformance-test.local/client-metadata.json"

// mostLogins is how often a person would sign in, being told to each time.
const mostLogins = 5

// actAsPerson calls a tool through genkan, and signs in whenever genkan says
// that this is needed.
func actAsPerson(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, callerPatience)
	defer cancel()
	l, err := openLab(ctx, options{genkan: os.Getenv(envGenkan), keep: os.Getenv(envDir)}, io.Discard)
	if err != nil {
		return err
	}
	defer l.close()
	suite := server{URL: address, OAuth: givenClient()}.bare()
	d, err := l.openDoorWith("client", map[string]any{
		"mcpServers": map[string]server{"suite": suite}, "oauth": map[string]string{"clientMetadataUrl": clientMetadataURL},
	})
	if err != nil {
		return err
	}
	for logins := 0; ; logins++ {
		err := d.callTestTool(ctx)
		if err == nil || !strings.Contains(err.Error(), "run `genkan login suite`") || logins == mostLogins {
			return err
		}
		tell("call", err)
		if err := l.login(ctx, d); err != nil {
			return err
		}
	}
}

// givenClient is the client that the suite has registered, if it has.
func givenClient() map[string]string {
	var given struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &given) != nil || given.ID == "" {
		return nil
	}
	return map[string]string{"clientId": given.ID, "clientSecret": given.Secret}
}

// callTestTool does what the SDK's client does in these scenarios.
func (d *door) callTestTool(ctx context.Context) error {
	problem := ""
	if err := d.until(ctx, "settled", func(ctx context.Context) error {
		s, err := d.api().Server(ctx, "suite")
		switch {
		case err != nil:
			return err
		case s.State == "starting":
			return errors.New("it is starting")
		case s.State == "down":
			problem = s.Problem
		}
		return nil
	}); err != nil {
		return err
	}
	if problem != "" {
		return errors.New(problem)
	}
	c := &caller{era: os.Getenv(envCaller), address: d.url(), token: d.token}
	return with(nil, func(ctx context.Context, s *mcp.ClientSession) error {
		list, err := s.ListTools(ctx, nil)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name == "test-tool" }) {
			return errors.New("the test tool is not listed")
		}
		result, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "test-tool", Arguments: map[string]any{}})
		if err == nil && result.IsError { // genkan's own failures are results, which people see
			text, _ := json.Marshal(result.Content)
			return errors.New(string(text))
		}
		return err
	})(ctx, c)
}

// login is `genkan login`, with a browser that agrees to everything.
func (l *lab) login(ctx context.Context, d *door) error {
	cmd := exec.CommandContext(ctx, l.genkan, "login", "suite", "--data", d.dataDir, "--log-level", "debug")
	cmd.Env = append(cleanEnvironment(), "BROWSER="+strings.Join([]string{l.self, roleCommand, roleBrowser}, " "))
	said, err := cmd.CombinedOutput()
	fmt.Fprintf(os.Stderr, "%s\n", said)
	if err != nil {
		return fmt.Errorf("genkan login: %w", err)
	}
	return nil
}

// browse opens an address as a browser does.
func browse(ctx context.Context, address string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
