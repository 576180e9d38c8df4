package gateway

import "strings"

// LocalClient is who calls over stdio or the local socket and does not say who
// it is.
const LocalClient = "local"

// AdminClient is who calls with the admin token of the data directory. No other token
// may have that name.
const AdminClient = "admin"

// localMark begins the ClientID of a local client that says who it is. No token
// may have such a name, so a process that takes the name of a token's client
// comes to nothing of that one: tasks, sessions and limits go by the ClientID.
const localMark = LocalClient + ":"

// LocalIdentity is who calls over stdio or the local socket under a name, which
// may be empty. Whoever can is the person who owns the data directory; a program
// that they gave a name to needs no more than any client.
func LocalIdentity(name string) Identity {
	if name == "" {
		return Identity{ClientID: LocalClient, Admin: true}
	}
	return Identity{ClientID: localMark + name}
}

// LocalName is the name that a local client came under. It reports false for
// everybody else.
func LocalName(clientID string) (string, bool) { return strings.CutPrefix(clientID, localMark) }

// IsLocalClient reports whether a ClientID is that of a client over stdio or the local
// socket.
func IsLocalClient(clientID string) bool {
	_, named := LocalName(clientID)
	return named || clientID == LocalClient
}

// IsLocal reports whether the caller is the user whom genkan runs as: a client
// over stdio or the local socket, or somebody with the admin token, who may add
// commands anyway.
func (i Identity) IsLocal() bool {
	return i.Admin || IsLocalClient(i.ClientID)
}
