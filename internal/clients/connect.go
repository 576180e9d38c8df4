package clients

import (
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// clientFlag passes the client's name to genkan.
const clientFlag = "--client"

// aggregateName is the name of the one entry for all servers.
const aggregateName = "genkan"

// PlainCommand is the name of genkan where no path to it is known.
const PlainCommand = "genkan"

// Plan says where the entries of a client's file will lead.
type Plan struct {
	// BaseURL is genkan's address: http://127.0.0.1:3000.
	BaseURL string
	// Token is the client's own. It is never written into a project's file.
	Token gateway.Secret
	// Command starts genkan if the client cannot call a URL: a path with the first
	// arguments, such as --data. In a project's file, which others use too, it is
	// the plain name.
	Command []string
	// Bridge makes entries start genkan even if the client can call a URL.
	Bridge bool
	// Servers maps the entries to change to genkan's names of their servers.
	Servers map[Place]string
	// Aggregate replaces all of them with one entry, genkan.
	Aggregate bool
	// Add are genkan's names of servers that the file gets an entry for. If there are any,
	// all other entries stay as they are.
	Add []string
}

// Connect returns the file's contents with the plan's entries leading to genkan.
// The entries keep their names and their other keys, and all other bytes stay. src
// is nil for a file that does not exist.
func (f File) Connect(src []byte, plan Plan) ([]byte, error) {
	if len(plan.Add) > 0 {
		return f.addServers(src, plan)
	}
	root, bad := parse(f.Format, src)
	if bad != nil {
		return nil, bad.in(f.Path, src)
	}
	if root != nil && !root.is(kindMap) {
		return nil, faultAt(root.start, "a map is expected here, with %s in it", strings.Join(f.keys, ".")).in(f.Path, src)
	}
	var e edits
	found := 0
	for _, c := range f.containers(root) {
		edit := containerEdit{keys: c.keys, list: f.list, change: map[string][]pair{}, remove: map[string]bool{}}
		for place, name := range plan.Servers {
			if place.Section != c.section || !c.has(place.Name) {
				continue
			}
			found++
			if plan.Aggregate {
				edit.remove[place.Name] = true
			} else {
				edit.change[place.Name] = f.transportKeys(plan, name)
			}
		}
		e.containers = append(e.containers, edit)
	}
	if found < len(plan.Servers) {
		return nil, gateway.Errorf(gateway.CodeConflict, "%s has changed: some of its servers are gone; read it again", f.Path)
	}
	if plan.Aggregate {
		e = f.add(e, root, &addition{aggregateName, f.transportKeys(plan, "")})
	}
	out, bad := edited(f.Format, src, e)
	if bad != nil {
		return nil, bad.in(f.Path, src)
	}
	return out, nil
}

// addServers returns the file's contents with an entry for each server of plan.Add.
func (f File) addServers(src []byte, plan Plan) ([]byte, error) {
	for _, server := range plan.Add {
		root, bad := parse(f.Format, src)
		if bad != nil {
			return nil, bad.in(f.Path, src)
		}
		if root != nil && !root.is(kindMap) {
			return nil, faultAt(root.start, "a map is expected here, with %s in it", strings.Join(f.keys, ".")).in(f.Path, src)
		}
		name := f.entryName(root, server)
		if name == "" {
			return nil, gateway.Errorf(gateway.CodeConflict, "%s has other entries named %q and %q; rename one of them", f.Path, server, addedPrefix+server)
		}
		out, bad := edited(f.Format, src, f.add(edits{}, root, &addition{name, f.transportKeys(plan, server)}))
		if bad != nil {
			return nil, bad.in(f.Path, src)
		}
		src = out
	}
	return src, nil
}

// addedNames returns the names of the file's own entries that out has and src has not.
// They are not nil.
func (f File) addedNames(src, out []byte) []string {
	had := f.entryNames(src)
	return slices.DeleteFunc(f.entryNames(out), func(name string) bool { return slices.Contains(had, name) })
}

func (f File) entryNames(src []byte) []string {
	names := []string{}
	root, _ := parse(f.Format, src) // a file that cannot be read has none
	for _, c := range f.containers(root) {
		for _, e := range c.node.entries {
			if c.section == "" {
				names = append(names, nameOf(c.node, e))
			}
		}
	}
	return names
}

// addedPrefix is before the names of added entries whose own name is taken.
const addedPrefix = aggregateName + "-"

// entryName returns the name of the entry that is added for a server: the server's own, so
// that tools are called as in other clients, or one with a prefix; empty if both are taken.
// The knowledge base always has the prefix, because kb alone tells people little.
func (f File) entryName(root *node, server string) string {
	names := []string{server, addedPrefix + server}
	if server == knowledgeServer {
		names = names[1:]
	}
	own := strings.Join(f.keysIn(root), "\x00")
	for _, name := range names {
		if !slices.ContainsFunc(f.containers(root), func(c container) bool {
			return strings.Join(c.keys, "\x00") == own && c.has(name)
		}) {
			return name
		}
	}
	return ""
}

// knowledgeServer is genkan's name of the knowledge base.
const knowledgeServer = "kb"

func (c container) has(name string) bool {
	for _, e := range c.node.entries {
		if nameOf(c.node, e) == name && e.value.is(kindMap) {
			return true
		}
	}
	return false
}

// add adds an entry to the file's own servers.
func (f File) add(e edits, root *node, add *addition) edits {
	keys := f.keysIn(root)
	for i := range e.containers {
		if strings.Join(e.containers[i].keys, "\x00") == strings.Join(keys, "\x00") {
			e.containers[i].add = add
			return e
		}
	}
	e.containers = append(e.containers, containerEdit{keys: keys, list: f.list, add: add})
	return e
}

// transportKeys returns the transport keys of an entry for a server, or for all servers.
func (f File) transportKeys(plan Plan, name string) []pair {
	if !f.Bridged() && !plan.Bridge {
		url := strings.TrimRight(plan.BaseURL, "/") + "/mcp"
		if name != "" {
			url += "/s/" + name
		}
		return f.dialect.remote(url, []pair{{"Authorization", "Bearer " + plan.Token.Reveal()}})
	}
	command := plan.Command
	if len(command) == 0 || f.Scope == Project {
		command = []string{PlainCommand}
	}
	args := []string{"stdio", clientFlag, f.Client}
	if name != "" {
		args = append(args, "--only", name)
	}
	return f.dialect.local(command[0], append(command[1:len(command):len(command)], args...))
}
