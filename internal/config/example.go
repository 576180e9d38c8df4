package config

import (
	"errors"
	"os"
)

// Example returns a configuration file that explains every key. As it stands
// everything is commented out and it means the defaults. Explanations begin
// with "# "; removing the "#" of the other lines, which has no space after it
// or the two of an indentation, makes a setting.
func Example() string { return example }

// WriteExample writes the example to a path where no file is, so that a newcomer
// has something to edit. It changes no setting.
func WriteExample(path string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return // there is a file, or there cannot be one, which Load reports
	}
	_, err = f.WriteString(Example())
	if errors.Join(err, f.Close()) != nil {
		_ = os.Remove(path) // half an example would be in the way of a whole one
	}
}

const example = `# Genkan's configuration. Everything here is optional; what is commented out
# shows the default, or an example where there is none.
#
# Durations are milliseconds (30000) or text with a unit ("30s", "10m").
#
# In command, args, env, cwd, url, headers, oauth and embeddings, ${NAME} is an environment
# variable, ${NAME:-default} has a default, ${env:NAME} is the same as ${NAME},
# and $${ is a plain ${. ${secret:NAME} is what "genkan secrets set NAME" keeps,
# encrypted; a variable that is not set is looked for there, too. Keep keys and
# passwords there or in variables, not in this file.

# The MCP servers behind the door, in the form that clients use. A name is a
# lower case letter, then letters, digits and - (at most 32).
#mcpServers:

# A process that speaks MCP over its standard input and output.
#  github:
#    command: npx
#    args: ["-y", "@modelcontextprotocol/server-github"]
# What the process gets beside the basics (PATH, HOME, LANG, XDG_*, proxies and
# CAs, SSH_AUTH_SOCK, DOCKER_HOST and the like). A PATH here is the process's
# own, and its command is looked for there first.
#    env:
#      GITHUB_PERSONAL_ACCESS_TOKEN: ${GITHUB_TOKEN}
# The folder that it runs in.
#    cwd: ${HOME}
# Put before the names of its tools. The default is the server's name; ""
# leaves the names as they are.
#    prefix: github
# Lets its tools take the names of tools of other servers and of the knowledge
# base, which are left out as long as it has them. Without it they stay, and its
# own is left out; of servers with it, the first has the name. The tools of search
# mode cannot be replaced.
#    overwrite: false
# Who shares the process: shared is one for all, session one for each client,
# root one for each folder that clients work in; auto decides by what the
# server needs. ${workspaceFolder} in command, args, env and cwd is that folder.
#    isolation: auto
# How long a call may go without a sign of life. Progress starts it anew.
#    timeout: 10m
# How long the server may take to start; a first npx downloads a lot.
#    startupTimeout: 180s
# Keeps the entry without running it.
#    disabled: false
# Which of its tools exist for clients, by the server's own names: * is any
# text, ? one character, [ab] a choice. Without allow all do; deny wins.
#    tools:
#      allow: ["get_*", "list_*", "search_*"]
#      deny: ["*_secret*"]
# How calls of some of them are carried out, where that is not as for all:
# timeout as above, but for REST and the command line too, which otherwise wait
# 30s; how often a call that is lost on the way is sent again, if that can do no
# harm (0 to 10), and the pause before, which doubles (at most 1m). A caller's
# own options come first; of several patterns, the first that says a thing. And
# the version, category and tags that they are listed with, for search and
# filters, unless somebody has given them others (genkan tools, REST).
#      options:
#        "export_*":
#          timeout: 30m
#          retry: 3
#          retryDelay: 2s
#          budget: 5000
#          version: 1.0.0
#          category: reports
#          tags: ["slow"]
# How many tokens an answer to an agent may have; the default is the budget of all,
# below.
#    budget: 10000
# Checks arguments against the tool's schema before they are sent.
#    validate: false
# What clients before MCP 2026-07-28 are shown of its tools' schemas: plain
# makes properties of anyOf, oneOf, allOf and the like at the first level, for
# which some clients drop all tools; original leaves them as the server wrote
# them. The default is the schemas of all servers, below.
#    schemas: plain

# A server that is called over HTTP.
#  docs:
#    url: https://mcp.example.com/mcp
# stdio, http (or streamable-http, streamableHttp) or sse, which is the
# transport of MCP 2024-11-05. Not needed: command or url tells it, and whether
# a url is http or sse is found out.
#    type: http
#    headers:
#      Authorization: Bearer ${DOCS_TOKEN}
# A server that asks for sign-in needs nothing here: "genkan login docs" finds
# out the rest. Where genkan cannot register itself, somebody registers it by
# hand and writes what came of it. "oauth: false" is for a server that must
# never be signed in to.
#    oauth:
#      clientId: genkan
#      clientSecret: ${DOCS_CLIENT_SECRET}
# Where that client was registered; a sign-in elsewhere is then refused.
#      issuer: https://login.example.com
# Asked for instead of those that the server names.
#      scopes: ["read", "write"]
# The port of http://127.0.0.1:PORT/callback, where it had to be said.
#      redirectPort: 3118
# Hosts on private addresses that a server out on the internet may send genkan
# to for signing in.
#      privateHosts: ["login.corp.example.com"]

# Where to listen. An address that other machines can reach needs tls or
# behindProxy. Flags: --listen, --host, --port. Environment: HOST, PORT.
#listen: 127.0.0.1:3000
# The same in two keys; write either these or listen.
#host: 127.0.0.1
#port: 3000

# A certificate and its key, as files. Flags: --tls-cert, --tls-key.
#tls:
#  cert: /etc/genkan/cert.pem
#  key: /etc/genkan/key.pem

# Says that a proxy in front ends TLS. Flag: --behind-proxy.
#behindProxy: false

# Other names that clients may call this gateway by, as in their Host header.
# Flag: --allowed-host.
#allowedHosts: ["genkan.example.com", "genkan.example.com:8443"]

# Callers choose the folder that a server with ${workspaceFolder} works in.
# Callers with a token may choose any below the home directory that is not
# hidden, and these folders and what is below them. Nobody may choose genkan's
# own data, and the home directory itself and / count as no folder.
#folders: ["/srv/projects", "~/.dotfiles"]

# Web pages that may call the gateway from a browser. "*" is refused: with a
# leaked token every page on the internet could. One origin or a list.
# Environment: CORS_ENABLED, CORS_ORIGIN (with commas between several).
#cors:
#  enabled: true
#  origin: ["https://app.example.com"]

# How many requests, calls and new sessions each client may make in a window.
# 0 is no limit.
#rateLimit:
#  max: 600
#  timeWindow: 1m

# For those who host genkan's client ID metadata document: its address, which
# is genkan's name to authorization servers that read such documents.
#oauth:
#  clientMetadataUrl: https://example.com/genkan.json

# How many tools a page of tools/list has. 0 is all on one page, which clients
# get along with best.
#pageSize: 0

# Where the commands of servers are found: in the PATH of genkan, in that of
# your login shell, and in the usual folders (/opt/homebrew/bin, ~/.local/bin,
# ~/.cargo/bin and the like). The shell is asked only for a command that is not
# in the first; false never asks it. Not on Windows.
#loginShell: true

# What clients before MCP 2026-07-28 are shown of schemas, plain or original,
# for the servers that do not say it themselves.
#schemas: plain

# What clients see of the tools: all, or with search four that find, describe and
# call the others. ?mode=search or ?mode=all behind a URL says it for one client.
#mode: all
# The tools that stay in the list in search mode, by the names that clients use.
#pinned: ["github__search_*"]

# Searches learn from the successful calls that follow them, for each client by
# itself; "genkan tools learned" shows what. false neither learns nor uses it.
#learn: true

# A model that also compares what a query means with what tools do: an endpoint of
# OpenAI's embeddings API, or Ollama. Names and descriptions of tools, and queries,
# are sent there. Not needed, and off unless it is here.
#embeddings:
#  url: http://127.0.0.1:11434
#  model: nomic-embed-text
# openai or ollama.
#  kind: ollama
#  apiKey: ${secret:EMBEDDINGS_KEY}
# Asked for where the model can make vectors of several lengths.
#  dimensions: 768
# How much meaning counts beside words, 0 to 1.
#  weight: 0.15

# How many tokens an answer to an agent may have, 500 or more; off for any number. A
# larger one is stored for an hour, and the agent gets its outline and reads what it
# needs with the tool read_result. A budget of a tool counts before that of its
# server, of the client (clients, below), and this. Claude Code has 10000, because it
# warns above. REST and the command line get everything unless they ask for a budget.
#budget: 25000

# The call history, which "genkan calls" shows; enabled: false keeps none. bodies is
# whose arguments and results are kept, encrypted: local is those of your own clients
# on this machine, all those of clients with tokens too, off nobody's. Secrets in them
# are never shown; replay: off takes them out before they are kept, and calls cannot
# be replayed then. The oldest calls are removed after days, or beyond megabytes.
#record:
#  enabled: true
#  bodies: local
#  replay: on
#  days: 7
#  megabytes: 256

# The knowledge base: sixteen tools under their own names, among the others and
# alone at /mcp/s/kb. A server that is called kb takes its place.
#kb:
#  enabled: true
# The statuses of items in their order, 1 to 100; lists leave out items in a closed
# one. A new item gets the first open one. Items keep a status that is taken out of
# here, and no other gets it then.
#  statuses:
#    - {name: Open}
#    - {name: Specification}
#    - {name: Waiting}
#    - {name: Ready}
#    - {name: In Progress}
#    - {name: Review}
#    - {name: Testing}
#    - {name: Pending}
#    - {name: Completed, closed: true}
#    - {name: Closed, closed: true}
#    - {name: Canceled, closed: true}
#    - {name: Rejected, closed: true}
# A model for semantic_search, which finds items by meaning and is not there
# without one. The texts of items are sent there; the keys are those of embeddings,
# but weight is 0.3.
#  semantic:
#    url: http://127.0.0.1:11434
#    model: nomic-embed-text
#    kind: ollama
#    apiKey: ${secret:EMBEDDINGS_KEY}
#    dimensions: 768
#    weight: 0.3

# n8n, whose workflows and executions genkan has tools for: n8n__list_workflows and
# others. Several are a list, each with a name. Without a key here, N8N_URL and
# N8N_API_KEY of the environment make one.
#n8n:
#  name: n8n
#  url: http://127.0.0.1:5678
#  apiKey: ${secret:N8N_API_KEY}

# A folder of workflows, which run around calls: one in each file *.json, and it runs
# if it says "enabled": true. Changes are noticed. Of a file with a mistake, which the
# log tells, the last content without one stays in force. These workflows can be
# changed nowhere else.
#workflows: ~/genkan/workflows

# Who is told of a call that a workflow holds until a person decides: webhook gets a
# POST with the call, without secrets, and a link to a page on which to decide. http is
# for addresses on this machine or in a private network. link is the URL at which
# people reach genkan, whose host must be among allowedHosts; without it, links lead to
# the address that genkan listens on.
#approvals:
#  webhook: ${secret:CHAT_WEBHOOK}
#  link: https://genkan.example.com

# Named sets of servers and tools, each at /mcp/p/NAME. Without servers it has all;
# tools are named as clients name them.
#profiles:
#  writing:
#    servers: [docs]
#    tools:
#      allow: ["docs__*"]
#      deny: ["*_delete"]
#    mode: all
#    pinned: []

# What a client is shown at /mcp, by the name of its token or the one that genkan
# stdio was given with --client; those that start it without a name are called
# local.
#clients:
#  cursor:
#    profile: writing
#    mode: search
#    pinned: ["docs__search"]
#    budget: 8000

# fatal, error, warn, info, debug or trace. Flag: --log-level. Environment:
# LOG_LEVEL.
#logLevel: info

# The language of messages to people and agents: en or ja. The log stays
# English. Flag: --lang. Environment: GENKAN_LANG. Without any of these the locale
# decides: LC_ALL, LC_MESSAGES or LANG.
#lang: en
`
