package doctor

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Limit returns how many tools a client accepts; 0 if no limit is known.
func Limit(client string) int {
	switch client {
	case "cursor":
		return 40
	case "vscode":
		return 128
	default:
		return 0
	}
}

func (e *examination) client(c *Client) {
	e.about(OfClient, c.Name)
	var others, leads int
	for i := range c.Files {
		f := &c.Files[i]
		if f.Problem.Format != "" {
			e.say(Problem, gateway.Textf("its file cannot be read, by genkan or by %s", c.Title)).because(f.Problem).
				advise(gateway.Textf("mend %s by hand", f.Path))
			continue
		}
		others += len(f.Others)
		leads += len(f.Leads)
		e.entries(c, f)
		e.strangers(c, f)
		for j := range f.Leads {
			e.lead(c, f, &f.Leads[j])
		}
		e.tokens(c, f)
		if f.NoWayBack {
			e.say(Warning, gateway.Textf("`genkan undo` cannot put %s back as it was", f.Path)).
				because(gateway.Textf("the backup from before `genkan connect` is gone or damaged")).
				advise(gateway.Textf("to disconnect it, write its former entries by hand"))
		}
	}
	e.started(c)
	if others+leads == 0 && e.facts.Config.Servers > 0 && !e.hasProblem() {
		e.say(Note, gateway.Textf("%s has no MCP servers, genkan among them", c.Title)).run(e.genkan("connect " + c.Name + " --aggregate --write"))
	}
	if limit := Limit(c.Name); limit > 0 && c.Tools > limit {
		e.say(Warning, gateway.Textf("its entries show %d tools, and %s takes about %d", c.Tools, c.Title, limit)).
			because(gateway.Textf("%s does not say which tools it leaves out", c.Title)).
			run(e.genkan("tools list")).orSend("GET", "tools", "", "").
			advise(gateway.Textf("switch off the tools that you do not use, on the Tools page or with `genkan tools disable NAME`"))
	}
}

// hasProblem reports whether the subject already has a problem.
func (e *examination) hasProblem() bool {
	for _, f := range e.found {
		if f.Subject == e.subject && f.Severity == Problem {
			return true
		}
	}
	return false
}

// entries reports how many entries of a file lead to genkan. If one leads to an
// unknown server, strangers reports it, and not all is well.
func (e *examination) entries(c *Client, f *ClientFile) {
	n := len(f.Leads)
	lost := slices.ContainsFunc(f.Leads, func(l Lead) bool { return len(l.Strangers) > 0 })
	switch {
	case len(f.Others) == 0 && (n == 0 || lost):
	case len(f.Others) == 0:
		e.say(OK, gateway.Textf("%s: all entries lead to genkan: %d", f.Path, n))
	case n == 0:
		e.say(Note, gateway.Textf("%s: entries that do not lead to genkan: %s", f.Path, names(f.Others))).
			run(e.takeOver(c, f))
	default:
		e.say(Note, gateway.Textf("%s: %d of %d entries do not lead to genkan: %s", f.Path, len(f.Others), len(f.Others)+n, names(f.Others))).
			run(e.takeOver(c, f))
	}
}

// takeOver returns the command that connects a file's entries to genkan.
func (e *examination) takeOver(c *Client, f *ClientFile) string {
	connect := e.connect(c, f, "")
	if f.Imported {
		return connect
	}
	return e.genkan("import "+c.Name) + " && " + connect
}

// again returns the command that connects an entry again.
func (e *examination) again(c *Client, f *ClientFile, l *Lead) string {
	if l.All {
		return e.connect(c, f, " --aggregate")
	}
	return e.connect(c, f, "")
}

func (e *examination) connect(c *Client, f *ClientFile, flags string) string {
	if f.Project {
		flags += " --project"
	}
	return e.genkan("connect " + c.Name + flags + " --write")
}

// strangers reports entries that lead to unknown servers. They have one cause, so
// there is one finding.
func (e *examination) strangers(c *Client, f *ClientFile) {
	var entries, servers []string
	for _, l := range f.Leads {
		if len(l.Strangers) > 0 {
			entries = append(entries, l.Name)
		}
		for _, name := range l.Strangers {
			if !slices.Contains(servers, name) {
				servers = append(servers, name)
			}
		}
	}
	if len(entries) == 0 {
		return
	}
	title := gateway.Textf("the entry %s of %s leads to the server %s, which is not configured or is off", entries[0], c.Title, gateway.Names(servers))
	list, retake := gateway.Textf("add the server, or delete this entry from the file"), gateway.Textf("import the servers again, or delete this entry from the file")
	back := gateway.Textf("if the file is put back, all of it is as it was before it was connected; to keep the other entries connected, delete only this entry from the file")
	if n := len(entries); n > 1 {
		title = gateway.Textf("%d entries of %s lead to servers that are not configured or are off: %s", n, c.Title, names(servers))
		list, retake = gateway.Textf("add the servers, or delete these entries from the file"), gateway.Textf("import the servers again, or delete these entries from the file")
		back = gateway.Textf("if the file is put back, all of it is as it was before it was connected; to keep the other entries connected, delete only these entries from the file")
	}
	found := e.say(Problem, title).because(gateway.Textf("the file is %s", f.Path)).
		run(e.genkan("servers")).orSend("GET", "servers", "", "").advise(list)
	switch {
	case !c.Undoable:
	case e.facts.Config.Servers > 0: // they were removed, or switched off, on purpose
		found.run(e.genkan("undo "+c.Name)).orSend("DELETE", "connections", c.Name, "").advise(back)
	default:
		found.Fix.Request = Request{}
		found.run(e.genkan("undo "+c.Name) + " && " + e.genkan("import "+c.Name) + " && " + e.connect(c, f, "")).advise(retake)
	}
}

// lead reports whether the program that an entry starts exists.
func (e *examination) lead(c *Client, f *ClientFile, l *Lead) {
	if l.URL == "" && l.Command != "" && !l.Found {
		e.say(Problem, gateway.Textf("the entry %s starts %s, which is not there", l.Name, l.Command)).run(e.again(c, f, l))
	}
}

// unanswered reports addresses that do not answer, each once even if several
// entries use it.
func (e *examination) unanswered() {
	type caller struct {
		clients, entries, mends []string
		first                   Lead
	}
	var hosts []string
	callers := map[string]*caller{}
	for i := range e.facts.Clients {
		c := &e.facts.Clients[i]
		for j := range c.Files {
			f := &c.Files[j]
			for l := range slices.Values(f.Leads) {
				if l.URL == "" || l.Answers || f.Problem.Format != "" {
					continue
				}
				host := hostOf(l.URL)
				one := callers[host]
				if one == nil {
					one = &caller{first: l}
					callers[host] = one
					hosts = append(hosts, host)
				}
				one.entries = append(one.entries, c.Name+"/"+l.Name)
				for list, text := range map[*[]string]string{&one.clients: c.Name, &one.mends: e.again(c, f, &l)} {
					if !slices.Contains(*list, text) {
						*list = append(*list, text)
					}
				}
			}
		}
	}
	for _, host := range hosts {
		one := callers[host]
		e.about(OfClient, "")
		if len(one.clients) == 1 {
			e.about(OfClient, one.clients[0])
		}
		title := gateway.Textf("the entry %s calls %s, where nobody answers", one.first.Name, one.first.URL)
		if n := len(one.entries); n > 1 {
			title = gateway.Textf("%d entries call %s, where nobody answers: %s", n, host, names(one.entries))
		}
		f := e.say(Problem, title).because(gateway.Textf("a URL works only while `genkan serve` runs")).run(strings.Join(one.mends, " && "))
		if len(one.entries) > 1 {
			f.advise(gateway.Textf("connect them again, so that the entries start genkan by themselves"))
		} else {
			f.advise(gateway.Textf("connect it again, so that the entry starts genkan by itself"))
		}
	}
}

// hostOf returns a URL without its path.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Scheme + "://" + u.Host
}

// lostServers reports whether entries of clients lead to servers that are not
// configured.
func (e *examination) lostServers() bool {
	for _, c := range e.facts.Clients {
		for _, f := range c.Files {
			for _, l := range f.Leads {
				if len(l.Strangers) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// tokens reports which tokens the file's entries use.
func (e *examination) tokens(c *Client, f *ClientFile) {
	told := map[string]bool{}
	for i := range f.Leads {
		l := &f.Leads[i]
		if told[l.Token+l.TokenName] {
			continue
		}
		told[l.Token+l.TokenName] = true
		switch l.Token {
		case TokenRevoked:
			e.say(Problem, gateway.Textf("the token in %s is not known here: it was revoked, or is another genkan's", f.Path)).run(e.again(c, f, l))
		case TokenAdmin:
			e.say(Warning, gateway.Textf("%s has the admin token, with which programs can be started", f.Path)).run(e.again(c, f, l))
		case TokenKnown:
			e.lastSeen(c, l)
		}
	}
}

// started reports when entries that start genkan were last used. All entries of a
// client share one name.
func (e *examination) started(c *Client) {
	told := map[string]bool{}
	for i := range c.Files {
		f := &c.Files[i]
		for j := range f.Leads {
			l := &f.Leads[j]
			if !l.Followed || told[l.Client] {
				continue
			}
			told[l.Client] = true
			switch {
			case l.Client == "":
				e.say(Note, gateway.Textf("the entry %s in %s does not say who starts genkan, so it is not known when it was last seen", l.Name, f.Path)).
					run(e.again(c, f, l)).advise(gateway.Textf("connect it again, or add --client %s to its arguments", c.Name))
			case l.LastSeen.IsZero():
				e.say(Note, gateway.Textf("it has not started genkan yet (as %s)", l.Client)).
					advise(gateway.Textf("restart %s, so that it reads its file again", c.Title))
			case l.LastBy != "":
				e.say(OK, gateway.Textf("it comes as %s; last seen %s as %s", l.Client, Local(l.LastSeen), l.LastBy)).at(l.LastSeen)
			default:
				e.say(OK, gateway.Textf("it comes as %s; last seen %s", l.Client, Local(l.LastSeen))).at(l.LastSeen)
			}
		}
	}
}

// LastSeen returns when any of the client's entries was last used, and the name
// that the program gave itself then; zero if never, or if unknown.
func (c *Client) LastSeen() (at time.Time, by string) {
	for _, f := range c.Files {
		for _, l := range f.Leads {
			if l.LastSeen.After(at) {
				at, by = l.LastSeen, l.LastBy
			}
		}
	}
	return at, by
}

func (e *examination) lastSeen(c *Client, l *Lead) {
	switch {
	case l.LastSeen.IsZero():
		e.say(Note, gateway.Textf("it has not connected yet with its token %s", l.TokenName)).
			advise(gateway.Textf("restart %s, so that it reads its file again", c.Title))
	case l.LastBy != "":
		e.say(OK, gateway.Textf("it has the token %s; last seen %s as %s", l.TokenName, Local(l.LastSeen), l.LastBy)).at(l.LastSeen)
	default:
		e.say(OK, gateway.Textf("it has the token %s; last seen %s", l.TokenName, Local(l.LastSeen))).at(l.LastSeen)
	}
}
