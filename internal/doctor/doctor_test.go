package doctor_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/doctor"
	"genkan/internal/gateway"
)

// healthy is a house in which nothing is wrong.
func healthy() doctor.Facts {
	return doctor.Facts{
		Program: doctor.Program{Version: "v1", Go: "go1", System: "linux/amd64"},
		Running: doctor.Running{How: "serve", Version: "v1", PID: 7, Listen: "127.0.0.1:3000"},
		Data: doctor.Data{
			Dir:        doctor.File{Path: "/srv/example", Exists: true, Folder: true, Mode: 0o700},
			AdminToken: doctor.File{Path: "/srv/example/admin-token", Exists: true, Mode: 0o600},
			Database:   doctor.File{Path: "/srv/example/genkan.db", Exists: true, Size: 5000},
			Free:       1 << 40,
		},
		Config: doctor.Config{File: doctor.File{Path: "/srv/example/genkan.yaml", Exists: true, Mode: 0o600}, Servers: 1},
		Port:   doctor.Port{Listen: "127.0.0.1:3000", Holder: "ours"},
		Servers: []doctor.Server{{
			Name: "github", State: "ready", Known: true, Protocol: "2025-11-25", Transport: "stdio", Tools: 11,
			StartTook: 1234 * time.Millisecond, Command: "npx", Found: true,
		}},
		Clients: []doctor.Client{{
			Name: "cursor", Title: "Cursor", Tools: 11,
			Files: []doctor.ClientFile{{Path: "/srv/example/mcp.json", Leads: []doctor.Lead{{
				Name: "github", URL: "http://127.0.0.1:3000/mcp/s/github", Answers: true, Token: doctor.TokenKnown, TokenName: "cursor",
				LastSeen: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local), LastBy: "Cursor 1.7",
			}}}},
		}},
	}
}

// checkTimes makes sure that a finding says which times it contains.
func checkTimes(t *testing.T, f doctor.Finding) {
	t.Helper()
	said := line(f)
	for _, at := range f.Times {
		if !strings.Contains(line(f), doctor.Local(at)) {
			t.Errorf("%s is not in %q", doctor.Local(at), line(f))
		}
		said = strings.ReplaceAll(said, doctor.Local(at), "")
	}
	if left := regexp.MustCompile(`\d\d:\d\d`).FindString(said); left != "" {
		t.Errorf("%s of %q is not among its times", left, line(f))
	}
}

// checkAdvice makes sure that advice makes sense without the command beside it, for
// which pages show a button. It asks for something; it does not go on from the command.
func checkAdvice(t *testing.T, f doctor.Finding) {
	t.Helper()
	first, _, _ := strings.Cut(f.Fix.Text.String(), " ")
	if regexp.MustCompile(`^(or|then|when|[a-z]+s)$`).MatchString(first) {
		t.Errorf("%q does not make sense without %q", f.Fix.Text, f.Fix.Command)
	}
}

// line is a finding as a table shows it: severity, subject, title | detail >
// fix.
func line(f doctor.Finding) string {
	text := f.Severity.String() + " " + f.Subject.String() + ": " + f.Title.String()
	if f.Detail.Format != "" {
		text += " | " + f.Detail.String()
	}
	for _, l := range f.Lines {
		text += " | " + l
	}
	if f.Fix.Command != "" {
		text += " > " + f.Fix.Command
	}
	if f.Fix.Text.Format != "" {
		text += " > " + f.Fix.Text.String()
	}
	return text
}

func TestAHealthyHouse(t *testing.T) {
	var got []string
	for _, f := range doctor.Examine(healthy()) {
		got = append(got, line(f))
	}
	want := []string{
		"ok program: genkan v1 (go1, linux/amd64)",
		"ok program: it serves this data directory on 127.0.0.1:3000 (process 7)",
		"ok data: data directory /srv/example",
		"ok data: database: 5 KB",
		"ok config: /srv/example/genkan.yaml: servers: 1",
		"ok port: Genkan listens on 127.0.0.1:3000",
		"ok server/github: ready after 1.2s; 11 tools; MCP 2025-11-25 over stdio",
		"ok client/cursor: /srv/example/mcp.json: all entries lead to genkan: 1",
		"ok client/cursor: it has the token cursor; last seen 2026-01-02 03:04 as Cursor 1.7",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A client that starts genkan is seen once, however many entries it has.
func TestAClientThatStartsGenkan(t *testing.T) {
	facts := healthy()
	started := doctor.Lead{
		Name: "github", Command: "genkan", Found: true, Client: "cursor", Followed: true,
		LastSeen: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local), LastBy: "Cursor 1.7",
	}
	facts.Clients[0].Files[0].Leads = []doctor.Lead{started, started}
	var got []string
	for _, f := range doctor.Examine(facts) {
		if f.Subject.Kind == doctor.OfClient {
			got = append(got, line(f))
		}
	}
	want := []string{
		"ok client/cursor: /srv/example/mcp.json: all entries lead to genkan: 2",
		"ok client/cursor: it comes as cursor; last seen 2026-01-02 03:04 as Cursor 1.7",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if at, by := facts.Clients[0].LastSeen(); !at.Equal(started.LastSeen) || by != "Cursor 1.7" {
		t.Errorf("last seen %s as %q", at, by)
	}
}

func text(s string) gateway.Text { return gateway.Textf("%s", s) }

// Each case changes one fact of a healthy house, and says what the doctor then
// says that is not well.
func TestFindings(t *testing.T) {
	server := func(change func(s *doctor.Server)) func(*doctor.Facts) {
		return func(f *doctor.Facts) { change(&f.Servers[0]) }
	}
	lead := func(change func(l *doctor.Lead)) func(*doctor.Facts) {
		return func(f *doctor.Facts) { change(&f.Clients[0].Files[0].Leads[0]) }
	}
	type finding struct {
		change func(f *doctor.Facts)
		want   []string
	}
	unreachable := func(cause, mends string) finding {
		return finding{server(func(s *doctor.Server) {
			s.State, s.Problem, s.Cause, s.Transport, s.Command = "down", "it cannot be reached: why", cause, "http", ""
		}), []string{"problem server/github: down: it cannot be reached: why > " + mends}}
	}
	for name, c := range map[string]finding{
		"workflows are off": {
			func(f *doctor.Facts) {
				f.Running.WorkflowsOff, f.Running.WorkflowsOffBy = true, "admin"
				f.Running.WorkflowsOffAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
			},
			[]string{"warning program: all workflows are turned off, by admin since 2026-01-02 03:04 | calls pass as if there were none, also those that a workflow would refuse, redact or ask about > genkan workflows on"},
		},
		"a workflow is bypassed": {
			func(f *doctor.Facts) {
				f.Running.Bypassed = []doctor.Bypassed{{Workflow: "guard", Tool: "files__write_file", By: "other"}}
			},
			[]string{`warning program: the workflow guard is for files__write_file, which a tool of server other has replaced | match.tools goes by the servers' own names, so calls of the other tool pass without the workflow > add the other tool to match.tools of the workflow; or remove "overwrite" of other in /srv/example/genkan.yaml, and the former tool is back`},
		},
		// The call history.
		"calls are not kept": {
			func(f *doctor.Facts) {
				f.Data.Calls = doctor.Calls{Problem: gateway.Textf("%s", "calls are not kept: why"), Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local), Stopped: true, Dropped: 7}
			},
			[]string{
				"warning data: calls are not kept in the history since 2026-01-02 03:04; they are carried out as usual | calls are not kept: why > mend that, and genkan goes on by itself; `record: off` in the configuration keeps no calls",
				"warning data: since genkan started, the call history lacks 7 calls, and what was sent and received in 0 others | they could not be written, or came faster than that",
			},
		},
		"bodies are not kept": {
			func(f *doctor.Facts) {
				f.Data.Calls = doctor.Calls{Problem: gateway.Textf("%s", "why"), Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)}
			},
			[]string{"warning data: what is sent and received in calls is not kept since 2026-01-02 03:04 | why > mend that, and genkan goes on by itself; `record: off` in the configuration keeps no calls"},
		},

		// Clients that start genkan.
		"started, and seen": {
			lead(func(l *doctor.Lead) {
				*l = doctor.Lead{Name: "github", Command: "genkan", Found: true, Client: "cursor", Followed: true, LastSeen: l.LastSeen}
			}),
			nil,
		},
		"started, and never seen": {
			lead(func(l *doctor.Lead) {
				*l = doctor.Lead{Name: "github", Command: "genkan", Found: true, Client: "cursor", Followed: true}
			}),
			[]string{"note client/cursor: it has not started genkan yet (as cursor) > restart Cursor, so that it reads its file again"},
		},
		"started by nobody in particular": {
			lead(func(l *doctor.Lead) { *l = doctor.Lead{Name: "github", Command: "genkan", Found: true, Followed: true} }),
			[]string{"note client/cursor: the entry github in /srv/example/mcp.json does not say who starts genkan, so it is not known when it was last seen > genkan connect cursor --write > connect it again, or add --client cursor to its arguments"},
		},
		"started in another house": {
			lead(func(l *doctor.Lead) { *l = doctor.Lead{Name: "github", Command: "genkan", Found: true} }),
			nil,
		},

		// The program and who runs.
		"nobody runs": {
			func(f *doctor.Facts) { f.Running = doctor.Running{} },
			[]string{"note program: no genkan runs for this data directory"},
		},
		"nobody was to run": {
			func(f *doctor.Facts) { f.Running = doctor.Running{Refrained: true} },
			[]string{"note program: no genkan runs for this data directory, so servers were not tried > genkan doctor"},
		},
		"nobody could run": {
			func(f *doctor.Facts) { f.Running = doctor.Running{Why: text("because")} },
			[]string{"problem program: no genkan runs for this data directory, and none could be started | because > genkan serve > start it by hand: what is in the way is then shown"},
		},
		"nobody could run, for a reason that is known": {
			func(f *doctor.Facts) {
				f.Running, f.Data.Log = doctor.Running{Why: text("because")}, doctor.File{Path: "/srv/example/genkan.log", Problem: text("it is a link")}
			},
			[]string{
				"problem program: no genkan runs for this data directory, and none could be started | because > mend what is wrong with the data first, as said below",
				"problem data: the log cannot be written, so genkan does not start in the background | it is a link > rm /srv/example/genkan.log > remove the file: the next start makes a new one",
			},
		},
		"a token that is none": {
			func(f *doctor.Facts) { f.Data.AdminToken.Problem = text("it holds no token") },
			[]string{"problem data: the admin token cannot be used, so genkan does not start | it holds no token > rm /srv/example/admin-token > remove the file: the next start makes a new one"},
		},
		"a folder of another user for the socket": {
			func(f *doctor.Facts) {
				f.Data.Place, f.Data.Socket = text("it belongs to another user"), text("nobody")
			},
			[]string{"problem data: the folder of the socket cannot be used, so genkan does not start in the background | it belongs to another user > remove what stands in its place, or set XDG_RUNTIME_DIR to a folder of yours, or name a data directory with a shorter path with --data"},
		},
		"hardly any space": {
			func(f *doctor.Facts) { f.Data.Free = 15 << 20 },
			[]string{"problem data: the disk of the data directory has only 15 MB left | when it is full, nothing more is written down > free some space"},
		},
		"no space": {
			func(f *doctor.Facts) { f.Data.Free, f.Data.Full = 0, true },
			[]string{"problem data: the disk of the data directory is full | nothing more is written down: items, tokens and secrets cannot be added or changed > free some space"},
		},
		"an emptied configuration": {
			func(f *doctor.Facts) {
				f.Config.Servers, f.Servers, f.Clients[0].Undoable = 0, nil, true
				f.Clients[0].Files[0].Leads[0].Strangers = []string{"github"}
			},
			[]string{
				"problem config: no servers are configured, although entries of clients lead to servers of genkan | /srv/example/genkan.yaml was emptied or replaced > put a backup of it back, or follow what is said about the clients below",
				"problem client/cursor: the entry github of Cursor leads to the server github, which is not configured or is off | the file is /srv/example/mcp.json > genkan undo cursor && genkan import cursor && genkan connect cursor --write > import the servers again, or delete this entry from the file",
			},
		},
		"another version": {
			func(f *doctor.Facts) { f.Running.Version = "v2" },
			[]string{"warning program: the genkan that runs is v2 (process 7), this one is v1 | they do not share servers, so editors may start each server twice; the database was not opened beside the other one > stop process 7 and start genkan again, or use the program that it was started with"},
		},

		// The data directory.
		"no data directory": {
			func(f *doctor.Facts) { f.Data = doctor.Data{Dir: doctor.File{Path: "/x"}} },
			[]string{"note data: the data directory /x is not there yet; the first start makes it"},
		},
		"a file": {
			func(f *doctor.Facts) { f.Data.Dir.Folder = false },
			[]string{"problem data: the data directory /srv/example cannot be used | it is not a folder > name another one with --data"},
		},
		"not ours": {
			func(f *doctor.Facts) { f.Data.Dir.Problem = text("permission denied"); f.Data.Dir.Path = "/a b" },
			[]string{"problem data: the data directory /a b cannot be used | permission denied > chmod u+rwx '/a b' > take the right to it if it is yours; otherwise name another one with --data"},
		},
		"an open folder": {
			func(f *doctor.Facts) { f.Data.Dir.Mode = 0o755 },
			[]string{"warning data: other users of this machine can look into the data directory /srv/example > chmod 700 /srv/example"},
		},
		"an open token": {
			func(f *doctor.Facts) { f.Data.AdminToken.Mode = 0o640 },
			[]string{"problem data: other users of this machine can read the admin token | whoever has it may start programs through genkan > chmod 600 /srv/example/admin-token > if somebody may have seen it, remove the file and restart genkan: it makes a new one"},
		},
		"a bad database": {
			func(f *doctor.Facts) { f.Data.Database.Problem = text("the database is damaged") },
			[]string{"problem data: the database cannot be opened | the database is damaged"},
		},
		"a full disk": {
			func(f *doctor.Facts) { f.Data.Free = 100 << 20 },
			[]string{"warning data: the disk of the data directory has only 100 MB left | when it is full, nothing more is written down > free some space"},
		},
		"a server that is ready and does not respond": {
			server(func(s *doctor.Server) { s.Silent, s.Output = 5*time.Second, []string{"last words"} }),
			[]string{"problem server/github: it does not respond: nothing came from it within 5s | its process is stopped or stuck, or the way to it is cut; calls of its tools would wait in vain | last words > genkan servers restart github"},
		},
		"a server that works on a call and does not respond": {
			server(func(s *doctor.Server) { s.Silent, s.Busy = 5*time.Second, true }),
			[]string{"warning server/github: it has not responded within 5s, and calls wait for its answers | a server that works on one call at a time responds to nothing else meanwhile > genkan servers restart github > restart it if it stays so; calls under way fail then"},
		},
		"an unknown disk": {func(f *doctor.Facts) { f.Data.Free = -1 }, nil},
		"a locked vault": {
			func(f *doctor.Facts) { f.Data.Key, f.Data.VaultProblem = "keyring", text("unlock the keyring") },
			[]string{"problem data: the kept secrets cannot be read | unlock the keyring"},
		},
		"no socket": {
			func(f *doctor.Facts) { f.Data.Socket = text("open to others") },
			[]string{"warning data: processes cannot meet in this data directory, so each `genkan stdio` starts servers of its own | open to others"},
		},

		// The configuration.
		"mistakes": {
			func(f *doctor.Facts) { f.Config.Problem = text("genkan.yaml:3:5: unknown key") },
			[]string{"problem config: the configuration has mistakes; the genkan that runs still uses the former one | genkan.yaml:3:5: unknown key > mend /srv/example/genkan.yaml; a running genkan reads it again by itself"},
		},
		"nothing configured": {
			func(f *doctor.Facts) { f.Config.Servers = 0 },
			[]string{"note config: no servers are configured > genkan import > the servers of your editors can be imported, and others added to /srv/example/genkan.yaml"},
		},
		"another house": {
			func(f *doctor.Facts) { f.Config.Servers, f.Flags = 0, " --data /x" },
			[]string{"note config: no servers are configured > genkan import --data /x > the servers of your editors can be imported, and others added to /srv/example/genkan.yaml"},
		},
		"n8n alone": {func(f *doctor.Facts) {
			f.Config.Servers, f.N8N = 0, []doctor.N8N{{Name: "n8n", URL: "http://127.0.0.1:5678"}}
		}, nil},
		"not looked for": {func(f *doctor.Facts) { f.Config.Servers, f.Config.Unread = 0, true }, nil},
		"a plain key": {func(f *doctor.Facts) {
			f.Config.Plain = []doctor.Plain{{Server: "github", Where: "env.TOKEN", Secret: "GITHUB_TOKEN"}}
		}, []string{"warning config: env.TOKEN of server github has a key that stands in the file as it is | whoever sees the file has the key > genkan secrets set GITHUB_TOKEN > keep it as a secret, then write ${secret:GITHUB_TOKEN} in its place"}},
		"an open file": {
			func(f *doctor.Facts) { f.Config.File.Mode, f.Config.File.Path = 0o644, "/etc/genkan.yaml" },
			[]string{"note config: other users of this machine can read /etc/genkan.yaml > chmod 600 /etc/genkan.yaml"},
		},

		"an open file in a closed folder": {func(f *doctor.Facts) { f.Config.File.Mode = 0o644 }, nil},

		// The port.
		"another program": {
			func(f *doctor.Facts) { f.Port.Holder = "other" },
			[]string{"warning port: 127.0.0.1:3000 is taken by another program, so `genkan serve` could not start > stop that one, or set another port: listen in /srv/example/genkan.yaml, or --port"},
		},
		"another genkan": {
			func(f *doctor.Facts) { f.Port.Holder = "genkan" },
			[]string{"warning port: 127.0.0.1:3000 is taken by a genkan of another data directory > stop that one, or set another port: listen in /srv/example/genkan.yaml, or --port"},
		},
		"nobody there": {func(f *doctor.Facts) { f.Port.Holder = "" }, nil},
		"exposed": {
			func(f *doctor.Facts) { f.Port.Exposed = true },
			[]string{"problem port: 127.0.0.1:3000 can be reached from other machines, and tokens would travel unencrypted > set tls.cert and tls.key, or behindProxy if a proxy in front ends TLS, or listen on 127.0.0.1"},
		},
		"covered": {
			func(f *doctor.Facts) { f.Port.Exposed, f.Port.Covered = true, true },
			[]string{"note port: 127.0.0.1:3000 can be reached from other machines"},
		},
		"no certificate": {
			func(f *doctor.Facts) { f.Port.TLS, f.Port.TLSProblem = true, text("no such file") },
			[]string{"problem port: the TLS certificate cannot be used | no such file > mend tls.cert and tls.key"},
		},
		"an old certificate": {
			func(f *doctor.Facts) { f.Port.TLS, f.Port.TLSDays = true, -1 },
			[]string{"problem port: the TLS certificate has expired > renew it, and restart genkan"},
		},
		"an aging certificate": {
			func(f *doctor.Facts) { f.Port.TLS, f.Port.TLSDays = true, 3 },
			[]string{"warning port: the TLS certificate expires in 3 days > renew it, and restart genkan"},
		},

		// Servers.
		"a list that cannot be read": {
			server(func(s *doctor.Server) { s.Unlisted = []doctor.Unlisted{{List: "prompts", Problem: "why"}} }),
			[]string{"warning server/github: its list of prompts could not be read: why > genkan servers restart github > restart it, so that it is asked again; if that does not help, update the server or report this to its maker"},
		},
		"slow the first time": {
			server(func(s *doctor.Server) { s.StartTook, s.FirstStart = 12*time.Second, true }),
			nil,
		},
		"slow to answer the first time": {
			server(func(s *doctor.Server) { s.StartTook, s.FirstStart, s.Transport = 12*time.Second, true, "http" }),
			[]string{"note server/github: ready after 12s, which is slow; 11 tools; MCP 2025-11-25 over http"},
		},
		"slow": {
			server(func(s *doctor.Server) { s.StartTook = 12 * time.Second }),
			[]string{"note server/github: ready after 12s, which is slow; 11 tools; MCP 2025-11-25 over stdio > install it, so that its command need not look for it or download it at each start"},
		},
		"down": {
			server(func(s *doctor.Server) { s.State, s.Problem, s.Output = "down", "it ended", []string{"oops"} }),
			[]string{"problem server/github: down: it ended | oops > genkan servers github > look at all that it printed, and correct its command in /srv/example/genkan.yaml; it is tried again by itself"},
		},
		"down, over HTTP": {
			server(func(s *doctor.Server) {
				s.State, s.Problem, s.Transport, s.Command = "down", "it cannot be reached", "http", ""
			}),
			[]string{"problem server/github: down: it cannot be reached > see that its address in /srv/example/genkan.yaml is right and that it runs; it is tried again by itself"},
		},
		"not responding": {
			server(func(s *doctor.Server) { s.State, s.Problem, s.Output = "not responding", "no answer", []string{"oops"} }),
			[]string{"problem server/github: it does not respond: no answer | oops > genkan servers restart github > restart it now; genkan does so itself if it stays silent. For a tool that takes long, raise timeout in /srv/example/genkan.yaml"},
		},
		"a host that is not known":     unreachable("no_such_host", "correct the host name in its url in /srv/example/genkan.yaml, or see that this machine has a network; it is tried again by itself"),
		"a closed port here":           unreachable("refused_here", "start that server, or correct the port in its url in /srv/example/genkan.yaml; it is tried again by itself"),
		"a closed port elsewhere":      unreachable("refused", "see that the server runs on that machine, or correct the port in its url in /srv/example/genkan.yaml; it is tried again by itself"),
		"no route":                     unreachable("no_route", "check this machine's network, proxy, VPN and firewall, and the url in /srv/example/genkan.yaml; it is tried again by itself"),
		"an expired certificate":       unreachable("certificate_expired", "renew the certificate of the server; if it is still valid, correct the clock of this machine"),
		"an unknown authority":         unreachable("certificate_authority", "if you trust the server, add its authority to the certificates of this machine, or set SSL_CERT_FILE to a file with it where genkan starts, and restart genkan"),
		"a certificate of another one": unreachable("certificate_name", "write the host name that the certificate is for in its url in /srv/example/genkan.yaml, or give the server a certificate for this one"),
		"TLS to a plain port":          unreachable("not_tls", "write http:// instead of https:// in its url in /srv/example/genkan.yaml, or turn on TLS in the server"),
		"no TLS to a TLS port":         unreachable("not_http", "write https:// instead of http:// in its url in /srv/example/genkan.yaml, or correct the port"),
		"a connection that was closed": unreachable("closed", "see that its url in /srv/example/genkan.yaml is right, https:// or http:// too, and look into the log of the server; it is tried again by itself"),
		"a status":                     unreachable("http_status", "see that its url in /srv/example/genkan.yaml is that of an MCP endpoint, and look into the log of the server; it is tried again by itself"),
		// One cause, one finding: not one more for each secret that cannot be read.
		"a locked vault and what it holds": {
			func(f *doctor.Facts) {
				f.Data.Key, f.Data.VaultProblem = "keyring", text("unlock the keyring")
				f.Servers[0].State, f.Servers[0].Missing = "down", []doctor.Missing{{Name: "a", Secret: true}, {Name: "b", Secret: true}}
			},
			[]string{"problem data: the kept secrets cannot be read | unlock the keyring"},
		},
		"no npx": {
			server(func(s *doctor.Server) { s.State, s.Found = "down", false }),
			[]string{"problem server/github: its command npx is not there > install Node.js (https://nodejs.org), or write the full path of npx in /srv/example/genkan.yaml"},
		},
		"no such program": {
			server(func(s *doctor.Server) { s.State, s.Command, s.Found = "down", "/opt/x", false }),
			[]string{"problem server/github: its command \"/opt/x\" does not exist > correct its path in /srv/example/genkan.yaml"},
		},
		// Its definition is not in the file.
		"one of the database": {
			server(func(s *doctor.Server) {
				s.State, s.Problem, s.Transport, s.Command, s.Stored = "down", "it cannot be reached", "http", "", true
			}),
			[]string{"problem server/github: down: it cannot be reached > see that its address in the database (`genkan servers remove github` and `genkan servers add github …`, or its page in the web UI) is right and that it runs; it is tried again by itself"},
		},
		"starting, and not waited for": {
			server(func(s *doctor.Server) { s.State = "starting" }),
			[]string{"note server/github: it is starting"},
		},
		"another configuration": {
			func(f *doctor.Facts) { f.Running.Config = "/srv/other.yaml" },
			[]string{"warning program: the genkan that runs uses the configuration /srv/other.yaml, not /srv/example/genkan.yaml > genkan doctor --config /srv/other.yaml"},
		},
		"another configuration than the one named": {
			func(f *doctor.Facts) { f.Running.Config, f.Config.Named = "/srv/other.yaml", true },
			[]string{"warning program: the genkan that runs uses the configuration /srv/other.yaml, not /srv/example/genkan.yaml > leave out --config, or stop process 7 and start genkan with this configuration"},
		},
		"the same configuration": {func(f *doctor.Facts) { f.Running.Config = "/srv/example/genkan.yaml" }, nil},
		// One cause, one finding, however many entries there are.
		"entries that nobody answers": {
			func(f *doctor.Facts) {
				dead := func(name string) doctor.Lead {
					return doctor.Lead{Name: name, URL: "http://127.0.0.1:4000/mcp/s/" + name}
				}
				f.Clients = []doctor.Client{
					{Name: "cursor", Title: "Cursor", Files: []doctor.ClientFile{{Path: "/a", Leads: []doctor.Lead{dead("x"), dead("y")}}}},
					{Name: "zed", Title: "Zed", Files: []doctor.ClientFile{{Path: "/b", Leads: []doctor.Lead{dead("x"), dead("y")}}}},
				}
			},
			[]string{"problem client: 4 entries call http://127.0.0.1:4000, where nobody answers: cursor/x, cursor/y, zed/x, zed/y | a URL works only while `genkan serve` runs > genkan connect cursor --write && genkan connect zed --write > connect them again, so that the entries start genkan by themselves"},
		},
		"entries that lead to strangers": {
			func(f *doctor.Facts) {
				f.Clients[0].Files[0].Leads = []doctor.Lead{{Name: "x", Strangers: []string{"x"}}, {Name: "y", Strangers: []string{"y"}}}
			},
			[]string{"problem client/cursor: 2 entries of Cursor lead to servers that are not configured or are off: x, y | the file is /srv/example/mcp.json > genkan servers > add the servers, or delete these entries from the file"},
		},
		"elsewhere on another PATH": {server(func(s *doctor.Server) { s.Found = false }), nil},
		"never ready": {
			server(func(s *doctor.Server) { s.State, s.Waited = "starting", 181*time.Second }),
			[]string{"problem server/github: it has not finished starting within 3m1s | it may still be downloading, or the command is no MCP server > genkan servers github > look at what it prints; a slow server needs a longer startupTimeout in /srv/example/genkan.yaml"},
		},
		"lacks a secret": {server(func(s *doctor.Server) {
			s.State, s.Problem, s.Missing = "down", "it lacks something", []doctor.Missing{{Name: "github.token", Secret: true}}
		}), []string{"problem server/github: it needs the secret github.token, which is not kept here or cannot be read > genkan secrets set github.token"}},
		"lacks a variable": {
			server(func(s *doctor.Server) { s.State, s.Missing = "down", []doctor.Missing{{Name: "TOKEN"}} }),
			[]string{"problem server/github: it needs the environment variable TOKEN, which is not set > genkan secrets set TOKEN > keep a secret of that name, or set the variable where genkan starts"},
		},
		"lacks what the running one has": {server(func(s *doctor.Server) { s.Missing = []doctor.Missing{{Name: "TOKEN"}} }), nil},
		"sign-in needed": {
			server(func(s *doctor.Server) { s.State, s.SignIn = "down", "needed" }),
			[]string{"problem server/github: it wants you to sign in > genkan login github"},
		},
		"signed in": {server(func(s *doctor.Server) { s.SignIn = "signed in" }), nil},
		"disabled":  {server(func(s *doctor.Server) { s.State = "disabled" }), nil},
		"not tried": {server(func(s *doctor.Server) { s.Known, s.State = false, "" }), []string{"note server/github: not tried"}},
		"not tried, no command": {
			server(func(s *doctor.Server) { s.Known, s.State, s.Command, s.Found = false, "", "uvx", false }),
			[]string{"problem server/github: its command uvx is not there > install uv (https://docs.astral.sh/uv), or write the full path of uvx in /srv/example/genkan.yaml"},
		},
		"hidden":   {server(func(s *doctor.Server) { s.Hidden = []string{"a"} }), nil},
		"no tools": {server(func(s *doctor.Server) { s.Tools = 0 }), []string{"note server/github: it lists no tools"}},
		"mended": {server(func(s *doctor.Server) {
			s.Changed = []doctor.Changed{{Name: "a", Why: "no type"}, {Name: "b", Why: "anyOf"}}
		}), []string{"note server/github: 2 definitions were mended, so that clients take them: a (no type), b (anyOf)"}},
		"suspect": {
			server(func(s *doctor.Server) {
				s.Changed = []doctor.Changed{{Name: "a\x1b[31m\U000E0041", Suspect: true, Why: "hidden characters"}, {Name: "b", Why: "no type"}}
			}),
			[]string{
				"note server/github: 1 definitions were mended, so that clients take them: b (no type)",
				"warning server/github: definitions that may mislead people or agents: 1 | a\\x1b[31m\\U000e0041: hidden characters > look at them before you go on using the server; `genkan tools disable NAME` switches a tool off",
			},
		},
		"redefined": {
			server(func(s *doctor.Server) {
				at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
				s.Redefined = []doctor.Redefined{
					{Tool: "a", Parts: []string{"inputSchema", "annotations"}, At: at, Times: 2},
					{Tool: "b", Parts: []string{"description"}, Before: "Reads.", After: "Reads\u202e.", At: at.Add(time.Second), Times: 1},
				}
			}),
			[]string{"warning server/github: it changed the definitions of 2 tools in the last seven days | 2026-01-02 03:04 b: description |   - Reads. |   + Reads\\u202e. | 2026-01-02 03:04 a: inputSchema, annotations (2×) > that is usual after an update of the server; otherwise look at them before you go on using it"},
		},
		"left out": {
			server(func(s *doctor.Server) {
				s.Changed = []doctor.Changed{{Name: "a", LeftOut: true, Why: "it takes no object"}}
			}),
			[]string{"warning server/github: a is left out: it takes no object | its definition would make clients drop all tools of the server, so it is the server's to mend"},
		},
		"a taken address": {
			server(func(s *doctor.Server) {
				s.Changed = []doctor.Changed{{Name: "x://a", Address: true, LeftOut: true, TakenBy: "other"}, {Name: "x://b", Address: true, LeftOut: true, TakenBy: "other"}}
			}),
			[]string{`note server/github: clients that see server other, too, get 2 of its resources instead, because they have the same URIs: x://a, x://b`},
		},
		"a taken name": {
			server(func(s *doctor.Server) { s.Changed = []doctor.Changed{{Name: "a", LeftOut: true, TakenBy: "other"}} }),
			[]string{`warning server/github: a is left out, because server other has a tool of that name > give github a prefix of its own in /srv/example/genkan.yaml: "prefix: github"; or let it have the name: "overwrite: true"`},
		},
		"a taken prompt": {
			server(func(s *doctor.Server) {
				s.Overwrites, s.Changed = true, []doctor.Changed{{Name: "a", Prompt: true, LeftOut: true, TakenBy: "other"}}
			}),
			[]string{`warning server/github: a is left out, because server other has a prompt of that name > give github a prefix of its own in /srv/example/genkan.yaml: "prefix: github"`},
		},
		"a taken name, overwritten": {
			server(func(s *doctor.Server) {
				s.Overwrites, s.Changed = true, []doctor.Changed{{Name: "a", LeftOut: true, TakenBy: "other"}}
			}),
			[]string{`warning server/github: a is left out, because server other, which overwrites too and comes first, has a tool of that name > give github a prefix of its own in /srv/example/genkan.yaml: "prefix: github"`},
		},
		"a name that stands twice": {
			server(func(s *doctor.Server) { s.Changed = []doctor.Changed{{Name: "a", LeftOut: true, TakenBy: "github"}} }),
			[]string{"warning server/github: a stands twice in its list, and the first one is used | it is the server's to mend"},
		},
		"a replaced tool": {
			server(func(s *doctor.Server) {
				s.Changed = []doctor.Changed{{Name: "a", LeftOut: true, TakenBy: "other", Replaced: true}, {Name: "b", LeftOut: true, TakenBy: "other", Replaced: true}}
			}),
			[]string{`note server/github: 2 of its tools are replaced by those of server other: a, b > without "overwrite" of other in /srv/example/genkan.yaml those are back`},
		},
		"replaces others": {
			server(func(s *doctor.Server) { s.Replaces = []doctor.Replacing{{Name: "a", Of: []string{"kb", "other"}}} }),
			[]string{`note server/github: 1 of its tools stand in the place of others of their name: a (kb, other) > without "overwrite" of github in /srv/example/genkan.yaml those are back`},
		},
		"no description": {
			server(func(s *doctor.Server) { s.Undescribed = []string{"a", "b"} }),
			[]string{"note server/github: 2 tools have no description, so that agents have to guess and a search finds them by their names only: a, b > genkan tools describe a TEXT > describe them; all clients then see the description"},
		},
		"odd names": {
			server(func(s *doctor.Server) { s.Odd = []string{"with spaces", "日本"} }),
			[]string{"warning server/github: 2 names of tools have more than letters, digits, _ and -, which clients may refuse: with spaces, 日本 > give the server a prefix in /srv/example/genkan.yaml, and genkan replaces the rest; or hide them with tools.deny"},
		},
		"long names": {
			server(func(s *doctor.Server) { s.Long = slices.Repeat([]string{"x"}, 7) }),
			[]string{"warning server/github: 7 names of tools are longer than clients take with their own prefix: x, x, x, x, x, … > give the server a prefix in /srv/example/genkan.yaml, and genkan shortens them; or hide them with tools.deny"},
		},
		"shortened names": {
			server(func(s *doctor.Server) { s.Shortened = []string{"x"} }),
			[]string{`note server/github: 1 names of tools were shortened to what clients take: x > a shorter "prefix" in /srv/example/genkan.yaml leaves more of them`},
		},

		// Clients.
		"a broken file": {func(f *doctor.Facts) {
			f.Clients[0].Files = []doctor.ClientFile{{Path: "/srv/example/mcp.json", Problem: text("/srv/example/mcp.json:2:1: a key is expected")}}
		}, []string{"problem client/cursor: its file cannot be read, by genkan or by Cursor | /srv/example/mcp.json:2:1: a key is expected > mend /srv/example/mcp.json by hand"}},
		"no entries": {
			func(f *doctor.Facts) { f.Clients[0].Files[0].Leads = nil },
			[]string{"note client/cursor: Cursor has no MCP servers, genkan among them > genkan connect cursor --aggregate --write"},
		},
		"none leads here": {
			func(f *doctor.Facts) {
				f.Clients[0].Files[0].Leads, f.Clients[0].Files[0].Others = nil, []string{"a", "b"}
			},
			[]string{"note client/cursor: /srv/example/mcp.json: entries that do not lead to genkan: a, b > genkan import cursor && genkan connect cursor --write"},
		},
		"taken over, not connected": {
			func(f *doctor.Facts) {
				f.Clients[0].Files[0].Leads, f.Clients[0].Files[0].Others, f.Clients[0].Files[0].Imported = nil, []string{"a"}, true
			},
			[]string{"note client/cursor: /srv/example/mcp.json: entries that do not lead to genkan: a > genkan connect cursor --write"},
		},
		"the one entry has a revoked token": {
			lead(func(l *doctor.Lead) { l.All, l.Token = true, doctor.TokenRevoked }),
			[]string{"problem client/cursor: the token in /srv/example/mcp.json is not known here: it was revoked, or is another genkan's > genkan connect cursor --aggregate --write"},
		},
		"some lead here": {
			func(f *doctor.Facts) { f.Clients[0].Files[0].Others = []string{"a"} },
			[]string{"note client/cursor: /srv/example/mcp.json: 1 of 2 entries do not lead to genkan: a > genkan import cursor && genkan connect cursor --write"},
		},
		"nobody answers": {
			lead(func(l *doctor.Lead) { l.Answers = false }),
			[]string{"problem client/cursor: the entry github calls http://127.0.0.1:3000/mcp/s/github, where nobody answers | a URL works only while `genkan serve` runs > genkan connect cursor --write > connect it again, so that the entry starts genkan by itself"},
		},
		"a file of a project": {
			func(f *doctor.Facts) {
				f.Clients[0].Files[0].Project, f.Clients[0].Files[0].Imported = true, true
				f.Clients[0].Files[0].Others = []string{"a"}
			},
			[]string{"note client/cursor: /srv/example/mcp.json: 1 of 2 entries do not lead to genkan: a > genkan connect cursor --project --write"},
		},
		"no program": {
			lead(func(l *doctor.Lead) { *l = doctor.Lead{Name: "github", Command: "genkan"} }),
			[]string{"problem client/cursor: the entry github starts genkan, which is not there > genkan connect cursor --write"},
		},
		"a stranger": {
			lead(func(l *doctor.Lead) { l.Strangers = []string{"gone"} }),
			[]string{"problem client/cursor: the entry github of Cursor leads to the server gone, which is not configured or is off | the file is /srv/example/mcp.json > genkan servers > add the server, or delete this entry from the file"},
		},
		"a server that was removed": {
			func(f *doctor.Facts) {
				f.Clients[0].Undoable = true
				f.Clients[0].Files[0].Leads[0].Strangers = []string{"gone"}
			},
			[]string{"problem client/cursor: the entry github of Cursor leads to the server gone, which is not configured or is off | the file is /srv/example/mcp.json > genkan undo cursor > if the file is put back, all of it is as it was before it was connected; to keep the other entries connected, delete only this entry from the file"},
		},
		"a revoked token": {
			lead(func(l *doctor.Lead) { l.Token = doctor.TokenRevoked }),
			[]string{"problem client/cursor: the token in /srv/example/mcp.json is not known here: it was revoked, or is another genkan's > genkan connect cursor --write"},
		},
		"the admin token": {
			lead(func(l *doctor.Lead) { l.Token = doctor.TokenAdmin }),
			[]string{"warning client/cursor: /srv/example/mcp.json has the admin token, with which programs can be started > genkan connect cursor --write"},
		},
		"nobody could be asked": {lead(func(l *doctor.Lead) { l.Token = doctor.TokenUnknown }), nil},
		"never seen": {
			lead(func(l *doctor.Lead) { l.LastSeen = time.Time{} }),
			[]string{"note client/cursor: it has not connected yet with its token cursor > restart Cursor, so that it reads its file again"},
		},
		"too many tools": {
			func(f *doctor.Facts) { f.Clients[0].Tools = 41 },
			[]string{"warning client/cursor: its entries show 41 tools, and Cursor takes about 40 | Cursor does not say which tools it leaves out > genkan tools list > switch off the tools that you do not use, on the Tools page or with `genkan tools disable NAME`"},
		},
		"as many as it takes": {func(f *doctor.Facts) { f.Clients[0].Tools = 40 }, nil},
		"no known limit":      {func(f *doctor.Facts) { f.Clients[0].Name, f.Clients[0].Tools = "zed", 4000 }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			facts := healthy()
			c.change(&facts)
			var got []string
			worst := "ok"
			for _, f := range doctor.Examine(facts) {
				checkTimes(t, f)
				checkAdvice(t, f)
				if f.Severity != doctor.OK {
					got = append(got, line(f))
					worst, _, _ = strings.Cut(line(f), " ")
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if found := doctor.Examine(facts); len(got) < 2 && doctor.Worst(found).String() != worst {
				t.Errorf("the worst is %s, not %s", doctor.Worst(found), worst)
			}
			checkUnforged(t, facts)
		})
	}
}
