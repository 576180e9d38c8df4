package doctor

import (
	"io/fs"
	"time"

	"genkan/internal/gateway"
)

// Facts are what is known about a house. Texts that are empty were not said.
type Facts struct {
	// Flags lead a command to this house, when it is not the usual one; they
	// begin with a space.
	Flags   string
	Program Program
	Running Running
	Data    Data
	// Knowledge is what the database holds.
	Knowledge Knowledge
	Config    Config
	Port      Port
	Servers   []Server
	Clients   []Client
}

// server is the server of a name; one of the file, if nothing is known of it.
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

// Runtime is a program that servers are run by.
type Runtime struct {
	// Name is node, uv or docker; For are the servers that need it.
	Name string
	For  []string
	// Version is what it says; empty when it is not there.
	Version string
}

// Running is the genkan that serves the data directory.
type Running struct {
	// How is serve, background, or empty when none runs.
	How string
	// Started says that it was started for this look.
	Started bool
	Version string
	PID     int
	// Listen is where it listens; empty for a background process.
	Listen string
	// Config is the configuration that it uses, if that is another than the one that
	// is looked at.
	Config string
	// Refrained says that none was started because none was to be.
	Refrained bool
	// Why says why none runs, where that is not what was asked for.
	Why gateway.Text
}

// File is a file or folder.
type File struct {
	Path   string
	Exists bool
	Folder bool
	Mode   fs.FileMode
	// Problem says why it cannot be used.
	Problem gateway.Text
	Size    int64
}

// openToOthers reports whether somebody else may read it. Windows has no such
// bits.
func (f File) openToOthers() bool { return f.Exists && f.Mode.Perm()&0o077 != 0 }

// Data is the data directory.
type Data struct {
	Dir        File
	AdminToken File
	Database   File
	// Free is how many bytes the disk has left; negative when unknown.
	Free int64
	// Key is where the key of the kept secrets is: keyring, file, or empty when
	// nothing is kept. Secrets counts them.
	Key          string
	Secrets      int
	VaultProblem gateway.Text
	// ImportsProblem says why the record of what was imported cannot be read.
	ImportsProblem gateway.Text
	// Socket says why processes could not meet there.
	Socket gateway.Text
	// Place says why the folder of the socket cannot be used.
	Place gateway.Text
	// Full says that nothing more can be written.
	Full bool
	// Log is the log of background processes. Its problem is that it cannot be
	// written to.
	Log File
}

// Config is the configuration.
type Config struct {
	File File
	// Named says that --config names it.
	Named bool
	// Unread says that nobody could look for it.
	Unread bool
	// Problem is everything that is wrong with it, a line each.
	Problem gateway.Text
	// Servers counts those that are configured.
	Servers int
	// Plain are servers with secrets that stand in the file as they are, with
	// the places and a name for each.
	Plain []Plain
}

// Plain is a secret that stands in the configuration as it is.
type Plain struct{ Server, Where, Secret string }

// Port is where genkan listens, or would.
type Port struct {
	Listen string
	// Holder is who has it: ours, genkan, other, or empty for nobody.
	Holder string
	// Exposed says that other machines reach it; Covered that TLS or a proxy
	// protects it then.
	Exposed, Covered bool
	// TLSProblem is what is wrong with the certificate.
	TLSProblem gateway.Text
	// TLSDays is for how long it is good; TLS says that there is one.
	TLS     bool
	TLSDays int
}

// Server is one MCP server.
type Server struct {
	Name  string
	State string
	// Stored: it was added, and is in the database instead of the file.
	Stored bool
	// Known says that a running genkan was asked about it.
	Known     bool
	Protocol  string
	Era       string
	Transport string
	Tools     int
	StartTook time.Duration
	// FirstStart says that this was its first start, which may have downloaded it.
	FirstStart bool
	// Waited is how long it was waited for; zero if it was not.
	Waited  time.Duration
	Problem string
	// Cause is why it cannot be reached, as /v1/servers has it; empty where that is
	// not known.
	Cause string
	// Silent is how long a ready server was asked for a sign of life in vain; zero
	// when it responded. Busy says that calls waited for its answers then.
	Silent time.Duration
	Busy   bool
	// Unlisted are its lists that could not be read.
	Unlisted []Unlisted
	// Output is the end of what it wrote, without secrets.
	Output []string
	// SignIn is needed, signed in, or empty.
	SignIn  string
	Hidden  []string
	Changed []Changed
	// Redefined are the tools whose definitions the server changed lately.
	Redefined []Redefined
	// Overwrites says that the configuration lets its tools have others' names.
	Overwrites bool
	// Replaces are its tools that stand in the place of others' of their name,
	// Undescribed those without a description.
	Replaces    []Replacing
	Undescribed []string
	// Long are names of tools that clients may refuse for their length, Odd those
	// that they may refuse for their characters, Shortened those that were cut.
	Long, Odd, Shortened []string

	Missing []Missing
	// Command is what starts it; Found says that it is there.
	Command string
	Found   bool
}

// Unlisted is a list of a server that could not be read.
type Unlisted struct{ List, Problem string }

// Changed is a definition that clients do not see as its server sent it.
type Changed struct {
	Name string
	// Address says that the name is that of a resource or of a template.
	Address bool
	// Prompt says that it is one.
	Prompt  bool
	LeftOut bool
	TakenBy string
	// Replaced: the configuration says that TakenBy has its name.
	Replaced bool
	// Suspect: clients see it, and it may mislead them.
	Suspect bool
	Why     string
}

// Redefined is a tool whose definition its server changed.
type Redefined struct {
	// Tool is the server's own name, Parts the members that changed.
	Tool  string
	Parts []string
	// Before and After show the description where it changed; both are empty if it
	// did not.
	Before, After string
	At            time.Time
	Times         int
}

// Replacing is a tool that stands in the place of other servers'.
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
	// Name is what commands call it, Title what its makers do.
	Name, Title string
	Files       []ClientFile
	// Tools is how many tools its entries show it.
	Tools int
	// Undoable says that genkan remembers what its entries were before they led to
	// genkan.
	Undoable bool
}

// ClientFile is a file where a client keeps its servers.
type ClientFile struct {
	Path string
	// Project says that it is in a project, and that connect leaves it out unless
	// it is told otherwise.
	Project bool
	Problem gateway.Text
	// Others are its entries that do not lead to genkan.
	Others []string
	// Imported says that genkan has all of those.
	Imported bool
	Leads    []Lead
	// NoWayBack says that genkan changed the file, and has no backup that it can
	// read.
	NoWayBack bool
}

// The states of a token in a client's file.
const (
	TokenNone    = ""
	TokenKnown   = "known"
	TokenRevoked = "revoked"
	TokenAdmin   = "admin"
	// TokenUnknown: nobody could be asked.
	TokenUnknown = "unknown"
)

// Lead is an entry that leads to genkan.
type Lead struct {
	Name string
	// All: it shows all servers.
	All bool
	// Strangers are servers that it names and that are not configured.
	Strangers []string
	// URL is what the client calls; Answers says that somebody is there.
	URL     string
	Answers bool
	// Command is what the client starts instead; Found says that it is there.
	Command string
	Found   bool

	Token     string
	TokenName string
	// Client is the name that a started genkan is told; Followed says that it is
	// known when it was last seen.
	Client   string
	Followed bool
	LastSeen time.Time
	LastBy   string
}
