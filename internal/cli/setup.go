package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"genkan/internal/api"
	"genkan/internal/api/client"
	"genkan/internal/app"
	"genkan/internal/clients"
	"genkan/internal/gateway"
	"genkan/internal/lang"
	"genkan/internal/setup"
)

// setupAPI is the API of import, connect and undo: the REST API of a running
// genkan, or the same API in this process.
type setupAPI interface {
	PlanImport(ctx context.Context, which client.ImportSelection) (client.ImportPlan, error)
	Import(ctx context.Context, in client.ImportRequest) (client.ImportResult, error)
	Connections(ctx context.Context, folder string) (client.Connections, error)
	Connect(ctx context.Context, name string, in client.ConnectRequest) (client.ConnectResult, error)
	Undo(ctx context.Context, name string, force bool) (client.UndoResult, error)
}

// setupAPI returns the API of the running genkan. It returns that of this process
// if none runs, or if the running one has a different configuration or sees
// different files, because its environment may differ.
func (c *command) setupAPI(ctx context.Context) setupAPI {
	local := api.NewSetup(c.localSetup(), func() lang.Language { return c.language })
	if c.flags.Listen != "" {
		return local
	}
	remote, err := c.remote(ctx)
	if err != nil {
		return local
	}
	env, err := clients.Here()
	if err != nil {
		return local // it reports the error
	}
	there, err := remote.Connections(ctx, env.WorkDir)
	if err != nil || !c.seesTheSame(env, there) {
		return local
	}
	return remote
}

// localSetup returns the Setup of this process.
func (c *command) localSetup() *setup.Setup {
	return app.NewSetup(app.Options{
		DataDir: c.dataDir, ConfigFile: c.configFile, Flags: c.flags, Command: c.entryCommand(),
	}, c.listeningURL)
}

// seesTheSame reports whether a running genkan has the configuration of this
// command line, and finds clients' files at the same paths.
func (c *command) seesTheSame(env clients.Environment, there client.Connections) bool {
	own, err := filepath.Abs(c.ownConfig())
	if err != nil || own != there.ConfigFile {
		return false
	}
	var here, others []string
	for _, known := range clients.All() {
		for _, f := range known.Files(env) {
			if !slices.Contains(here, f.Path) {
				here = append(here, f.Path)
			}
		}
	}
	for _, known := range there.Clients {
		for _, f := range known.Files {
			others = append(others, f.Path)
		}
	}
	return slices.Equal(here, others)
}

// entryCommand returns the command that entries in clients' files start.
func (c *command) entryCommand() []string {
	words := []string{program()}
	if dir := c.ownDataDir(); dir != "" {
		words = append(words, "--data", dir)
	}
	if c.configFile != "" {
		if file, err := filepath.Abs(c.configFile); err == nil {
			words = append(words, "--config", file)
		}
	}
	return words
}

// ownDataDir is the path of the data directory; empty if it is the one that genkan takes
// unless it is told otherwise.
func (c *command) ownDataDir() string {
	dir, err := filepath.Abs(c.dataDir)
	if err != nil || dir == app.DefaultDataDir() {
		return ""
	}
	return dir
}

// program returns the path of genkan for entries. It prefers a link in the PATH,
// because the link stays when an update replaces the file behind it.
func program() string {
	self, err := os.Executable()
	if err != nil {
		return "genkan"
	}
	linked, err := exec.LookPath("genkan")
	if err != nil || !filepath.IsAbs(linked) {
		return self
	}
	ours, err := os.Stat(self)
	if err != nil {
		return self
	}
	if theirs, err := os.Stat(linked); err == nil && os.SameFile(ours, theirs) {
		return linked
	}
	return self
}

// listeningURL returns the URL of the data directory's genkan; empty if none
// listens.
func (c *command) listeningURL(ctx context.Context) string {
	running, err := c.findOwner(ctx)
	switch {
	case err != nil || running.Listen == "":
		return ""
	case running.TLS:
		return "https://" + running.Listen
	default:
		return "http://" + running.Listen
	}
}

// ownConfig returns the path of genkan's configuration.
func (c *command) ownConfig() string {
	if c.configFile != "" {
		return c.configFile
	}
	return app.DefaultConfigFile(c.dataDir)
}

// problemError converts a problem with a file into an error.
func problemError(p *client.FileProblem) error {
	return gateway.Errorf(client.CodeOf(p.Code, 0), "%s", p.Error)
}

// shortPath replaces the home directory with ~ in a path.
func (c *command) shortPath(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// shortened replaces the home directory with ~ anywhere in a text.
func (c *command) shortened(text string) string {
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		text = strings.ReplaceAll(text, home+string(os.PathSeparator), "~"+string(os.PathSeparator))
	}
	return text
}
