package doctor

import (
	"path/filepath"
	"strings"

	"genkan/internal/gateway"
)

const (
	// lowSpace is the free space below which a disk is nearly full, in bytes. Below
	// noSpace, writes fail or will fail at any moment.
	lowSpace = 200 << 20
	noSpace  = 16 << 20
	// soonDays is how many days before its end a certificate should be renewed.
	soonDays = 14
)

func (e *examination) program() {
	e.about(OfProgram, "")
	p := e.facts.Program
	e.say(OK, gateway.Textf("%s %s (%s, %s)", "genkan", p.Version, p.Go, p.System))
	r := e.facts.Running
	switch {
	case r.How == "" && r.Why.Format != "":
		f := e.say(Problem, gateway.Textf("no genkan runs for this data directory, and none could be started")).because(r.Why)
		if e.facts.Data.blocked() {
			f.advise(gateway.Textf("mend what is wrong with the data first, as said below"))
		} else {
			f.run(e.genkan("serve")).advise(gateway.Textf("start it by hand: what is in the way is then shown"))
		}
	case r.Refrained:
		e.say(Note, gateway.Textf("no genkan runs for this data directory, so servers were not tried")).run(e.genkan("doctor"))
	case r.How == "":
		e.say(Note, gateway.Textf("no genkan runs for this data directory"))
	case r.Version != p.Version:
		e.say(Warning, gateway.Textf("the genkan that runs is %s (process %d), this one is %s", r.Version, r.PID, p.Version)).
			because(gateway.Textf("they do not share servers, so editors may start each server twice; the database was not opened beside the other one")).
			advise(gateway.Textf("stop process %d and start genkan again, or use the program that it was started with", r.PID))
	case r.Started:
		e.say(OK, gateway.Textf("none was running; one was started in the background (process %d), and ends ten minutes after its last client", r.PID))
	case r.Listen != "":
		e.say(OK, gateway.Textf("it serves this data directory on %s (process %d)", r.Listen, r.PID))
	default:
		e.say(OK, gateway.Textf("it serves this data directory in the background, for processes of yours only (process %d)", r.PID))
	}
	if named := e.facts.Config.File.Path; r.Config != "" && r.Config != named {
		f := e.say(Warning, gateway.Textf("the genkan that runs uses the configuration %s, not %s", r.Config, named))
		if e.facts.Config.Named {
			f.advise(gateway.Textf("leave out --config, or stop process %d and start genkan with this configuration", r.PID))
		} else {
			f.run(e.genkan("doctor --config " + Quote(r.Config)))
		}
	}
	if r.WorkflowsOff {
		f := e.say(Warning, gateway.Textf("all workflows are turned off, by %s since %s", r.WorkflowsOffBy, Local(r.WorkflowsOffAt))).at(r.WorkflowsOffAt).
			because(gateway.Textf("calls pass as if there were none, also those that a workflow would refuse, redact or ask about")).
			run(e.genkan("workflows on")).orSend("PUT", "workflows", "switch", "")
		f.Fix.Request.Body = `{"on":true}`
	}
	for _, b := range r.Bypassed {
		e.say(Warning, gateway.Textf("the workflow %s is for %s, which a tool of server %s has replaced", b.Workflow, b.Tool, b.By)).
			because(gateway.Textf("match.tools goes by the servers' own names, so calls of the other tool pass without the workflow")).
			advise(gateway.Textf("add the other tool to match.tools of the workflow; or remove \"overwrite\" of %s in %s, and the former tool is back", b.By, e.placeOf(e.facts.server(b.By))))
	}
	for _, runtime := range p.Runtimes {
		if runtime.Version != "" {
			e.say(OK, gateway.Textf("%s %s, for %s", runtime.Name, runtime.Version, gateway.Names(runtime.For)))
		}
	}
}

func (e *examination) data() {
	e.about(OfData, "")
	d := e.facts.Data
	switch {
	case d.Dir.Exists && !d.Dir.Folder:
		e.say(Problem, gateway.Textf("the data directory %s cannot be used", d.Dir.Path)).because(gateway.Textf("it is not a folder")).
			advise(gateway.Textf("name another one with --data"))
		return
	case d.Dir.Problem.Format != "":
		e.say(Problem, gateway.Textf("the data directory %s cannot be used", d.Dir.Path)).because(d.Dir.Problem).
			run("chmod u+rwx " + Quote(d.Dir.Path)).advise(gateway.Textf("take the right to it if it is yours; otherwise name another one with --data"))
		return
	case !d.Dir.Exists:
		e.say(Note, gateway.Textf("the data directory %s is not there yet; the first start makes it", d.Dir.Path))
		return
	case d.Dir.openToOthers():
		e.say(Warning, gateway.Textf("other users of this machine can look into the data directory %s", d.Dir.Path)).run("chmod 700 " + Quote(d.Dir.Path))
	default:
		e.say(OK, gateway.Textf("data directory %s", d.Dir.Path))
	}
	if d.AdminToken.openToOthers() {
		e.say(Problem, gateway.Textf("other users of this machine can read the admin token")).
			because(gateway.Textf("whoever has it may start programs through genkan")).
			run("chmod 600 " + Quote(d.AdminToken.Path)).
			advise(gateway.Textf("if somebody may have seen it, remove the file and restart genkan: it makes a new one"))
	}
	if d.AdminToken.Problem.Format != "" {
		e.say(Problem, gateway.Textf("the admin token cannot be used, so genkan does not start")).because(d.AdminToken.Problem).
			run("rm " + Quote(d.AdminToken.Path)).advise(gateway.Textf("remove the file: the next start makes a new one"))
	}
	if d.Log.Problem.Format != "" {
		e.say(Problem, gateway.Textf("the log cannot be written, so genkan does not start in the background")).because(d.Log.Problem).
			run("rm " + Quote(d.Log.Path)).advise(gateway.Textf("remove the file: the next start makes a new one"))
	}
	e.database()
	if d.Place.Format != "" {
		e.say(Problem, gateway.Textf("the folder of the socket cannot be used, so genkan does not start in the background")).because(d.Place).
			advise(gateway.Textf("remove what stands in its place, or set XDG_RUNTIME_DIR to a folder of yours, or name a data directory with a shorter path with --data"))
	} else if d.Socket.Format != "" {
		e.say(Warning, gateway.Textf("processes cannot meet in this data directory, so each `genkan stdio` starts servers of its own")).because(d.Socket)
	}
	switch {
	case d.VaultProblem.Format != "":
		e.say(Problem, gateway.Textf("the kept secrets cannot be read")).because(d.VaultProblem)
	case d.Key == "keyring":
		e.say(OK, gateway.Textf("secrets kept: %d, sign-ins at servers: %d; their key is in this machine's keyring", d.Secrets, d.SignIns))
	case d.Key == "file":
		e.say(OK, gateway.Textf("secrets kept: %d, sign-ins at servers: %d; their key is in a file, because this machine has no keyring", d.Secrets, d.SignIns))
	}
	if d.ImportsProblem.Format != "" {
		e.say(Problem, gateway.Textf("it is not known what was imported, so `genkan import` and `genkan connect` change nothing")).because(d.ImportsProblem)
	}
	e.calls(d.Calls)
	switch {
	case d.Full:
		e.say(Problem, gateway.Textf("the disk of the data directory is full")).
			because(gateway.Textf("nothing more is written down: items, tokens and secrets cannot be added or changed")).advise(gateway.Textf("free some space"))
	case d.Free >= 0 && d.Free < lowSpace:
		severity := Warning
		if d.Free < noSpace {
			severity = Problem
		}
		e.say(severity, gateway.Textf("the disk of the data directory has only %d MB left", d.Free>>20)).
			because(gateway.Textf("when it is full, nothing more is written down")).advise(gateway.Textf("free some space"))
	}
}

// blocked reports whether something in the data directory prevents genkan from
// starting in the background.
func (d *Data) blocked() bool {
	return d.AdminToken.Problem.Format != "" || d.Log.Problem.Format != "" || d.Place.Format != "" || d.Full
}

func (e *examination) database() {
	db := e.facts.Data.Database
	switch {
	case db.Problem.Format != "":
		e.say(Problem, gateway.Textf("the database cannot be opened")).because(db.Problem)
	case db.Exists:
		e.say(OK, gateway.Textf("database: %d KB", (db.Size+1023)/1024))
		e.integrity()
	}
}

func (e *examination) config() {
	e.about(OfConfig, "")
	c := e.facts.Config
	switch {
	case c.Unread:
		return
	case c.Problem.Format != "":
		f := e.say(Problem, gateway.Textf("the configuration has mistakes")).because(c.Problem).
			advise(gateway.Textf("mend %s; a running genkan reads it again by itself", c.File.Path))
		if e.facts.Running.How != "" {
			f.Title = gateway.Textf("the configuration has mistakes; the genkan that runs still uses the former one")
		}
		return
	case c.Servers == 0 && e.lostServers():
		e.say(Problem, gateway.Textf("no servers are configured, although entries of clients lead to servers of genkan")).
			because(gateway.Textf("%s was emptied or replaced", c.File.Path)).
			advise(gateway.Textf("put a backup of it back, or follow what is said about the clients below"))
	case c.Servers == 0 && len(e.facts.N8N) > 0:
		e.say(OK, gateway.Textf("%s: servers: 0; n8n instances: %d", c.File.Path, len(e.facts.N8N)))
	case c.Servers == 0:
		e.say(Note, gateway.Textf("no servers are configured")).
			run(e.genkan("import")).advise(gateway.Textf("the servers of your editors can be imported, and others added to %s", c.File.Path))
	case c.Stored > 0:
		e.say(OK, gateway.Textf("%s: servers: %d; in the database: %d", c.File.Path, c.Servers-c.Stored, c.Stored))
	default:
		e.say(OK, gateway.Textf("%s: servers: %d", c.File.Path, c.Servers))
	}
	for _, p := range c.Plain {
		e.say(Warning, gateway.Textf("%s of server %s has a key that stands in the file as it is", p.Where, p.Server)).
			because(gateway.Textf("whoever sees the file has the key")).
			run(e.genkan("secrets set "+Quote(p.Secret))).orSend("PUT", "secrets", p.Secret, "").advise(gateway.Textf("keep it as a secret, then write %s in its place", "${secret:"+p.Secret+"}"))
	}
	if dir := e.facts.Data.Dir; c.File.openToOthers() && (dir.openToOthers() || filepath.Dir(c.File.Path) != dir.Path) {
		severity := Note
		if len(c.Plain) > 0 {
			severity = Warning
		}
		e.say(severity, gateway.Textf("other users of this machine can read %s", c.File.Path)).run("chmod 600 " + Quote(c.File.Path))
	}
}

func (e *examination) port() {
	e.about(OfPort, "")
	p := e.facts.Port
	if p.Listen == "" {
		return // the address is unknown
	}
	switch p.Holder {
	case "ours":
		e.say(OK, gateway.Textf("Genkan listens on %s", p.Listen))
	case "genkan":
		e.say(Warning, gateway.Textf("%s is taken by a genkan of another data directory", p.Listen)).
			advise(gateway.Textf("stop that one, or set another port: listen in %s, or --port", e.facts.Config.File.Path))
	case "other":
		e.say(Warning, gateway.Textf("%s is taken by another program, so `genkan serve` could not start", p.Listen)).
			advise(gateway.Textf("stop that one, or set another port: listen in %s, or --port", e.facts.Config.File.Path))
	default:
		e.say(OK, gateway.Textf("%s is free", p.Listen))
	}
	if p.Exposed && !p.Covered {
		e.say(Problem, gateway.Textf("%s can be reached from other machines, and tokens would travel unencrypted", p.Listen)).
			advise(gateway.Textf("set tls.cert and tls.key, or behindProxy if a proxy in front ends TLS, or listen on 127.0.0.1"))
	} else if p.Exposed {
		e.say(Note, gateway.Textf("%s can be reached from other machines", p.Listen))
	}
	switch {
	case p.TLSProblem.Format != "":
		e.say(Problem, gateway.Textf("the TLS certificate cannot be used")).because(p.TLSProblem).advise(gateway.Textf("mend tls.cert and tls.key"))
	case p.TLS && p.TLSDays < 0:
		e.say(Problem, gateway.Textf("the TLS certificate has expired")).advise(gateway.Textf("renew it, and restart genkan"))
	case p.TLS && p.TLSDays < soonDays:
		e.say(Warning, gateway.Textf("the TLS certificate expires in %d days", p.TLSDays)).advise(gateway.Textf("renew it, and restart genkan"))
	}
}

// Quote returns a text as one word of a shell, on one printable line. Invisible
// characters become escapes in $'…', which bash, zsh and POSIX support.
func Quote(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/._-~+:@", r)
	}) {
		return text
	}
	if gateway.Printable(text) != text {
		return "$'" + gateway.Printable(strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text)) + "'"
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// calls says what the call history does not keep.
func (e *examination) calls(c Calls) {
	if c.Problem.Format != "" {
		title := gateway.Textf("what is sent and received in calls is not kept since %s", Local(c.Since))
		if c.Stopped {
			title = gateway.Textf("calls are not kept in the history since %s; they are carried out as usual", Local(c.Since))
		}
		e.say(Warning, title).at(c.Since).because(c.Problem).
			advise(gateway.Textf("mend that, and genkan goes on by itself; `record: off` in the configuration keeps no calls"))
	}
	if c.Dropped > 0 || c.LostBodies > 0 {
		e.say(Warning, gateway.Textf("since genkan started, the call history lacks %d calls, and what was sent and received in %d others", c.Dropped, c.LostBodies)).
			because(gateway.Textf("they could not be written, or came faster than that"))
	}
}
