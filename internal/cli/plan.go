package cli

import (
	"fmt"
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
	for _, f := range files {
		rows := c.foundIn(g, fresh, f)
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintln(out, c.say("%s, %s:", titleOf(f.Client), c.homely(f.Path)))
		c.table(rows)
	}
	for _, n := range g.Notes {
		about := titleOf(n.File.Client)
		if n.Server != "" {
			about += ", " + printable(n.Server)
		}
		fmt.Fprintf(out, "  %s: %s\n", about, c.language.Text(n.Text))
	}
	for _, b := range g.Broken {
		fmt.Fprintln(out, c.say("%s was left alone: %s", titleOf(b.File.Client), c.language.Error(gateway.AsError(b.Err))))
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

// foundIn are the rows of a file's servers.
func (c *command) foundIn(g clients.Gathered, fresh []clients.Found, f clients.File) [][]string {
	var rows [][]string
	for _, found := range g.Found {
		for _, origin := range found.Origins {
			if origin.Path != f.Path || origin.Client != f.Client {
				continue
			}
			name := origin.Name
			if found.Name != origin.Name {
				name = c.say("%s (as %s)", origin.Name, found.Name)
			}
			rows = append(rows, []string{"  " + name, c.whatIs(found, fresh), c.aboutFound(g, found, origin)})
		}
	}
	return rows
}

// whatIs shows a server without its secrets: those are references by now.
func (c *command) whatIs(found clients.Found, fresh []clients.Found) string {
	const most = 60
	if i := slices.IndexFunc(fresh, func(f clients.Found) bool { return f.Name == found.Name }); i >= 0 {
		found = fresh[i]
	} else {
		return c.say("(known)")
	}
	text := strings.Join(append([]string{found.Command}, found.Args...), " ")
	if found.URL != "" {
		text = found.URL
		if u, err := url.Parse(found.URL); err == nil {
			text = u.Scheme + "://" + u.Host + u.Path
		}
	}
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		text = strings.ReplaceAll(text, home+string(os.PathSeparator), "~"+string(os.PathSeparator))
	}
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
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

// suggestConnect names the next step.
func (c *command) suggestConnect(g clients.Gathered) {
	var names []string
	for _, f := range g.Found {
		for _, o := range f.Origins {
			if _, ok := clients.Lookup(o.Client); ok && !slices.Contains(names, o.Client) {
				names = append(names, o.Client)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	fmt.Fprintln(c.std.Out, c.say("Next, let your clients come through genkan (`genkan undo` takes it back):"))
	show := func(name string) { fmt.Fprintln(c.std.Out, "  genkan connect "+name+" --write") }
	if len(names) > 1 {
		show(allClients)
		fmt.Fprintln(c.std.Out, c.say("or one by one:"))
	}
	for _, name := range names {
		show(name)
	}
}
