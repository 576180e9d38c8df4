package doctor

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"genkan/internal/gateway"
)

const (
	// slowStart is the time after which people notice a slow start.
	slowStart = 10 * time.Second
	// shownNames is how many names a finding lists.
	shownNames = 5
	// shownLines is how many lines a finding quotes.
	shownLines = 15
)

func (e *examination) server(s *Server) {
	e.about(OfServer, s.Name)
	before := len(e.found)
	defer func() {
		for i := range e.found[before:] {
			if f := &e.found[before+i]; f.Fix.Text.Format != "" {
				f.Fix.Place = e.placeOf(s)
			}
		}
	}()
	if s.State == "ready" {
		s.Missing = nil // the running genkan has other variables than this process
	}
	for _, m := range s.Missing {
		if m.Secret && e.facts.Data.VaultProblem.Format != "" {
			continue // no secret can be read, which is reported already
		}
		if m.Secret {
			e.keepSecret(e.say(Problem, gateway.Textf("it needs the secret %s, which is not kept here or cannot be read", m.Name)), m.Name)
		} else {
			e.keepSecret(e.say(Problem, gateway.Textf("it needs the environment variable %s, which is not set", m.Name)), m.Name).
				advise(gateway.Textf("keep a secret of that name, or set the variable where genkan starts"))
		}
	}
	switch {
	case s.State == "disabled":
		e.say(OK, gateway.Textf("disabled"))
	case len(s.Missing) > 0:
	case s.SignIn == "needed":
		e.say(Problem, gateway.Textf("it wants you to sign in")).run(e.genkan("login " + Quote(s.Name)))
	case !s.Known:
		e.untried(s)
	case s.State == "ready" && s.Silent > 0:
		e.silent(s)
	case s.State == "ready":
		e.ready(s)
	case s.State == "not responding":
		e.restart(e.say(Problem, gateway.Textf("it does not respond: %s", s.Problem)), s.Name).
			advise(gateway.Textf("restart it now; genkan does so itself if it stays silent. For a tool that takes long, raise timeout in %s", e.placeOf(s))).
			quoting(s.Output)
	case s.State == "starting" && s.Waited == 0:
		e.say(Note, gateway.Textf("it is starting")).quoting(s.Output)
	case s.State == "starting":
		e.say(Problem, gateway.Textf("it has not finished starting within %s", s.Waited.Round(time.Second))).
			because(gateway.Textf("it may still be downloading, or the command is no MCP server")).
			run(e.genkan("servers "+Quote(s.Name))).orSend("GET", "servers", s.Name, "").advise(gateway.Textf("look at what it prints; a slow server needs a longer startupTimeout in %s", e.placeOf(s))).
			quoting(s.Output)
	default:
		e.down(s)
	}
	e.changed(s)
}

// untried reports on a server whose state is unknown.
func (e *examination) untried(s *Server) {
	if s.Command != "" && !s.Found {
		e.noCommand(s)
	} else {
		e.say(Note, gateway.Textf("not tried"))
	}
}

func (e *examination) ready(s *Server) {
	text := gateway.Textf("ready; %d tools; MCP %s over %s", s.Tools, s.Protocol, s.Transport)
	severity := OK
	switch {
	case s.StartTook >= slowStart && s.FirstStart && s.Transport == "stdio":
		text = gateway.Textf("ready after %s at its first start, perhaps with a download; %d tools; MCP %s over %s", shown(s.StartTook), s.Tools, s.Protocol, s.Transport)
	case s.StartTook >= slowStart:
		severity = Note
		text = gateway.Textf("ready after %s, which is slow; %d tools; MCP %s over %s", shown(s.StartTook), s.Tools, s.Protocol, s.Transport)
	case s.StartTook > 0:
		text = gateway.Textf("ready after %s; %d tools; MCP %s over %s", shown(s.StartTook), s.Tools, s.Protocol, s.Transport)
	}
	f := e.say(severity, text)
	if severity == Note && s.Transport == "stdio" {
		f.advise(gateway.Textf("install it, so that its command need not look for it or download it at each start"))
	}
	for _, l := range s.Unlisted {
		e.restart(e.say(Warning, gateway.Textf("its list of %s could not be read: %s", l.List, l.Problem)), s.Name).
			advise(gateway.Textf("restart it, so that it is asked again; if that does not help, update the server or report this to its maker")).
			quoting(s.Output)
	}
	if len(s.Hidden) > 0 {
		e.say(OK, gateway.Textf("tools.allow and tools.deny hide %d tools: %s", len(s.Hidden), names(s.Hidden)))
	}
	if s.Tools == 0 && len(s.Hidden) == 0 && len(s.Changed) == 0 {
		e.say(Note, gateway.Textf("it lists no tools"))
	}
}

// silent reports a server that counts as ready and did not answer a ping.
func (e *examination) silent(s *Server) {
	if s.Busy {
		e.restart(e.say(Warning, gateway.Textf("it has not responded within %s, and calls wait for its answers", shown(s.Silent))), s.Name).
			because(gateway.Textf("a server that works on one call at a time responds to nothing else meanwhile")).
			advise(gateway.Textf("restart it if it stays so; calls under way fail then")).quoting(s.Output)
		return
	}
	e.restart(e.say(Problem, gateway.Textf("it does not respond: nothing came from it within %s", shown(s.Silent))), s.Name).
		because(gateway.Textf("its process is stopped or stuck, or the way to it is cut; calls of its tools would wait in vain")).
		quoting(s.Output)
}

func shown(d time.Duration) time.Duration {
	if d < time.Second {
		return max(d.Round(time.Millisecond), time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

func (e *examination) down(s *Server) {
	if s.Command != "" && !s.Found {
		e.noCommand(s)
		return
	}
	f := e.say(Problem, gateway.Textf("down: %s", s.Problem)).quoting(s.Output)
	if s.Transport == "stdio" {
		f.run(e.genkan("servers "+Quote(s.Name))).orSend("GET", "servers", s.Name, "").advise(gateway.Textf("look at all that it printed, and correct its command in %s; it is tried again by itself", e.placeOf(s)))
		return
	}
	file := e.placeOf(s)
	switch s.Cause {
	case "no_such_host":
		f.advise(gateway.Textf("correct the host name in its url in %s, or see that this machine has a network; it is tried again by itself", file))
	case "refused_here":
		f.advise(gateway.Textf("start that server, or correct the port in its url in %s; it is tried again by itself", file))
	case "refused":
		f.advise(gateway.Textf("see that the server runs on that machine, or correct the port in its url in %s; it is tried again by itself", file))
	case "no_route", "timeout":
		f.advise(gateway.Textf("check this machine's network, proxy, VPN and firewall, and the url in %s; it is tried again by itself", file))
	case "certificate_expired":
		f.advise(gateway.Textf("renew the certificate of the server; if it is still valid, correct the clock of this machine"))
	case "certificate_authority":
		f.advise(gateway.Textf("if you trust the server, add its authority to the certificates of this machine, or set SSL_CERT_FILE to a file with it where genkan starts, and restart genkan"))
	case "certificate_name":
		f.advise(gateway.Textf("write the host name that the certificate is for in its url in %s, or give the server a certificate for this one", file))
	case "not_tls":
		f.advise(gateway.Textf("write http:// instead of https:// in its url in %s, or turn on TLS in the server", file))
	case "not_http":
		f.advise(gateway.Textf("write https:// instead of http:// in its url in %s, or correct the port", file))
	case "closed":
		f.advise(gateway.Textf("see that its url in %s is right, https:// or http:// too, and look into the log of the server; it is tried again by itself", file))
	case "http_status":
		f.advise(gateway.Textf("see that its url in %s is that of an MCP endpoint, and look into the log of the server; it is tried again by itself", file))
	default:
		f.advise(gateway.Textf("see that its address in %s is right and that it runs; it is tried again by itself", file))
	}
}

// noCommand reports where to get a missing program.
func (e *examination) noCommand(s *Server) {
	if strings.ContainsAny(s.Command, `/\`) { // a path is not searched for
		e.say(Problem, gateway.Textf("its command %q does not exist", s.Command)).quoting(s.Output).
			advise(gateway.Textf("correct its path in %s", e.placeOf(s)))
		return
	}
	f := e.say(Problem, gateway.Textf("its command %s is not there", s.Command)).quoting(s.Output)
	base := strings.TrimSuffix(s.Command, ".exe")
	for _, known := range []struct{ commands, name, from string }{
		{"npx node npm", "Node.js", "https://nodejs.org"},
		{"uvx uv", "uv", "https://docs.astral.sh/uv"},
		{"docker", "Docker", "https://docs.docker.com/get-started/get-docker"},
		{"bunx bun", "Bun", "https://bun.sh"},
		{"deno", "Deno", "https://deno.com"},
	} {
		for name := range strings.FieldsSeq(known.commands) {
			if name == base {
				f.advise(gateway.Textf("install %s (%s), or write the full path of %s in %s", known.name, known.from, base, e.placeOf(s)))
				return
			}
		}
	}
	f.advise(gateway.Textf("install it, or write its full path in %s", e.placeOf(s)))
}

// taken reports a tool or prompt that is left out because its name is taken.
func (e *examination) taken(s *Server, c *Changed) {
	prefix := gateway.Textf("give %s a prefix of its own in %s: \"prefix: %s\"", s.Name, e.placeOf(s), s.Name)
	switch {
	case c.TakenBy == s.Name:
		e.say(Warning, gateway.Textf("%s stands twice in its list, and the first one is used", c.Name)).
			because(gateway.Textf("it is the server's to mend"))
	case c.Prompt: // prompts are never overwritten
		e.say(Warning, gateway.Textf("%s is left out, because server %s has a prompt of that name", c.Name, c.TakenBy)).advise(prefix)
	case s.Overwrites:
		e.say(Warning, gateway.Textf("%s is left out, because server %s, which overwrites too and comes first, has a tool of that name", c.Name, c.TakenBy)).advise(prefix)
	default:
		e.say(Warning, gateway.Textf("%s is left out, because server %s has a tool of that name", c.Name, c.TakenBy)).
			advise(gateway.Textf("give %s a prefix of its own in %s: \"prefix: %s\"; or let it have the name: \"overwrite: true\"", s.Name, e.placeOf(s), s.Name))
	}
}

// changed reports the definitions that clients see differently than the server sent
// them.
func (e *examination) changed(s *Server) {
	var mended, suspect []string
	twins, replaced := map[string][]string{}, map[string][]string{}
	for _, c := range s.Changed {
		c.Name = gateway.Printable(gateway.Short(c.Name))
		c.Why = gateway.Printable(c.Why)
		switch {
		case c.Suspect:
			suspect = append(suspect, c.Name+": "+c.Why)
		case c.TakenBy != "" && c.Address:
			twins[c.TakenBy] = append(twins[c.TakenBy], c.Name)
		case c.Replaced:
			replaced[c.TakenBy] = append(replaced[c.TakenBy], c.Name)
		case c.TakenBy != "":
			e.taken(s, &c)
		case c.LeftOut:
			e.say(Warning, gateway.Textf("%s is left out: %s", c.Name, c.Why)).
				because(gateway.Textf("its definition would make clients drop all tools of the server, so it is the server's to mend"))
		default:
			mended = append(mended, c.Name+" ("+c.Why+")")
		}
	}
	for _, other := range slices.Sorted(maps.Keys(twins)) {
		// A prefix does not change addresses, so there is nothing to fix.
		e.say(Note, gateway.Textf("clients that see server %[2]s, too, get %[1]d of its resources instead, because they have the same URIs: %[3]s", len(twins[other]), other, names(twins[other])))
	}
	for _, other := range slices.Sorted(maps.Keys(replaced)) {
		e.say(Note, gateway.Textf("%d of its tools are replaced by those of server %s: %s", len(replaced[other]), other, names(replaced[other]))).
			advise(gateway.Textf("without \"overwrite\" of %s in %s those are back", other, e.placeOf(e.facts.server(other))))
	}
	if len(mended) > 0 {
		e.say(Note, gateway.Textf("%d definitions were mended, so that clients take them: %s", len(mended), names(mended)))
	}
	if len(suspect) > 0 {
		e.say(Warning, gateway.Textf("definitions that may mislead people or agents: %d", len(suspect))).
			quoting(shownOf(suspect)).advise(gateway.Textf("look at them before you go on using the server; `genkan tools disable NAME` switches a tool off"))
	}
	e.redefined(s)
	if len(s.Replaces) > 0 {
		var all []string
		for _, r := range s.Replaces {
			all = append(all, r.Name+" ("+strings.Join(r.Of, ", ")+")")
		}
		e.say(Note, gateway.Textf("%d of its tools stand in the place of others of their name: %s", len(all), names(all))).
			advise(gateway.Textf("without \"overwrite\" of %s in %s those are back", s.Name, e.placeOf(s)))
	}
	if len(s.Undescribed) > 0 {
		e.say(Note, gateway.Textf("%d tools have no description, so that agents have to guess and a search finds them by their names only: %s", len(s.Undescribed), names(s.Undescribed))).
			run(e.genkan("tools describe "+Quote(s.Undescribed[0])+" TEXT")).orSend("PATCH", "tools", s.Undescribed[0], "").advise(gateway.Textf("describe them; all clients then see the description"))
	}
	if len(s.Long) > 0 {
		e.say(Warning, gateway.Textf("%d names of tools are longer than clients take with their own prefix: %s", len(s.Long), names(s.Long))).
			advise(gateway.Textf("give the server a prefix in %s, and genkan shortens them; or hide them with tools.deny", e.placeOf(s)))
	}
	if len(s.Odd) > 0 {
		// One such name makes model providers refuse a request with all of its tools.
		e.say(Warning, gateway.Textf("%d names of tools have more than letters, digits, _ and -, which clients may refuse: %s", len(s.Odd), names(s.Odd))).
			advise(gateway.Textf("give the server a prefix in %s, and genkan replaces the rest; or hide them with tools.deny", e.placeOf(s)))
	}
	if len(s.Shortened) > 0 {
		e.say(Note, gateway.Textf("%d names of tools were shortened to what clients take: %s", len(s.Shortened), names(s.Shortened))).
			advise(gateway.Textf("a shorter \"prefix\" in %s leaves more of them", e.placeOf(s)))
	}
}

// redefined reports tools whose definitions a server changed.
func (e *examination) redefined(s *Server) {
	if len(s.Redefined) == 0 {
		return
	}
	var lines []string
	var times []time.Time
	for _, c := range slices.Backward(s.Redefined) { // the newest first
		times = append(times, c.At)
		line := Local(c.At) + " " + gateway.Printable(c.Tool) + ": " + strings.Join(c.Parts, ", ")
		if c.Times > 1 {
			line += " (" + strconv.Itoa(c.Times) + "×)"
		}
		lines = append(lines, line)
		if c.Before != "" || c.After != "" {
			lines = append(lines, "  - "+gateway.Printable(c.Before), "  + "+gateway.Printable(c.After))
		}
	}
	e.say(Warning, gateway.Textf("it changed the definitions of %d tools in the last seven days", len(s.Redefined))).
		quoting(shownOf(lines)).at(times...).advise(gateway.Textf("that is usual after an update of the server; otherwise look at them before you go on using it"))
}

func (f *Finding) quoting(lines []string) *Finding {
	f.Lines = lines
	return f
}

// shownOf returns the first lines, as many as a finding quotes.
func shownOf(lines []string) []string {
	if len(lines) <= shownLines {
		return lines
	}
	return append(slices.Clip(lines[:shownLines]), "…")
}

// names lists the first few names.
func names(all []string) gateway.Texts {
	if len(all) > shownNames {
		all = append(slices.Clip(all[:shownNames]), "…")
	}
	return gateway.Names(all)
}
