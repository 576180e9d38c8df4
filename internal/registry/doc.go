// Package registry manages the servers that are registered with a running genkan
// and stored in the database, beside the servers of the configuration file. It
// adds, changes and removes them, moves the literal secrets of their definitions
// into the vault, and tests a server before it is registered. It also describes all
// configured servers with their secrets masked, and manages the secrets that
// definitions refer to (Secrets).
//
// The REST edge calls it. Package app gives it the store, the vault and the
// configuration in force. Package config reads a stored definition with the code
// that reads the file. The file takes precedence: a registered server that
// conflicts with it is rejected, with the reason (config.RejectedServer).
//
// Registry.change does every change, under a lock between processes and under the
// lock of reloads: it checks the definition, saves its secrets under free names,
// reads the whole configuration with the change, and stores the row just before
// that configuration comes into force. Watch reloads when another process has
// changed a server.
//
// Invariants:
//
//   - Everything that can be refused is refused before the database changes.
//   - A new secret never replaces another one before the row is stored, so a crash
//     leaves at most an unused secret.
//   - A change that has begun does not end with its request.
//   - No answer contains a literal secret (mask.go, redact.go). A masked value that
//     comes back stands for the value that it was shown for.
package registry
