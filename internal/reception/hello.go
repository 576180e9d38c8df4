package reception

import (
	"fmt"
	"os"

	"genkan/internal/bridge"
	"genkan/internal/gateway"
)

// The names of the flags that change how a joined client is served. The other flags
// are about the listener and the log, which each process has of its own.
const (
	settingLang = "lang"
	// settingClient is the name of the client. It is a setting because an owner may
	// ignore unknown fields of a hello, but refuses unknown settings. An owner that
	// ignored the name would serve the client as local, which has more rights.
	settingClient = "client"
)

// Client is the MCP client of a joining process.
type Client struct {
	// Name is the name that the process was started with; empty for none.
	Name string
	// Dir is the directory that the client works in.
	Dir string
	// View is what the client asks to see.
	View gateway.View
}

// Settings are the settings that a joining process and the owner must share.
type Settings struct {
	// ConfigFile is the configuration file: a full path without links.
	ConfigFile string
	// Lang is the language. A joining process without a --lang flag leaves it empty
	// and takes the owner's.
	Lang string
	// Variables are the environment variables that the owner's configuration uses.
	// A joining process leaves them empty.
	Variables Variables
}

// NewHello returns the hello with which a process of this build and these settings
// joins the owner for a client. It describes the environment of this process.
func NewHello(build string, settings Settings, client Client) bridge.Hello {
	h := bridge.Hello{
		Purpose: bridge.PurposeMCP,
		Version: build, Dir: client.Dir, Only: client.View.Servers.Names(), Mode: client.View.Mode,
		ConfigFile:  settings.ConfigFile,
		Settings:    map[string]string{},
		Environment: bridge.FingerprintEnvironment(os.Environ()),
	}
	if settings.Lang != "" {
		h.Settings[settingLang] = settings.Lang
	}
	if client.Name != "" {
		h.Settings[settingClient] = client.Name
	}
	return h
}

// clientOf returns the client of a hello.
func clientOf(h *bridge.Hello) Client {
	return Client{
		Name: h.Settings[settingClient], Dir: h.Dir,
		View: gateway.View{Servers: gateway.NewServerSet(h.Only...), Mode: h.Mode},
	}
}

// Check returns why this process cannot serve a joining process as that process
// would serve its client itself. The refusal is empty if it can.
func (o *Options) Check(h *bridge.Hello) (refusal bridge.Refusal, reason string) {
	if build := o.Welcome.Version; h.Version != build {
		return bridge.RefusedVersion, fmt.Sprintf("it is of version %s, the other one of %s", build, h.Version)
	}
	settings := o.Settings()
	if h.ConfigFile != settings.ConfigFile {
		return bridge.RefusedConfig, fmt.Sprintf("its configuration is in %s, not in %s", settings.ConfigFile, h.ConfigFile)
	}
	for name, value := range h.Settings {
		if name == settingClient {
			if err := o.CheckName(value); err != nil {
				return bridge.RefusedSettings, err.Error()
			}
			continue
		}
		if name != settingLang || value != settings.Lang {
			return bridge.RefusedSettings, fmt.Sprintf("it was started without --%s %s", name, value)
		}
	}
	for name, used := range settings.Variables {
		if !h.Environment.Has(name, used.value, used.isSet) {
			return bridge.RefusedEnvironment, fmt.Sprintf("its configuration uses the environment variable %s, which has another value here", name)
		}
	}
	if err := o.CheckView(clientOf(h).View); err != nil {
		return bridge.RefusedOnly, err.Error()
	}
	return "", ""
}

// Variables are the environment variables that a configuration uses, by name.
type Variables map[string]variable

type variable struct {
	value string
	isSet bool
}

// ownVariables are the variables of the listener, the log and the locale, which each
// process has of its own.
var ownVariables = map[string]bool{
	"HOST": true, "PORT": true, "LOG_LEVEL": true, "CORS_ENABLED": true, "CORS_ORIGIN": true,
	"LC_ALL": true, "LC_MESSAGES": true, "LANG": true,
}

// Record returns a function that looks variables up and adds them to v, except for
// those of the listener, the log and the locale.
func (v Variables) Record(lookupEnv func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, isSet := lookupEnv(name)
		if !ownVariables[name] {
			v[name] = variable{value, isSet}
		}
		return value, isSet
	}
}
