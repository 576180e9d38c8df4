package cli

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"genkan/internal/app"
	"genkan/internal/checkup"
	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

// connections is what is to become of the files of one or more clients. All of
// it is worked out and shown before anything is changed.
type connections struct {
	*command
	how     connecting
	base    clients.Plan
	imports clients.Imports

	planned []plannedFile
	// strangers says that some file has servers that were not imported, shared
	// that a file of a project was left out.
	strangers, shared bool
	// refused is why a file was left alone that cannot be connected; one that must
	// not hold a token comes before one that cannot be read.
	refused *gateway.Error
	// config is genkan's configuration; nil if it cannot be read.
	config *config.Config
}

// plannedFile is a file that will be changed.
type plannedFile struct {
	clients.File
	plan clients.Plan
	// tokens are those that its entries have had.
	tokens []gateway.Secret
}

func (c *command) newConnections(ctx context.Context, how connecting) (*connections, error) {
	imports, err := clients.LoadImports(c.importsFile())
	if err != nil {
		return nil, err
	}
	base, err := c.basePlan(ctx, how)
	if err != nil {
		return nil, err
	}
	cfg, err := c.readConfig()
	if err != nil {
		cfg = nil // an entry can be connected in spite of it
	}
	return &connections{command: c, how: how, base: base, imports: imports, config: cfg}, nil
}

// connectNamed connects clients that somebody named: one that cannot be
// connected is an error, before anything is changed.
func (c *command) connectNamed(ctx context.Context, env clients.Environment, named []clients.Client, how connecting) error {
	all, err := c.newConnections(ctx, how)
	if err != nil {
		return err
	}
	seen := map[string]bool{} // some files are read by several clients
	for _, known := range named {
		files := known.Files(env)
		files = slices.DeleteFunc(files, func(f clients.File) bool {
			_, err := os.Stat(f.Path)
			return err != nil && !(how.aggregate && f.Path == files[0].Path)
		})
		if len(files) == 0 {
			return gateway.Errorf(gateway.CodeNotFound, "%s has no servers on this machine; `genkan connect %s --aggregate --write` makes an entry for genkan", known.Title, known.Name)
		}
		for _, f := range files {
			if seen[f.Path] {
				continue
			}
			seen[f.Path] = true
			if err := all.add(ctx, f); err != nil {
				return err
			}
		}
	}
	if len(all.planned) > 0 || len(named) > 1 || all.shared {
		return all.finish(ctx)
	}
	if all.strangers {
		fmt.Fprintln(c.std.Out, c.say("There is nothing to connect. `genkan import %s` takes over servers that are not here yet; --aggregate makes one entry for all.", named[0].Name))
	} else {
		fmt.Fprintln(c.std.Out, c.say("There is nothing to connect: %s has no servers that do not come through genkan.", named[0].Title))
	}
	return nil
}

// connectAll connects every client that has a file here. A file that cannot be
// read is left alone, and keeps nobody else from being connected.
func (c *command) connectAll(ctx context.Context, env clients.Environment, how connecting) error {
	all, err := c.newConnections(ctx, how)
	if err != nil {
		return err
	}
	files := clients.Find(env)
	if len(files) == 0 {
		return c.showClients(env) // which says what helps
	}
	for _, f := range files {
		if err := all.add(ctx, f); err != nil {
			if ctx.Err() != nil {
				return err
			}
			if all.refused == nil || gateway.AsError(err).Code == gateway.CodeDenied {
				all.refused = gateway.AsError(err)
			}
			fmt.Fprintln(c.std.Out, c.say("%s was left alone: %s", titleOf(f.Client), c.language.Error(gateway.AsError(err))))
		}
	}
	return all.finish(ctx)
}

// add works out what is to become of a file, and shows it.
func (p *connections) add(ctx context.Context, f clients.File) error {
	src, _, err := clients.Contents(f.Path)
	if err != nil {
		return err
	}
	imported, err := f.Parse(src)
	if err != nil {
		return err
	}
	plan := p.base
	var strange []string
	plan.Servers, strange = p.entriesOf(f, imported)
	if len(strange) > 0 {
		p.strangers = true
		fmt.Fprintln(p.std.Out, p.say("%s: not imported yet, and left as they are: %s. `genkan import %s` takes them over.", p.homely(f.Path), gateway.Printable(strings.Join(strange, ", ")), f.Client))
	}
	if len(plan.Servers) == 0 && !p.how.aggregate {
		return nil
	}
	if f.Scope == clients.Project && !p.how.project {
		return p.leaveShared(f, src, plan)
	}
	if p.needsToken(f) {
		if err := f.MayHoldToken(); err != nil {
			return err
		}
		if plan.Token, err = p.tokenFor(ctx, f.Client, false); err != nil {
			return err
		}
	}
	// Entries that lead here already are written anew if they would be others:
	// their token was revoked, or genkan is somewhere else.
	if out, err := f.Connect(src, plan); err != nil {
		return err
	} else if bytes.Equal(out, src) {
		return nil
	}
	if err := f.MayChange(); err != nil {
		return err
	}
	fmt.Fprintln(p.std.Out, p.say("%s, %s:", titleOf(f.Client), p.homely(f.Path)))
	p.table(p.leadRows(f, plan, imported))
	if removed := removedNames(plan, imported); plan.Aggregate && len(removed) > 0 {
		fmt.Fprintln(p.std.Out, "  "+p.say("It replaces these entries: %s. Their tools get new names, SERVER__TOOL, so permission rules that name tools stop matching.", gateway.Printable(strings.Join(removed, ", "))))
	}
	planned := plannedFile{File: f, plan: plan}
	for _, l := range imported.Leads {
		if l.Token != "" {
			planned.tokens = append(planned.tokens, l.Token)
		}
	}
	p.planned = append(p.planned, planned)
	return nil
}

// leaveShared tells of a project's file that would be changed with --project.
func (p *connections) leaveShared(f clients.File, src []byte, plan clients.Plan) error {
	out, err := f.Connect(src, plan)
	if err != nil || bytes.Equal(out, src) {
		return err
	}
	p.shared = true
	fmt.Fprintln(p.std.Out, p.say("%s was left out, because others who work on the project share it; --project connects it, too.", gateway.Printable(p.homely(f.Path))))
	return nil
}

// isHere reports whether an entry with a URL calls this genkan: an address of
// this machine, and a server that is configured here.
func (p *connections) isHere(l clients.Lead) bool {
	u, err := url.Parse(l.URL)
	if err != nil || p.config == nil {
		return false
	}
	configured, _, _ := net.SplitHostPort(checkup.Callable(p.config.Listen))
	ip := net.ParseIP(u.Hostname())
	if u.Hostname() != "localhost" && u.Hostname() != configured && (ip == nil || !ip.IsLoopback()) {
		return false
	}
	return !slices.ContainsFunc(l.Servers, func(name string) bool {
		return name != config.KnowledgeRoom && !slices.ContainsFunc(p.config.Servers, func(s config.Server) bool { return s.Name == name })
	})
}

func (p *connections) needsToken(f clients.File) bool { return !f.Bridged() && !p.base.Bridge }

// finish does what was shown, if it is to be done. It goes on after a file that
// cannot be changed, and tells of the first.
func (p *connections) finish(ctx context.Context) error {
	for _, f := range p.planned {
		if p.needsToken(f.File) {
			fmt.Fprintln(p.std.Out, p.say("Entries with a URL work only while `genkan serve` runs at %s. Without --url, entries start genkan by themselves.", p.base.BaseURL))
			break
		}
	}
	switch {
	case len(p.planned) == 0 && p.refused != nil && (p.refused.Code == gateway.CodeDenied || !p.shared && !p.strangers):
		return p.refused
	case len(p.planned) == 0 && p.shared:
		fmt.Fprintln(p.std.Out, p.say("Nothing was changed."))
		return nil
	case len(p.planned) == 0 && p.strangers:
		fmt.Fprintln(p.std.Out, p.say("There is nothing to connect. `genkan import` takes over servers that are not here yet; --aggregate makes one entry for all."))
		return nil
	case len(p.planned) == 0:
		fmt.Fprintln(p.std.Out, p.say("There is nothing to connect: no client has servers that do not come through genkan."))
		return nil
	case !p.how.write:
		fmt.Fprintln(p.std.Out, p.say("Nothing was changed yet; --write does it."))
		return nil
	}
	var first error
	var changed []string
	for _, f := range p.planned {
		switch err := p.change(ctx, f); {
		case err != nil && first == nil:
			first = err
		case err != nil:
			fmt.Fprintf(p.std.Err, "genkan: %s\n", p.language.Error(gateway.AsError(err)))
		case !slices.Contains(changed, f.Client):
			changed = append(changed, f.Client)
		}
	}
	switch len(changed) {
	case 0:
	case 1:
		fmt.Fprintln(p.std.Out, p.say("Restart %s. `genkan undo %s` puts its files back.", titleOf(changed[0]), changed[0]))
	default:
		var titles []string
		for _, client := range changed {
			titles = append(titles, titleOf(client))
		}
		fmt.Fprintln(p.std.Out, p.say("Restart %s. `genkan undo` puts their files back.", strings.Join(titles, ", ")))
	}
	if err := p.dropTokens(ctx); err != nil && first == nil {
		first = err
	}
	return first
}

// dropTokens revokes the tokens of clients whose entries have none any more.
func (p *connections) dropTokens(ctx context.Context) error {
	var left []gateway.Secret
	env, err := clients.Here()
	if err != nil {
		return err
	}
	for _, f := range clients.Find(env) {
		if imported, err := clients.Read(f); err == nil {
			for _, l := range imported.Leads {
				left = append(left, l.Token)
			}
		}
	}
	for _, f := range p.planned {
		kept, found, err := app.OpenVault(p.dataDir).Load(ctx, clientTokenPrefix+f.Client)
		if err != nil {
			return err
		}
		if !found || !slices.Contains(f.tokens, kept) || slices.Contains(left, kept) {
			continue
		}
		if err := p.dropToken(ctx, f.Client); err != nil {
			return err
		}
		fmt.Fprintln(p.std.Out, p.say("The token that %s had is revoked: no entry uses it any more.", titleOf(f.Client)))
	}
	return nil
}

// change changes one file. The token is made only now.
func (p *connections) change(ctx context.Context, f plannedFile) (err error) {
	if p.needsToken(f.File) {
		if f.plan.Token, err = p.tokenFor(ctx, f.Client, true); err != nil {
			return err
		}
	}
	change, changed, err := p.backups().Connect(f.File, f.plan)
	if err == nil && changed && !change.Created {
		fmt.Fprintln(p.std.Out, p.say("%s is changed; the file from before is kept.", p.homely(f.Path)))
	}
	return err
}
