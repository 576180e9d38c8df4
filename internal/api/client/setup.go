package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ImportSelection selects files of clients.
type ImportSelection struct {
	Folder string   `json:"folder,omitempty" doc:"The absolute path of a project, whose files are read too."`
	From   []string `json:"from,omitempty" doc:"Names of clients, and absolute paths of files; all clients of this machine unless said."`
}

// ImportPlan says what an import would do.
type ImportPlan struct {
	Revision         string         `json:"revision" doc:"Names this plan for POST /v1/import, which does nothing if files have changed since."`
	ConfigFile       string         `json:"configFile" doc:"Where servers would be added."`
	Files            []ImportFile   `json:"files" doc:"Those that were read; a person's own come first."`
	Servers          []ImportServer `json:"servers" doc:"Each once, however many files have it."`
	Notes            []ImportNote   `json:"notes"`
	MissingVariables []string       `json:"missingVariables" doc:"Environment variables that new servers use and that genkan does not have. A secret of that name counts as well."`
	Connected        int            `json:"connected" doc:"How many entries lead to genkan already."`
}

// ImportFile is a file that an import reads.
type ImportFile struct {
	Client  string `json:"client"`
	Title   string `json:"title" doc:"The client's name for people."`
	Path    string `json:"path"`
	Project bool   `json:"project" doc:"It came with a project."`
	Problem string `json:"problem,omitempty" doc:"Why it was not read."`
}

// ImportServer is a server of clients' files. Secrets are references.
type ImportServer struct {
	Name      string           `json:"name" doc:"Its name in genkan."`
	Known     bool             `json:"known" doc:"Genkan has it already."`
	Project   bool             `json:"project" doc:"It came with a project, whose authors chose what it runs."`
	Disabled  bool             `json:"disabled,omitempty"`
	Origins   []ImportOrigin   `json:"origins"`
	Command   string           `json:"command,omitempty"`
	Args      []string         `json:"args,omitempty"`
	Folder    string           `json:"folder,omitempty" doc:"Where its process runs."`
	Variables []ImportVariable `json:"variables,omitempty" doc:"Of the process's environment."`
	URL       string           `json:"url,omitempty" doc:"Without its query."`
	Headers   []ImportVariable `json:"headers,omitempty"`
	Secrets   int              `json:"secrets,omitempty" doc:"How many literal secrets an import moves to the vault."`
	Inputs    []ImportInput    `json:"inputs,omitempty"`
	NameOf    string           `json:"nameOf,omitempty" doc:"The client whose server, which is not the same, has the original name."`
}

// ImportOrigin is an entry of a file.
type ImportOrigin struct {
	Client  string `json:"client"`
	Title   string `json:"title"`
	Path    string `json:"path"`
	Section string `json:"section,omitempty" doc:"The project within a person's own file that the entry is for."`
	Name    string `json:"name"`
}

// ImportVariable is a variable or a header, without its value.
type ImportVariable struct {
	Name    string   `json:"name"`
	From    []string `json:"from,omitempty" doc:"What its value refers to, such as ${HOME}."`
	Caution string   `json:"caution,omitempty" doc:"The masked value of a variable that can make the process run other code."`
}

// ImportInput is a value that a server needs and its file does not hold.
type ImportInput struct {
	Secret      string `json:"secret" doc:"The name in values of POST /v1/import, and in the vault."`
	ID          string `json:"id"`
	Description string `json:"description,omitempty"`
	Default     string `json:"default,omitempty" doc:"Used if no value is given. What looks like a key is ***."`
	Environment bool   `json:"environment,omitempty" doc:"It is an environment variable."`
	Needed      bool   `json:"needed" doc:"There is no value yet."`
}

// ImportNote is something to know about an entry or a file.
type ImportNote struct {
	Client  string `json:"client"`
	Title   string `json:"title"`
	Path    string `json:"path"`
	Server  string `json:"server,omitempty" doc:"The entry's name in the file."`
	Section string `json:"section,omitempty"`
	Text    string `json:"text"`
}

// ImportRequest says which servers of a plan to import.
type ImportRequest struct {
	ImportSelection
	Revision       string            `json:"revision" doc:"That of the plan."`
	Servers        []string          `json:"servers,omitempty" doc:"Names of the person's own servers."`
	ProjectServers []string          `json:"projectServers,omitempty" doc:"Names of servers that came with a project. Naming one agrees that its command runs."`
	Values         map[string]string `json:"values,omitempty" doc:"Values of needed inputs, by the name of their secret. They go to the vault."`
}

// ImportResult is what an import did.
type ImportResult struct {
	ConfigFile string   `json:"configFile"`
	Added      []string `json:"added" doc:"Names of the servers that are in force now."`
}

// Connections lists the clients of this machine.
type Connections struct {
	ConfigFile string             `json:"configFile"`
	Command    []string           `json:"command" doc:"What starts genkan in the entries of clients: the program and its first arguments."`
	Clients    []ClientConnection `json:"connections"`
	Changes    []ClientChange     `json:"changes" doc:"What can be undone, the newest first."`
	Unreadable []string           `json:"unreadable,omitempty" doc:"Records of changes that cannot be read."`
}

// ClientConnection is a client with its files.
type ClientConnection struct {
	Name    string       `json:"name"`
	Title   string       `json:"title"`
	Files   []ClientFile `json:"files" doc:"All places where it may keep servers. A file that several clients share is with the first of them."`
	Lacking []string     `json:"lacking" doc:"Servers of genkan, and parts of it such as kb, that no entry of a connected client has. Those that are off are not among them."`
}

// ClientFile is a file in which a client may keep servers.
type ClientFile struct {
	Path      string   `json:"path"`
	Project   bool     `json:"project" doc:"It belongs to the project in folder."`
	Exists    bool     `json:"exists"`
	Servers   int      `json:"servers"`
	Connected int      `json:"connected" doc:"How many of the servers' entries lead to genkan."`
	Names     []string `json:"names" doc:"The servers of genkan that entries name. Entries that lead to all servers name none."`
	Problem   string   `json:"problem,omitempty" doc:"Why it cannot be read."`
}

// ClientChange is a change of a client's file that can be undone.
type ClientChange struct {
	ID      string    `json:"id"`
	Client  string    `json:"client"`
	Path    string    `json:"path"`
	Time    time.Time `json:"time"`
	Created bool      `json:"created,omitempty" doc:"There was no file before."`
}

// ConnectRequest says how to connect a client.
type ConnectRequest struct {
	Folder    string   `json:"folder,omitempty" doc:"The absolute path of a project, whose files count too."`
	Also      []string `json:"also,omitempty" doc:"More clients. If one of them cannot be connected, none is."`
	Aggregate bool     `json:"aggregate,omitempty" doc:"One entry, genkan, in place of all entries. Tools are called SERVER__TOOL then."`
	Add       []string `json:"add,omitempty" doc:"Only add entries for these servers of genkan, such as kb, where no entry has them. All other entries stay as they are."`
	URL       bool     `json:"url,omitempty" doc:"Entries call the URL of a genkan that listens, with a token of the client's own, instead of starting genkan."`
	Project   bool     `json:"project,omitempty" doc:"Also change files of the project, which others share."`
	DryRun    bool     `json:"dryRun,omitempty" doc:"Change nothing."`
}

// ConnectResult is what became of files, or would become of them.
type ConnectResult struct {
	Files   []ConnectedFile `json:"files"`
	BaseURL string          `json:"baseUrl,omitempty" doc:"What entries with a URL call. They work only while genkan listens there."`
	Revoked []string        `json:"revoked,omitempty" doc:"Clients whose token was revoked, because no entry uses it any more."`
}

// ConnectedFile is a client's file.
type ConnectedFile struct {
	Client      string           `json:"client"`
	Title       string           `json:"title"`
	Path        string           `json:"path"`
	State       string           `json:"state" doc:"unchanged, planned, changed, created, shared (a project's file that nobody asked to change) or failed."`
	Entries     []ConnectedEntry `json:"entries,omitempty"`
	Replaced    []string         `json:"replaced,omitempty" doc:"Entries that the one entry for all replaces."`
	NotImported []string         `json:"notImported,omitempty" doc:"Entries that genkan has no server for. They stay as they are."`
	Diff        []string         `json:"diff,omitempty" doc:"The lines of the file that change, with -, + or a space before them, and … between; secrets are masked."`
	Problem     *FileProblem     `json:"problem,omitempty"`
}

// ConnectedEntry is an entry that leads to genkan.
type ConnectedEntry struct {
	Name   string `json:"name"`
	To     string `json:"to" doc:"The command or URL."`
	Server string `json:"server,omitempty" doc:"The server that is behind it; empty for all."`
	Was    string `json:"was,omitempty" doc:"The URL that it called before."`
}

// FileProblem says why a file was left alone.
type FileProblem struct {
	Error string `json:"error"`
	Code  string `json:"code" doc:"As that of a failure."`
}

// UndoResult is what became of files.
type UndoResult struct {
	Files      []UndoneFile `json:"files"`
	Unreadable []string     `json:"unreadable,omitempty" doc:"Records of changes that cannot be read. These changes cannot be undone."`
}

// UndoneFile is a client's file.
type UndoneFile struct {
	Client  string       `json:"client"`
	Path    string       `json:"path"`
	State   string       `json:"state" doc:"restored (to the byte), entries (what others have changed since stays), removed (it did not exist before) or failed."`
	Problem *FileProblem `json:"problem,omitempty"`
}

func (s ImportSelection) query() string {
	q := url.Values{}
	if s.Folder != "" {
		q.Set("folder", s.Folder)
	}
	for _, one := range s.From {
		q.Add("from", one)
	}
	return q.Encode()
}

// PlanImport returns what an import would do.
func (c *Client) PlanImport(ctx context.Context, which ImportSelection) (ImportPlan, error) {
	var out ImportPlan
	return out, c.do(ctx, http.MethodGet, "/v1/import?"+which.query(), nil, &out)
}

// Import imports servers of clients.
func (c *Client) Import(ctx context.Context, in ImportRequest) (ImportResult, error) {
	var out ImportResult
	return out, c.do(ctx, http.MethodPost, "/v1/import", in, &out)
}

// Connections lists the clients of this machine, with files of a project's folder.
func (c *Client) Connections(ctx context.Context, folder string) (Connections, error) {
	var out Connections
	return out, c.do(ctx, http.MethodGet, "/v1/connections?"+ImportSelection{Folder: folder}.query(), nil, &out)
}

// Connect makes the entries of a client, or of all, lead to genkan.
func (c *Client) Connect(ctx context.Context, name string, in ConnectRequest) (ConnectResult, error) {
	var out ConnectResult
	return out, c.do(ctx, http.MethodPost, "/v1/connections/"+url.PathEscape(name), in, &out)
}

// Undo restores the files of a client, or of all.
func (c *Client) Undo(ctx context.Context, name string, force bool) (UndoResult, error) {
	var out UndoResult
	return out, c.do(ctx, http.MethodDelete, "/v1/connections/"+url.PathEscape(name)+"?force="+strconv.FormatBool(force), nil, &out)
}
