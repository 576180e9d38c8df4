package config

import "genkan/internal/gateway"

// Listing says how tools are listed to a client.
type Listing struct {
	// Mode is gateway.ModeAll or gateway.ModeSearch; empty if it is not set.
	Mode string
	// Pinned selects the tools that search mode lists: globs for the names that
	// clients use.
	Pinned []string
}

// Profile is a named set of servers and tools.
type Profile struct {
	Listing
	Name string
	// Servers are those in it; nil is all.
	Servers []string
	// Tools is a filter over the names that clients use.
	Tools ToolFilter
}

// Client configures what a client sees unless it asks for something else. Its name
// is that of its token, or local.
type Client struct {
	Listing
	Name string
	// Profile is the name of its profile; empty for all servers and tools.
	Profile string
	// Budget is how many tokens an answer to it may have; 0 if it is not set.
	Budget int
}

func modes() []string { return []string{gateway.ModeAll, gateway.ModeSearch} }

func (d *decoder) listingFields(l *Listing) []field {
	return []field{
		{"mode", func(n *node, at string) { l.Mode, _ = d.oneOf(n, at, modes()) }},
		{"pinned", func(n *node, at string) { l.Pinned = d.globs(n, at) }},
	}
}

func (d *decoder) profileFields(p *Profile) []field {
	return append(d.listingFields(&p.Listing),
		field{"servers", func(n *node, at string) {
			p.Servers = []string{}
			d.list(n, at, func(_ string, item *node, at string) {
				if name, ok := d.text(item, at); ok {
					p.Servers = append(p.Servers, name)
					d.referred = append(d.referred, reference{item.at, at, name, "mcpServers"})
				}
			})
		}},
		field{"tools", func(n *node, at string) { d.object(n, at, d.toolFields(&p.Tools)) }},
	)
}

func (d *decoder) clientFields(c *Client) []field {
	return append(d.listingFields(&c.Listing), field{"profile", func(n *node, at string) {
		if name, ok := d.text(n, at); ok {
			c.Profile = name
			d.referred = append(d.referred, reference{n.at, at, name, "profiles"})
		}
	}}, field{"budget", func(n *node, at string) { c.Budget = d.budget(n, at) }})
}

// profiles decodes the named sets.
func (d *decoder) profiles(n *node, at string) (all []Profile) {
	if !d.is(n, kindMap, at) {
		return nil
	}
	d.each(n, at, func(e entry) {
		p := Profile{Name: e.key}
		if !gateway.IsServerName(e.key) {
			d.problems.add(e.at, "%q cannot be the name of a profile: use a letter, then letters, digits and - (all lower case, at most %d)", cutWord(e.key), gateway.MaxServerName)
		}
		if e.value.kind != kindNull {
			d.object(e.value, join(at, e.key), d.profileFields(&p))
		}
		all = append(all, p)
	})
	return all
}

func (d *decoder) clients(n *node, at string) (all []Client) {
	if !d.is(n, kindMap, at) {
		return nil
	}
	d.each(n, at, func(e entry) {
		c := Client{Name: e.key}
		if e.value.kind != kindNull {
			d.object(e.value, join(at, e.key), d.clientFields(&c))
		}
		all = append(all, c)
	})
	return all
}

// reference is a name that must stand elsewhere in the file.
type reference struct {
	at          position
	from        string
	name, where string
}

// checkReferences is for the end, when all names are known.
func (d *decoder) checkReferences(l *layer) {
	known := map[string]bool{"mcpServers." + KnowledgeSource: !l.knowledge.Off}
	for _, s := range l.servers {
		known["mcpServers."+s.Name] = true
	}
	for _, i := range l.n8n {
		known["mcpServers."+i.Name] = true
	}
	for _, k := range d.from.Stored {
		known["mcpServers."+k.Name] = true
	}
	for _, p := range l.profiles {
		known["profiles."+p.Name] = true
	}
	for _, r := range d.referred {
		if !known[r.where+"."+r.name] {
			d.problems.add(r.at, "%s names %q, which is not in %s", r.from, cutWord(r.name), r.where)
		}
	}
}

// Profile finds a profile.
func (c *Config) Profile(name string) (Profile, bool) {
	for _, p := range c.Profiles {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

// Client is what a client is shown: its own entry, or else what holds for all.
// Clients that start genkan are meant by their name, as those with a token of
// that name are, or else by the name of all of them.
func (c *Config) Client(id string) Client {
	out := Client{Name: id, Listing: c.Listing}
	entry, found := c.entry(id)
	if name, isLocal := gateway.LocalName(id); isLocal {
		if entry, found = c.entry(name); !found {
			entry, found = c.entry(gateway.LocalClient)
		}
	}
	if !found {
		return out
	}
	out.Profile, out.Budget = entry.Profile, entry.Budget
	if entry.Mode != "" {
		out.Mode = entry.Mode
	}
	if entry.Pinned != nil {
		out.Pinned = entry.Pinned
	}
	return out
}

func (c *Config) entry(name string) (Client, bool) {
	for _, each := range c.Clients {
		if each.Name == name {
			return each, true
		}
	}
	return Client{}, false
}
