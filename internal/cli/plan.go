package cli

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"genkan/internal/clients"
	"genkan/internal/gateway"
)

// showPlan says what an import found and would do.
func (c *command) showPlan(g clients.Gathered, fresh []clients.Found, files []clients.File) {
	out := c.std.Out
	for _, scope := range []clients.Scope{clients.User, clients.Project} {
		for _, f := range files {
			if f.Scope == scope {
				c.showFile(g, fresh, f)
			}
		}
	}
	for _, n := range g.Notes {
		about := titleOf(n.File.Client)
		if n.Server != "" {
			about += ", " + n.Server
		}
		fmt.Fprintln(out, gateway.Printable("  "+about+": "+c.language.Text(n.Text)))
	}
	for _, b := range g.Broken {
		fmt.Fprintln(out, gateway.Printable(c.say("%s was left alone: %s", titleOf(b.File.Client), c.language.Error(gateway.AsError(b.Err)))))
	}
	for _, name := range g.Variables {
		if _, set := os.LookupEnv(name); !set && used(fresh, name) {
			fmt.Fprintln(out, "  "+c.say("the variable %s is not set here; the servers that use it wait for `genkan secrets set %s`, or for the variable", name, name))
		}
	}
	secrets := 0
	for _, f := range fresh {
		secrets += len(f.Secrets)
	}
	switch {
	case len(fresh) > 0 && secrets > 0:
		fmt.Fprintln(out, c.say("New servers for %s: %d. Keys that are kept encrypted, and not in plain text: %d.", c.homely(c.ownConfig()), len(fresh), secrets))
	case len(fresh) > 0:
		fmt.Fprintln(out, c.say("New servers for %s: %d.", c.homely(c.ownConfig()), len(fresh)))
	case len(g.Found) > 0 || g.Own > 0:
		fmt.Fprintln(out, c.say("There is nothing new: genkan has all of these servers."))
	default:
		fmt.Fprintln(out, c.say("There are no servers in these files."))
	}
}

// showFile lists the servers of a file.
func (c *command) showFile(g clients.Gathered, fresh []clients.Found, f clients.File) {
	var all []shown
	for _, found := range g.Found {
		for _, origin := range found.Origins {
			if origin.Path != f.Path || origin.Client != f.Client {
				continue
			}
			name := origin.Name
			if found.Name != origin.Name {
				name = c.say("%s (as %s)", origin.Name, found.Name)
			}
			one := shown{name: name, lines: []string{c.say("(known)")}}
			first := found.Origins[0] == origin
			if i := slices.IndexFunc(fresh, func(f clients.Found) bool { return f.Name == found.Name }); i >= 0 {
				one.lines = c.whatRuns(fresh[i])
				if !first {
					one.lines = one.lines[:1] // the rest is told where it is first
				}
			}
			if about := c.aboutFound(g, found, origin); about != "" {
				one.lines = append(one.lines, about)
			}
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return
	}
	if f.Scope == clients.Project {
		fmt.Fprintln(c.std.Out, gateway.Printable(c.say("%s, %s, which came with the project:", titleOf(f.Client), c.homely(f.Path))))
	} else {
		fmt.Fprintln(c.std.Out, gateway.Printable(c.say("%s, %s:", titleOf(f.Client), c.homely(f.Path))))
	}
	c.list(all)
}

// whatRuns shows a server whole, without its secrets: those are references by
// now. The first line is its command or address.
func (c *command) whatRuns(s clients.Found) []string {
	lines := c.howReached(s)
	for _, in := range s.Inputs {
		if value := defaultOf(in); value != "" {
			lines = append(lines, c.say("default of %s: %s", "${secret:"+in.Secret+"}", commandLine([]string{clients.Mask(value)})))
		}
	}
	return lines
}

func (c *command) howReached(s clients.Found) []string {
	if s.URL != "" {
		lines := []string{address(s.URL)}
		if len(s.Headers) > 0 {
			lines = append(lines, c.say("headers: %s", listed(s.Headers, s.Secrets)))
		}
		return lines
	}
	words := []string{c.shortened(s.Command)}
	for _, arg := range s.Args {
		words = append(words, c.shortened(arg))
	}
	lines := []string{commandLine(words)}
	if len(s.Env) > 0 {
		lines = append(lines, c.say("variables: %s", listed(s.Env, s.Secrets)))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if clients.Steers(name) {
			lines = append(lines, c.say("caution: %s can make it run other code", commandLine([]string{name + "=" + clients.Mask(s.Env[name].Reveal())})))
		}
	}
	if s.Cwd != "" && s.Cwd != s.Section {
		lines = append(lines, c.say("folder: %s", commandLine([]string{c.shortened(s.Cwd)})))
	}
	return lines
}

// address shows a URL without its query, which may hold keys that do not look
// like any; only the variables in it are named.
func address(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	text := u.Scheme + "://" + u.Host + u.Path
	if u.RawQuery != "" {
		text += "?…" + strings.Join(clients.References(u.RawQuery), "…")
	}
	return text
}

// listed names variables or headers, with what their values refer to beside the
// secrets that stood there themselves: a server may ask for somebody else's.
func listed(values map[string]gateway.Secret, own []clients.Literal) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text := commandLine([]string{name})
		from := slices.DeleteFunc(clients.References(values[name].Reveal()), func(r string) bool {
			return slices.ContainsFunc(own, func(l clients.Literal) bool { return r == "${secret:"+l.Variable+"}" })
		})
		if len(from) > 0 {
			text += " (" + strings.Join(from, ", ") + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// shortened writes ~ for the home directory wherever it stands in a text.
func (c *command) shortened(text string) string {
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		text = strings.ReplaceAll(text, home+string(os.PathSeparator), "~"+string(os.PathSeparator))
	}
	return text
}

func (c *command) aboutFound(g clients.Gathered, found clients.Found, origin clients.Origin) string {
	var words []string
	if n := len(found.Secrets); n > 0 && !found.Known {
		words = append(words, c.say("keys: %d", n))
	}
	if found.Disabled {
		words = append(words, c.say("disabled"))
	}
	if origin.Section != "" {
		words = append(words, c.homely(origin.Section))
	}
	if first := found.Origins[0]; first != origin {
		words = append(words, c.say("the same as in %s", titleOf(first.Client)))
	} else if found.Name != origin.Name {
		for _, other := range g.Found {
			if other.Name == origin.Name && len(other.Origins) > 0 {
				words = append(words, c.say("not the same as in %s", titleOf(other.Origins[0].Client)))
			}
		}
	}
	return strings.Join(words, ", ")
}

func titleOf(client string) string {
	if known, ok := clients.Lookup(client); ok {
		return known.Title
	}
	return client
}

// suggestConnect names the next step for the clients of servers that genkan has.
func (c *command) suggestConnect(added []clients.Found) {
	var names []string
	own := map[string]bool{} // clients with an entry outside of projects
	// fresh has the clients of servers that this import added. If all of those came
	// with a project, the next step is to connect the project's files.
	fresh, freshOwn := map[string]bool{}, map[string]bool{}
	for _, f := range added {
		for _, o := range f.Origins {
			if _, ok := clients.Lookup(o.Client); !ok {
				continue
			}
			if !slices.Contains(names, o.Client) {
				names = append(names, o.Client)
			}
			own[o.Client] = own[o.Client] || !f.Project
			if !f.Known {
				fresh[o.Client] = true
				freshOwn[o.Client] = freshOwn[o.Client] || !f.Project
			}
		}
	}
	if len(names) == 0 {
		return
	}
	fmt.Fprintln(c.std.Out, c.say("Next, let your clients come through genkan (`genkan undo` takes it back):"))
	for client := range fresh {
		own[client] = freshOwn[client]
	}
	show := func(name string, own bool) {
		if own {
			fmt.Fprintln(c.std.Out, "  genkan connect "+name+" --write")
		} else {
			fmt.Fprintln(c.std.Out, "  genkan connect "+name+" --project --write")
		}
	}
	if len(names) > 1 {
		which := own
		if len(fresh) > 0 {
			which = freshOwn
		}
		show(allClients, slices.Contains(slices.Collect(maps.Values(which)), true))
		fmt.Fprintln(c.std.Out, c.say("or one by one:"))
	}
	for _, name := range names {
		show(name, own[name])
	}
}
