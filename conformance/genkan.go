package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

// server is an entry of mcpServers.
type server struct {
	URL     string            `json:"url,omitempty"`
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// OAuth is a client that was registered by hand.
	OAuth map[string]string `json:"oauth,omitempty"`
	// Prefix is bare for what the suite asks for, which has fixed names.
	Prefix *string `json:"prefix,omitempty"`
	// Schemas is original for it: the suite looks for what it wrote.
	Schemas string `json:"schemas,omitempty"`
}

// bare mounts a server as it is: without a prefix, with its own schemas.
func (s server) bare() server {
	s.Prefix, s.Schemas = new(string), "original"
	return s
}

// door is a running genkan.
type door struct {
	*process
	address, dataDir, token string
}

func (d *door) url() string { return "http://" + d.address + "/mcp" }

// configurationOf is a house of servers alone: what is compared is what they do
// without genkan.
func configurationOf(servers map[string]server) map[string]any {
	return map[string]any{"mcpServers": servers, "kb": map[string]bool{"enabled": false}}
}

// furnish makes a data directory for genkan with the given servers.
func (l *lab) furnish(name string, servers map[string]server) (string, error) {
	return l.furnishWith(name, configurationOf(servers))
}

// furnishWith is furnish with a whole configuration.
func (l *lab) furnishWith(name string, configuration map[string]any) (string, error) {
	dir := filepath.Join(l.dir, "data-"+name)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	// JSON is YAML.
	settings, err := json.MarshalIndent(configuration, "", "  ")
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "genkan.yaml"), settings, 0o600)
}

// openDoor starts genkan before the given servers. It does not wait for them.
func (l *lab) openDoor(name string, servers map[string]server) (*door, error) {
	return l.openDoorWith(name, configurationOf(servers))
}

// openDoorWith is openDoor with a whole configuration.
func (l *lab) openDoorWith(name string, configuration map[string]any) (*door, error) {
	dir, err := l.furnishWith(name, configuration)
	if err != nil {
		return nil, err
	}
	d := &door{dataDir: dir}
	if d.address, err = freeAddress(); err != nil {
		return nil, err
	}
	d.process, err = l.start("genkan-"+name, l.genkan, "serve", "--data", d.dataDir, "--listen", d.address, "--log-level", "debug")
	if err != nil {
		return nil, err
	}
	return d, d.until(l.ctx, "listening", func(ctx context.Context) error {
		// The token's file is there before the listener is.
		raw, err := os.ReadFile(filepath.Join(d.dataDir, "admin-token"))
		if err != nil {
			return err
		}
		d.token = strings.TrimSpace(string(raw))
		_, err = d.api().Servers(ctx)
		return err
	})
}

func (d *door) api() *client.Client { return client.New(d.address, gateway.Secret(d.token)) }

// untilReady waits until genkan has spoken with all of its servers.
func (d *door) untilReady(ctx context.Context) error {
	return d.until(ctx, "ready", func(ctx context.Context) error {
		servers, err := d.api().Servers(ctx)
		if err != nil {
			return err
		}
		for _, s := range servers {
			if s.State != "ready" {
				return fmt.Errorf("server %s is %s: %s", s.Name, s.State, s.Problem)
			}
		}
		return nil
	})
}

// speaks checks the era in which genkan speaks with its servers.
func (d *door) speaks(ctx context.Context, era string) error {
	servers, err := d.api().Servers(ctx)
	if err != nil {
		return err
	}
	for _, s := range servers {
		if s.Era != era {
			return fmt.Errorf("genkan speaks the %s era with %s, not the %s one", s.Era, s.Name, era)
		}
	}
	return nil
}

// era is the era in which genkan speaks with its only server.
func (d *door) era(ctx context.Context) (string, error) {
	servers, err := d.api().Servers(ctx)
	if err != nil {
		return "", err
	}
	if len(servers) != 1 {
		return "", fmt.Errorf("genkan has %d servers, not one", len(servers))
	}
	return servers[0].Era, nil
}
