package clients

import (
	"strings"

	"genkan/internal/gateway"
)

// clientFlag passes the client's name to genkan.
const clientFlag = "--client"

// aggregateName is the name of the one entry for all servers.
const aggregateName = "genkan"

// KnowledgeName is the name of the entry for the knowledge base, which is the server
// knowledgeServer.
const (
	KnowledgeName   = "genkan-kb"
	knowledgeServer = "kb"
)

// PlainCommand is the name of genkan where no path to it is known.
const PlainCommand = "genkan"

// isAdded reports whether a name is that of an entry that Connect adds.
func isAdded(name string) bool { return name == aggregateName || name == KnowledgeName }

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
	// Knowledge adds an entry for the knowledge base.
	Knowledge bool
}

// Connect returns the file's contents with the plan's entries leading to genkan.
// The entries keep their names and their other keys, and all other bytes stay. src
// is nil for a file that does not exist.
func (f File) Connect(src []byte, plan Plan) ([]byte, error) {
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
	switch {
	case plan.Aggregate:
		e = f.add(e, root, &addition{aggregateName, f.transportKeys(plan, "")})
	case plan.Knowledge:
		e = f.add(e, root, &addition{KnowledgeName, f.transportKeys(plan, knowledgeServer)})
	}
	out, bad := edited(f.Format, src, e)
	if bad != nil {
		return nil, bad.in(f.Path, src)
	}
	return out, nil
}

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
