package app

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"genkan/internal/bridge"
	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/mcpserver"
)

// The flags that change what a joined client gets. Others are about the
// listener and the log, which every process has of its own.
const (
	settingLang = "lang"
	// settingClient is the name that a client comes under. It is a setting and
	// not a field that may be ignored: whoever did not know it would serve the
	// client as local, with more rights and perhaps another profile.
	settingClient = "client"
)

// Hello is what a process with these options says when it joins another one.
func Hello(opt Options, client mcpserver.StdioOptions) bridge.Hello {
	h := bridge.Hello{
		Purpose: bridge.PurposeMCP,
		Version: buildOf(opt.Version), Dir: client.Dir, Only: client.View.Servers.Names(), Mode: client.View.Mode,
		ConfigFile:  realPath(opt.configFile()),
		Environment: bridge.FingerprintEnvironment(os.Environ()),
	}
	h.Settings = map[string]string{}
	if opt.Flags.Lang != "" {
		h.Settings[settingLang] = opt.Flags.Lang
	}
	if client.Client != "" {
		h.Settings[settingClient] = client.Client
	}
	return h
}

// buildOf tells builds apart that all call themselves the same while somebody
// works on them.
func buildOf(version string) string {
	if version != "dev" && !strings.HasSuffix(version, "-dirty") {
		return version
	}
	self, err := os.Executable()
	if err != nil {
		return version
	}
	info, err := os.Stat(self)
	if err != nil {
		return version
	}
	return version + "+" + strconv.FormatInt(info.ModTime().UnixNano(), 36)
}

// realPath is a full path without links, as far as it exists.
func realPath(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// cannotHonour says what a process that wants to join asked for and would not
// get here, and nothing when it would get it all.
func (p *Process) cannotHonour(h *bridge.Hello) (bridge.Refusal, string) {
	if h.Version != p.buildID {
		return bridge.RefusedVersion, fmt.Sprintf("it is of version %s, the other one of %s", p.buildID, h.Version)
	}
	if file := realPath(p.ConfigFile()); h.ConfigFile != file {
		return bridge.RefusedConfig, fmt.Sprintf("its configuration is in %s, not in %s", file, h.ConfigFile)
	}
	for name, value := range h.Settings {
		if name == settingClient {
			if err := identity.CheckLocalName(value); err != nil {
				return bridge.RefusedSettings, err.Error()
			}
			continue
		}
		if name != settingLang || value != p.Config().Lang {
			return bridge.RefusedSettings, fmt.Sprintf("it was started without --%s %s", name, value)
		}
	}
	for name, used := range *p.variables.Load() {
		if !h.Environment.Has(name, used.value, used.isSet) {
			return bridge.RefusedEnvironment, fmt.Sprintf("its configuration uses the environment variable %s, which has another value here", name)
		}
	}
	if err := p.mcp.Check(mcpserver.StdioOptions{View: viewOf(h)}); err != nil {
		return bridge.RefusedOnly, err.Error()
	}
	return "", ""
}

// viewOf is the view that a joining process asks for.
func viewOf(h *bridge.Hello) gateway.View {
	return gateway.View{Servers: gateway.NewServerSet(h.Only...), Mode: h.Mode}
}

// variables are the environment variables that a configuration was made with.
type variables map[string]variable

type variable struct {
	value string
	isSet bool
}

// ownVariables are those of the listener and the log, which every process has
// of its own.
var ownVariables = map[string]bool{
	"HOST": true, "PORT": true, "LOG_LEVEL": true, "CORS_ENABLED": true, "CORS_ORIGIN": true,
}

// lookup looks a variable up and remembers it.
func (v variables) lookup(lookupEnv func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, isSet := lookupEnv(name)
		if !ownVariables[name] {
			v[name] = variable{value, isSet}
		}
		return value, isSet
	}
}

// ServeJoined serves a client that has joined over a connection, until it
// leaves or ctx ends.
func (p *Process) ServeJoined(ctx context.Context, conn net.Conn, opt mcpserver.StdioOptions) error {
	client := bridge.NewJoined(conn)
	defer client.Close()
	return p.serveJoined(ctx, client, opt)
}

func (p *Process) serveJoined(ctx context.Context, client *bridge.Joined, opt mcpserver.StdioOptions) error {
	opt.Gone, opt.Seen = client.Gone(), p.keeper.Local(opt.Client)
	return p.mcp.ServeStdio(ctx, client, client, opt)
}
