package doctor

import (
	"io/fs"
	"time"

	"genkan/internal/gateway"
)

// Facts are the known facts about an installation. An empty text means unknown.
type Facts struct {
	// Flags make a command use this installation if it is not the default one. They
	// begin with a space.
	Flags   string
	Program Program
	Running Running
	Data    Data
	// Knowledge describes the contents of the database.
	Knowledge Knowledge
	Config    Config
	Port      Port
	Servers   []Server
	N8N       []N8N
	// Embeddings is why the model that compares texts gives no vectors; empty if it does, or
	// there is none. EmbeddingsAt is when it was asked last.
	Embeddings   gateway.Text
	EmbeddingsAt time.Time
	Clients      []Client
}

// server returns the server with a name. If nothing is known of it, it returns a
// Server with only the name, which counts as one of the configuration file.
func (f *Facts) server(name string) *Server {
	for i := range f.Servers {
		if f.Servers[i].Name == name {
			return &f.Servers[i]
		}
	}
	return &Server{Name: name}
}

// Program is this genkan, and the programs that servers need.
type Program struct {
	Version, Go, System string
	Runtimes            []Runtime
}

// Runtime is a program that runs servers.
type Runtime struct {
	// Name is node, uv or docker; For are the servers that need it.
	Name string
	For  []string
	// Version is what the program prints; empty if it does not exist.
	Version string
}

// Running is the genkan that serves the data directory.
type Running struct {
	// How is serve, background, or empty if none runs.
	How string
	// Started is set if genkan was started for this examination.
	Started bool
	Version string
	PID     int
	// Listen is the address of its listener; empty for a background process.
	Listen string
	// Config is the configuration that it uses, if that differs from the examined
	// one.
	Config string
	// Refrained is set if none was started because starting one was not wanted.
	Refrained bool
	// Why is why none runs, if one should.
	Why gateway.Text
	// WorkflowsOff is set if all workflows are turned off, by WorkflowsOffBy at
	// WorkflowsOffAt if that is known.
	WorkflowsOff   bool
	WorkflowsOffBy string
	WorkflowsOffAt time.Time
	// Bypassed are the workflows that name a replaced tool.
	Bypassed []Bypassed
}

// Bypassed is a running workflow whose match.tools names a tool that the tool of another
// server has replaced. It does not apply to that one.
type Bypassed struct{ Workflow, Tool, By string }

// File is a file or folder.
type File struct {
	Path   string
	Exists bool
	Folder bool
	Mode   fs.FileMode
	// Problem is why it cannot be used.
	Problem gateway.Text
	Size    int64
}

// openToOthers reports whether other users may read it. Windows has no such bits.
func (f File) openToOthers() bool { return f.Exists && f.Mode.Perm()&0o077 != 0 }

// Data is the data directory.
type Data struct {
	Dir        File
	AdminToken File
	Database   File
	// Free is how many bytes the disk has left; negative when unknown.
	Free int64
	// Key is where the key of the stored secrets is: keyring, file, or empty if
	// there are none. Secrets and SignIns are their numbers.
	Key          string
	Secrets      int
	SignIns      int
	VaultProblem gateway.Text
	// ImportsProblem is why the record of imports cannot be read.
	ImportsProblem gateway.Text
	// Socket is why processes cannot find each other there.
	Socket gateway.Text
	// Place is why the folder of the socket cannot be used.
	Place gateway.Text
	// Full is set if nothing more can be written.
	Full bool
	// Log is the log of background processes. Its problem is why it cannot be
	// written to.
	Log   File
	Calls Calls
}

// Calls is the call history of the running genkan.
type Calls struct {
	// Problem is why not everything is kept now, and Since since when. Stopped is set if
	// it concerns whole calls, not only what was sent and received.
	Problem gateway.Text
	Since   time.Time
	Stopped bool
	// Dropped counts the calls, and LostBodies those without what was sent and
	// received, that were lost since genkan started.
	Dropped, LostBodies int64
}

// Config is the configuration.
type Config struct {
	File File
	// Named is set if --config names it.
	Named bool
	// Unread is set if it could not be looked for.
	Unread bool
	// Problem lists everything that is wrong with it, one per line.
	Problem gateway.Text
	// Servers is the number of configured servers. Stored is how many of them are in the
	// database.
	Servers, Stored int
	// Plain are the secrets that are in the file as plain text, with their servers,
	// places and a name for each.
	Plain []Plain
}

// Plain is a secret that is in the configuration as plain text.
type Plain struct{ Server, Where, Secret string }

// Port is the port that genkan listens on, or would.
type Port struct {
	Listen string
	// Holder is the process that has the port: ours, genkan, other, or empty for
	// none.
	Holder string
	// Exposed is set if other machines can reach it. Covered is set if TLS or a
	// proxy protects it then.
	Exposed, Covered bool
	// TLSProblem is what is wrong with the certificate.
	TLSProblem gateway.Text
	// TLSDays is how many days the certificate is still valid. TLS is set if there
	// is one.
	TLS     bool
	TLSDays int
}

// N8N is an n8n instance, whose tools genkan has itself.
type N8N struct {
	Name, URL string
	// Hidden is set if a server has its name.
	Hidden bool
	// Problem is why it cannot be used.
	Problem gateway.Text
	// Tools is the number of its tools in the running genkan.
	Tools int
	// MCPServer is the URL of its own MCP server, if it has one that is not configured.
	MCPServer string
}

// Server is one MCP server.
type Server struct {
	Name  string
	State string
	// Stored is set if it was added, and is in the database instead of the file.
	Stored bool
	// Known is set if a running genkan reported it.
	Known     bool
	Protocol  string
	Era       string
	Transport string
	Tools     int
	StartTook time.Duration
	// FirstStart is set if this was its first start, which may have downloaded it.
	FirstStart bool
	// Waited is how long the checkup waited for it; zero if it did not.
	Waited  time.Duration
	Problem string
	// Cause is why it cannot be reached, as in /v1/servers; empty if unknown.
	Cause string
	// Silent is how long a ready server did not answer a ping; zero if it answered.
	// Busy is set if calls waited for its answers then.
	Silent time.Duration
	Busy   bool
	// Unlisted are its lists that could not be read.
	Unlisted []Unlisted
	// Output is the end of its output, without secrets.
	Output []string
	// SignIn is needed, signed in, or empty.
	SignIn  string
	Hidden  []string
	Changed []Changed
	// Redefined are the tools whose definitions the server changed lately.
	Redefined []Redefined
	// Overwrites is set if the configuration lets its tools replace others of the
	// same name.
	Overwrites bool
	// Replaces are its tools that replace other servers' tools of the same name.
	// Undescribed are those without a description.
	Replaces    []Replacing
	Undescribed []string
	// Long are names of tools that clients may refuse for their length, Odd those
	// that they may refuse for their characters. Shortened are names that were cut.
	Long, Odd, Shortened []string

	Missing []Missing
	// Command is what starts it. Found is set if that exists.
	Command string
	Found   bool
}

// Unlisted is a list of a server that could not be read.
type Unlisted struct{ List, Problem string }

// Changed is a definition that clients see differently than its server sent it.
type Changed struct {
	Name string
	// Address is set if the name is that of a resource or a template.
	Address bool
	// Prompt is set if it is a prompt.
	Prompt  bool
	LeftOut bool
	TakenBy string
	// Replaced is set if the configuration gives its name to TakenBy.
	Replaced bool
	// Suspect is set if clients see it and it may mislead them.
	Suspect bool
	Why     string
}

// Redefined is a tool whose definition its server changed.
type Redefined struct {
	// Tool is the server's own name, Parts the members that changed.
	Tool  string
	Parts []string
	// Before and After show the description where it changed; both are empty if it
	// did not change.
	Before, After string
	At            time.Time
	Times         int
}

// Replacing is a tool that replaces tools of other servers.
type Replacing struct {
	Name string
	Of   []string
}

// Missing is a variable or a secret that a server refers to.
type Missing struct {
	Name   string
	Secret bool
}

// Client is a program that calls MCP servers.
type Client struct {
	// Name is its name in commands, Title its maker's name for it.
	Name, Title string
	Files       []ClientFile
	// Tools is the number of tools that its entries show.
	Tools int
	// Undoable is set if genkan has a backup of its entries from before they led to
	// genkan.
	Undoable bool
}

// ClientFile is a file where a client keeps its servers.
type ClientFile struct {
	Path string
	// Project is set if it is in a project. Then connect skips it unless told
	// otherwise.
	Project bool
	Problem gateway.Text
	// Others are its entries that do not lead to genkan.
	Others []string
	// Imported is set if genkan has all of Others.
	Imported bool
	Leads    []Lead
	// NoWayBack is set if genkan changed the file and has no readable backup.
	NoWayBack bool
}

// These are the states of a token in a client's file.
const (
	TokenNone    = ""
	TokenKnown   = "known"
	TokenRevoked = "revoked"
	TokenAdmin   = "admin"
	// TokenUnknown means that the state could not be read.
	TokenUnknown = "unknown"
)

// Lead is an entry that leads to genkan.
type Lead struct {
	Name string
	// All is set if it shows all servers.
	All bool
	// Strangers are servers that it names and that are not configured.
	Strangers []string
	// URL is what the client calls. Answers is set if a server listens there.
	URL     string
	Answers bool
	// Command is what the client starts instead. Found is set if that exists.
	Command string
	Found   bool

	Token     string
	TokenName string
	// Client is the name that is passed to a started genkan. Followed is set if it
	// is known when it was last used.
	Client   string
	Followed bool
	LastSeen time.Time
	LastBy   string
}
