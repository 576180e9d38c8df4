package app

import (
	"context"
	"slices"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/lang"
	"genkan/internal/signin"
)

// SignInServer returns what signing in to a configured server needs.
func SignInServer(s config.Server) signin.Server {
	return signin.Server{
		Name: s.Name, URL: s.URL, Scopes: s.OAuth.Scopes, RedirectPort: s.OAuth.RedirectPort, PrivateHosts: s.OAuth.PrivateHosts,
		Client: signin.Client{ID: s.OAuth.ClientID, Secret: s.OAuth.ClientSecret, Issuer: s.OAuth.Issuer},
	}
}

// RemoteServer returns a server that supports signing in.
func RemoteServer(cfg *config.Config, name string) (signin.Server, error) {
	i := slices.IndexFunc(cfg.Servers, func(s config.Server) bool { return s.Name == name })
	if i < 0 {
		return signin.Server{}, gateway.Errorf(gateway.CodeNotFound, "there is no server %q in the configuration; %s", name, cfg.Nearest(name))
	}
	switch s := cfg.Servers[i]; {
	case s.Command != "":
		return signin.Server{}, gateway.Errorf(gateway.CodeInvalid,
			"server %s is a process on this machine, which nobody signs in to; a key that it needs goes into its env, best as ${secret:NAME}", name)
	case s.OAuth.Off:
		return signin.Server{}, gateway.Errorf(gateway.CodeInvalid, "server %s has oauth: false in the configuration; remove that to sign in to it", name)
	case len(s.Unresolved.Each) > 0:
		return signin.Server{}, gateway.Errorf(gateway.CodeInvalid, "server %s cannot be signed in to: %s", name, s.Unresolved)
	default:
		return SignInServer(s), nil
	}
}

// signIn begins to sign in to a server and returns the address to open in a browser. The
// server connects when the person has signed in.
func (p *Process) signIn(ctx context.Context, name string, language lang.Language) (string, error) {
	server, err := RemoteServer(p.Config(), name)
	if err != nil {
		return "", err
	}
	return p.signIns.Begin(ctx, server, language.Translator(), func() {
		for _, s := range p.house.Load().Servers() {
			if s.Name() == name {
				s.Try()
			}
		}
	})
}
