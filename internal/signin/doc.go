// Package signin signs genkan in to remote MCP servers with OAuth 2.1, as the MCP
// specification asks for it. It discovers the authorization server, registers
// genkan there, takes a person through the browser once, and then hands out access
// tokens and refreshes them in the background.
//
// A SignIns has the sign-ins of all servers. The process makes one, and package
// upstream uses it through a Bearer for each server. Calls ask for a token (Token)
// and report refusals (Refused). Both return an error with the command to run if a
// person is needed, because nobody sits in front of a gateway. `genkan login` and
// `genkan logout` call SignIn and SignOut in a process of their own, with the same
// Vault. They tell the running process through POST /v1/servers/NAME/try, which
// calls Doubt.
//
// SignIn probes the server (discover.go), finds its authorization server
// (issuer.go), registers a client (register.go), sends the person to the browser,
// waits for the answer on loopback.go or for the pasted address (login.go), and
// saves the result (saved_signin.go). A holder is the state of one server's sign-in
// in this process (holder.go).
//
// Invariants:
//
//   - One refresh runs for each server, however many calls wait. It does not end
//     with the call that started it, because a refresh token may be used only once.
//   - Processes refresh under the vault's lock, from Load to Save (Locker).
//   - A token is valid for one address and one sign-in. A reload or a login under
//     the same name does not inherit it (kept.isFor, flight.answers).
//   - A server chooses where genkan goes to sign in, so every address is checked
//     when it is dialed, and secrets follow no redirect (reach.go, address.go).
//   - No error quotes a token, a code or the words of an endpoint that may contain
//     one (token.go).
//   - The edges report a missing sign-in as an error of the call and never as a
//     401, which would make clients sign in to genkan.
package signin
