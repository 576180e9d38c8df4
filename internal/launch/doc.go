// Package launch starts and ends the processes of MCP servers. It finds commands,
// sets their environment, and ends all descendants of a process with it, or with
// genkan. It knows nothing of MCP; package upstream is its caller.
//
// A Launcher belongs to the process. Launcher.Start returns a Child with the pipes
// of its standard input and output. A command is looked for in genkan's PATH and
// then, except on Windows, in the PATH of the user's login shell, which is asked
// once and only if it is needed, and in the folders where tools usually are
// (locate.go, shell.go). A child inherits a short list of variables; the
// configuration declares all others (environment.go). GENKAN_INSIDE names the data
// directories of the genkans that it runs under, so that a genkan among its own
// servers refuses to start.
//
// A child and its descendants share a process group. Child.End closes the input,
// then sends SIGTERM, then kills the group. The guard (guard.go) is a second
// process of the same binary. It holds a pipe from genkan and the ids of all
// groups, and kills the groups that are left when the pipe breaks, however genkan
// ended. On Windows a job object does both. See docs/adr/0002-guard-process.md.
//
// A container outlives its `docker run` or `podman run`. So Start gives the
// container a name and labels, removes it when the child has ended, and removes
// containers that a killed genkan left behind (container.go, container_cleanup.go).
//
// Invariants:
//
//   - Rules that differ between systems are functions of the system's name (goos),
//     so that those of Windows are tested everywhere.
//   - Genkan's keys and tokens are never inherited by a child.
//   - Waiting for a child never waits for a descendant that left the group and
//     holds the pipes open.
//   - EmptyDir is a folder that no other user and no caller can write to, because
//     programs such as npx run what they find where they start.
package launch
