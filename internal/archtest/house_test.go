package archtest

// module is this module's path; every import that begins with it is ours.
const module = "genkan"

// The storeys of the house. A name stands for internal/<name> and everything
// below it; packages of one room may import each other.
const (
	vocabulary = "gateway jsonrpc"
	rooms      = "attribution bridge catalog clients config connections doctor embed events execute guide history identity kb launch learn lock logs n8n ratelimit reception record redact registry script search secrets setup shape signin tasks upstream vault views webhook workflow workspace"
	stores     = "sqlite postgres"
	edges      = "mcpserver api web"
	// language is what messages are said in where they leave the house.
	language = "lang"
	inside   = vocabulary + " " + rooms + " " + language + " " + stores + " " + edges

	// fixtures are what any test may lean on besides its own imports: the
	// fault-injecting upstream, and a real store instead of a mock.
	fixtures = "testkit storetest " + stores
)

// row is what one package may import from this module. Its tests may import
// the same and what the second column adds.
type row struct{ code, tests string }

// house is the plan. "cmd" is everything below cmd/.
var house = map[string]row{
	// Words that everybody uses. gateway imports nothing but the standard library.
	"gateway": {"", fixtures + " jsonrpc"},
	"jsonrpc": {"gateway", fixtures},

	// A lock between processes, for rooms that share files, and folders that only
	// the user may enter.
	"filelock":   {"", fixtures},
	"privatedir": {"gateway", fixtures},

	// Texts that clients keep for us.
	"seal": {"", fixtures},

	// How many tokens a text has.
	"tokens": {"", fixtures},

	// One set of rules that take secrets out of texts, for whoever shows one.
	"redact": {"gateway", fixtures},

	// Rooms know the vocabulary and never one another, but for workflow → script,
	// webhook → workflow, upstream → launch, record → logs, history, script and workflow,
	// clients → redact, guide and learn → search, and views.
	"attribution": {vocabulary, fixtures},
	"bridge":      {vocabulary + " filelock privatedir", fixtures},
	"catalog":     {vocabulary, fixtures},
	"clients":     {vocabulary + " redact", fixtures + " vault"},
	"config":      {vocabulary, fixtures},
	"doctor":      {vocabulary, fixtures},
	"embed":       {vocabulary, fixtures},
	"events":      {"gateway", fixtures},
	"execute":     {vocabulary, fixtures},
	"guide":       {vocabulary + " search", fixtures},
	"history":     {vocabulary + " filelock privatedir", fixtures + " vault"},
	"identity":    {vocabulary, fixtures},
	"kb":          {vocabulary + " filelock", fixtures + " embed lang search"}, // what makes vectors, in the tests of its plugin; what finds its tools
	"launch":      {vocabulary + " filelock privatedir", fixtures},
	"learn":       {vocabulary + " search", fixtures},
	"lock":        {vocabulary + " " + language, fixtures}, // it answers by itself
	"logs":        {vocabulary, fixtures},
	"n8n":         {vocabulary + " tokens", fixtures + " lang"}, // its answers have a size in tokens
	"ratelimit":   {vocabulary, fixtures},
	"record":      {vocabulary + " logs history script tokens workflow", fixtures}, // what bounds the lines of a flood; where calls are kept; what has metrics
	"script":      {vocabulary, fixtures},
	"search":      {vocabulary, fixtures},
	"shape":       {vocabulary + " privatedir tokens", fixtures},
	"signin":      {vocabulary, fixtures + " vault"},
	"tasks":       {vocabulary + " seal", fixtures},
	"upstream":    {vocabulary + " launch", fixtures},
	"vault":       {vocabulary + " filelock", fixtures},
	"views":       {vocabulary + " catalog config embed learn search", fixtures}, // a view is made of these
	"webhook":     {vocabulary + " config workflow", fixtures},                   // settings; what an approval is
	"workflow":    {vocabulary + " script tokens", fixtures},
	"workspace":   {vocabulary, fixtures},
	"reception":   {vocabulary + " bridge", fixtures}, // serves what comes over bridge's socket

	// connections limits the connections of a net/http server, for app's listener.
	"connections": {vocabulary, fixtures},
	"registry":    {vocabulary + " catalog clients config redact upstream", fixtures + " vault"}, // stores config's servers, and tests them
	"secrets":     {vocabulary + " config redact registry", fixtures + " vault"},                 // what genkan holds, and the rules that find it
	"setup":       {vocabulary + " clients config identity", fixtures + " vault"},                // imports and connects

	// The languages. Only who shows a message asks for it; all others pass it on
	// as it is.
	"lang": {"gateway", fixtures},

	// Stores implement the ports of rooms.
	"sqlite":   {vocabulary + " " + rooms, fixtures},
	"postgres": {vocabulary + " " + rooms, fixtures},

	// Edges call rooms. They know neither stores nor one another; their tests
	// may open the whole house.
	"mcpserver": {vocabulary + " seal " + rooms + " " + language, fixtures + " app"},
	"api":       {vocabulary + " " + rooms + " " + language, fixtures + " app"},
	"web":       {vocabulary + " " + rooms + " " + language, fixtures + " app"},

	// What the doctor judges is gathered from everybody.
	"checkup": {inside, fixtures},

	// Only these know everyone.
	"app": {inside + " checkup seal privatedir", fixtures},
	"cli": {inside + " checkup app", fixtures},
	"cmd": {inside + " app cli", fixtures},

	// Test support: never part of the binary.
	"testkit":    {vocabulary + " filelock", ""},
	"storetest":  {vocabulary + " " + rooms + " testkit", ""},
	"evalsearch": {"search", fixtures},
	"tour":       {"", fixtures + " bridge"},
	"archtest":   {"", ""},
}

// confinement says which rooms may import a library, or a package of the
// standard library, in code that ships. Tests may import anything.
type confinement struct{ library, rooms, why string }

// confined keeps each large library behind one door, where it can be replaced.
var confined = []confinement{
	{"github.com/modelcontextprotocol/go-sdk/mcp", "testkit", "of the SDK, signin uses the words of OAuth only"},
	{"github.com/modelcontextprotocol/go-sdk/auth", "testkit", "of the SDK, signin uses the words of OAuth only"},
	{"github.com/modelcontextprotocol/go-sdk", "signin testkit", "it is the oracle that our protocol code is tested against"},
	{"filippo.io/age", "vault", "secrets are kept in one place"},
	{"github.com/zalando/go-keyring", "vault", "secrets are kept in one place"},
	{"golang.org/x/sys", "launch", "what only one system has is called in one place"},
	{"github.com/prometheus", "record api app", "rooms count through their own types; metrics are exposed at the edge"},
	{"github.com/danielgtaylor/huma", "api", "REST is decided in one place"},
	{"github.com/spf13/cobra", "cli cmd", "commands are decided in one place"},
	{"github.com/dop251/goja", "script", "user code runs only in the workers' pool"},
	{"cel.dev/cel-go", "workflow", "expressions are evaluated in one place"},
	{"github.com/evanw/esbuild", "script", "user code runs only in the workers' pool"},
	{"modernc.org/sqlite", "sqlite", "rooms declare ports, stores implement them"},
	{"github.com/jackc/pgx", "postgres", "rooms declare ports, stores implement them"},
	{"github.com/pressly/goose", "sqlite postgres", "rooms declare ports, stores implement them"},
	{"testing", "testkit storetest", "it does not belong in the binary"},
	{"go.uber.org/goleak", "testkit storetest", "it does not belong in the binary"},
	{"github.com/google/go-cmp", "testkit storetest", "it may panic and does not belong in the binary"},
	{"pgregory.net/rapid", "testkit storetest", "it does not belong in the binary"},
	{"github.com/rogpeppe/go-internal/testscript", "testkit", "it does not belong in the binary"},
}

// standardLibraryOnly are the rooms that import no library at all.
const standardLibraryOnly = "gateway lang redact"

// alone are packages of rooms that import the standard library and nothing else, not
// even from their own room: they can be read, tested and reused by themselves.
const alone = "kb/graph"
