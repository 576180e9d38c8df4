package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"genkan/internal/api/client"
	"genkan/internal/clients"
	"genkan/internal/gateway"
	"genkan/internal/setup"
)

// showPlan shows what an import found and would do. fresh are the new servers.
func (c *command) showPlan(plan client.ImportPlan, fresh []client.ImportServer) {
	out := c.std.Out
	for _, f := range plan.Files {
		c.showFile(plan, f)
	}
	for _, n := range plan.Notes {
		about := n.Title
		if n.Server != "" {
			about += ", " + n.Server
		}
		fmt.Fprintln(out, gateway.Printable("  "+about+": "+n.Text))
	}
	for _, f := range plan.Files {
		if f.Problem != "" {
			fmt.Fprintln(out, gateway.Printable(c.say("%s was left alone: %s", f.Title, f.Problem)))
		}
	}
	for _, name := range plan.MissingVariables {
		fmt.Fprintln(out, "  "+c.say("the variable %s is not set here; the servers that use it wait for `genkan secrets set %s`, or for the variable", name, name))
	}
	secrets := 0
	for _, s := range fresh {
		secrets += s.Secrets
	}
	switch {
	case len(fresh) > 0 && secrets > 0:
		fmt.Fprintln(out, c.say("New servers for %s: %d. Keys that are kept encrypted, and not in plain text: %d.", c.shortPath(c.ownConfig()), len(fresh), secrets))
	case len(fresh) > 0:
		fmt.Fprintln(out, c.say("New servers for %s: %d.", c.shortPath(c.ownConfig()), len(fresh)))
	case len(plan.Servers) > 0 || plan.Connected > 0:
		fmt.Fprintln(out, c.say("There is nothing new: genkan has all of these servers."))
	default:
		fmt.Fprintln(out, c.say("There are no servers in these files."))
	}
}

// showFile lists the servers of a file.
func (c *command) showFile(plan client.ImportPlan, f client.ImportFile) {
	var all []shown
	for _, s := range plan.Servers {
		for i, origin := range s.Origins {
			if origin.Path != f.Path || origin.Client != f.Client {
				continue
			}
			name := origin.Name
			if s.Name != origin.Name {
				name = c.say("%s (as %s)", origin.Name, s.Name)
			}
			one := shown{name: name, lines: []string{c.say("(known)")}}
			if !s.Known {
				one.lines = c.whatRuns(s)
				if i > 0 {
					one.lines = one.lines[:1] // the first origin shows the rest
				}
			}
			if about := c.aboutOrigin(s, i); about != "" {
				one.lines = append(one.lines, about)
			}
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return
	}
	if f.Project {
		fmt.Fprintln(c.std.Out, gateway.Printable(c.say("%s, %s, which came with the project:", f.Title, c.shortPath(f.Path))))
	} else {
		fmt.Fprintln(c.std.Out, gateway.Printable(c.say("%s, %s:", f.Title, c.shortPath(f.Path))))
	}
	c.list(all)
}

// whatRuns describes all of a server without its secrets. The first line is its
// command or address.
func (c *command) whatRuns(s client.ImportServer) []string {
	lines := c.howReached(s)
	for _, in := range s.Inputs {
		if in.Default != "" {
			lines = append(lines, c.say("default of %s: %s", "${secret:"+in.Secret+"}", commandLine([]string{in.Default})))
		}
	}
	return lines
}

func (c *command) howReached(s client.ImportServer) []string {
	if s.URL != "" {
		lines := []string{s.URL}
		if len(s.Headers) > 0 {
			lines = append(lines, c.say("headers: %s", listed(s.Headers)))
		}
		return lines
	}
	words := []string{c.shortened(s.Command)}
	for _, arg := range s.Args {
		words = append(words, c.shortened(arg))
	}
	lines := []string{commandLine(words)}
	if len(s.Variables) > 0 {
		lines = append(lines, c.say("variables: %s", listed(s.Variables)))
	}
	for _, v := range s.Variables {
		if v.Caution != "" {
			lines = append(lines, c.say("caution: %s can make it run other code", commandLine([]string{v.Name + "=" + v.Caution})))
		}
	}
	if s.Folder != "" {
		lines = append(lines, c.say("folder: %s", commandLine([]string{c.shortened(s.Folder)})))
	}
	return lines
}

// listed lists variables or headers with the names that their values refer to,
// because a server may ask for another server's secret.
func listed(variables []client.ImportVariable) string {
	var all []string
	for _, v := range variables {
		text := commandLine([]string{v.Name})
		if len(v.From) > 0 {
			text += " (" + strings.Join(v.From, ", ") + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// aboutOrigin describes an entry, except what it runs.
func (c *command) aboutOrigin(s client.ImportServer, i int) string {
	var words []string
	if s.Secrets > 0 {
		words = append(words, c.say("keys: %d", s.Secrets))
	}
	if s.Disabled {
		words = append(words, c.say("disabled"))
	}
	if section := s.Origins[i].Section; section != "" {
		words = append(words, c.shortPath(section))
	}
	if i > 0 {
		words = append(words, c.say("the same as in %s", s.Origins[0].Title))
	} else if s.NameOf != "" {
		words = append(words, c.say("not the same as in %s", clients.Title(s.NameOf)))
	}
	return strings.Join(words, ", ")
}

// suggestConnect names the next step for the clients whose servers genkan has.
func (c *command) suggestConnect(added []client.ImportServer) {
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
		show(setup.AllClients, slices.Contains(slices.Collect(maps.Values(which)), true))
		fmt.Fprintln(c.std.Out, c.say("or one by one:"))
	}
	for _, name := range names {
		show(name, own[name])
	}
}
