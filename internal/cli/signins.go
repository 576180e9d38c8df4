package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"genkan/internal/app"
	"genkan/internal/config"
	"genkan/internal/signin"
	"genkan/internal/upstream"
)

// signInRow is a server that supports signing in.
type signInRow struct {
	Name string `json:"name"`
	// SignIn has the values of the REST API.
	SignIn  string     `json:"signIn,omitempty"`
	Expires *time.Time `json:"expires,omitempty"`
	// Renews reports whether the sign-in is renewed automatically.
	Renews bool   `json:"renews,omitempty"`
	Issuer string `json:"issuer,omitempty"`
	// Wanted are the permissions that calls lacked.
	Wanted []string `json:"wanted,omitempty"`
}

// listSignIns shows the servers with a URL and their sign-ins: those that are
// stored, and those that a running genkan knows to be needed.
func (c *command) listSignIns(ctx context.Context, cfg *config.Config) error {
	wanting := map[string]bool{}
	if remote, err := c.remote(ctx); err == nil {
		if list, err := remote.Servers(ctx); err == nil {
			for _, s := range list {
				wanting[s.Name] = s.SignIn == upstream.SignInNeeded
			}
		}
	}
	list := []signInRow{}
	err := c.signIns(cfg, func(k *signin.SignIns) error {
		for _, s := range cfg.Servers {
			if s.URL == "" || s.OAuth.Off {
				continue
			}
			status, err := k.Status(ctx, app.SignInServer(s))
			if err != nil {
				return err
			}
			row := signInRow{Name: s.Name, Renews: status.Refreshable, Issuer: status.Issuer, Wanted: status.Wanted}
			switch {
			case wanting[s.Name], status.Issuer != "" && !status.SignedIn:
				row.SignIn = upstream.SignInNeeded
			case status.SignedIn:
				row.SignIn = upstream.SignedIn
			}
			if status.SignedIn && !status.Expires.IsZero() {
				row.Expires = &status.Expires
			}
			list = append(list, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.asJSON {
		return c.json(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(c.std.Out, c.say("No server of the configuration has a url, so there is nothing to sign in to."))
		return nil
	}
	rows := [][]string{{c.say("NAME"), c.say("SIGN-IN"), c.say("WHAT NEXT")}}
	for _, s := range list {
		rows = append(rows, c.signInCells(s))
	}
	c.table(rows)
	return nil
}

func (c *command) signInCells(s signInRow) []string {
	state, next := c.say("none, or not needed"), ""
	command := "genkan login " + s.Name
	switch s.SignIn {
	case upstream.SignInNeeded:
		state, next = c.say("needed"), command
	case upstream.SignedIn:
		state = c.say("signed in")
		switch {
		case len(s.Wanted) > 0:
			next = c.say("%s asks for more permissions: %s", command, strings.Join(s.Wanted, " "))
		case !s.Renews && s.Expires != nil:
			next = c.say("ends %s; then %s", s.Expires.Local().Format(time.DateTime), command)
		}
	}
	return []string{s.Name, state, next}
}
