package registry

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

// changeInFile changes or removes a server that the configuration file declares. It
// writes only the keys that differ, and nothing unless the result is a valid
// configuration. Secrets that were in the vault stay there, because a person may
// have kept them.
func (r *Registry) changeInFile(ctx context.Context, s config.Server, stored []config.StoredServer, decide decision) error {
	was := []byte(s.Definition.Reveal())
	want, err := decide(&config.StoredServer{Name: s.Name, Definition: was}, false)
	if err != nil {
		return err
	}
	path := r.opt.ConfigFile
	src, err := r.contents(func(src []byte, why gateway.Text) error {
		return gateway.Errorf(gateway.CodeConflict, "server %s is declared in %s: %s", s.Name, places(path, src)(s.Name), why)
	})
	if err != nil {
		return err
	}
	if err := r.checkUnchanged(ctx, src, s, stored); err != nil {
		return err
	}
	var fresh []byte
	saved := []string{}
	if want != nil {
		current, err := parseDefinition(was)
		if err != nil {
			return err
		}
		if want.text("url") != current.text("url") {
			want.moveUserToHeader()
		}
		if _, err := config.CheckServer(s.Name, want.json(), r.sources(ctx)); err != nil {
			return err
		}
		if saved, err = r.saveSecrets(ctx, s.Name, want, current); err != nil {
			r.deleteSecrets(saved)
			return err
		}
		fresh = want.json()
	}
	out, err := clients.ChangeOwn(path, src, s.Name, was, fresh)
	if err := r.replaceFile(ctx, src, out, err, stored); err != nil {
		r.deleteSecrets(saved)
		return err
	}
	r.opt.Log.Info("the configuration file was changed", "file", path, "server", s.Name)
	if len(saved) > 0 {
		r.opt.Log.Info("secrets of a server are kept", "server", s.Name, "secrets", saved)
	}
	return nil
}

// checkUnchanged returns an error unless the file declares a server as the
// configuration in force does.
func (r *Registry) checkUnchanged(ctx context.Context, src []byte, s config.Server, stored []config.StoredServer) error {
	cfg, err := r.opt.ParseFile(ctx, src, stored)
	if err != nil {
		return notInOrder(err)
	}
	for _, other := range cfg.Servers {
		if other.Name == s.Name && !other.Stored && other.Definition == s.Definition {
			return nil
		}
	}
	return gateway.Errorf(gateway.CodeConflict, "%s was changed meanwhile, and declares server %s otherwise than it was shown, so nothing was changed; look at it, and try again", r.opt.ConfigFile, s.Name)
}

// replaceFile writes the edited contents of the configuration file and puts them into
// force, unless editing failed.
func (r *Registry) replaceFile(ctx context.Context, src, out []byte, failed error, stored []config.StoredServer) error {
	path := r.opt.ConfigFile
	if failed != nil {
		return notInOrder(failed)
	}
	if bytes.Equal(src, out) {
		return nil
	}
	if _, err := r.opt.ParseFile(ctx, out, stored); err != nil {
		e := gateway.AsError(err)
		return &gateway.Error{
			Code: gateway.CodeConflict, Err: e.Err,
			Message: "nothing was changed, because the configuration file would not be in order: %s", Values: []any{e},
		}
	}
	if err := clients.WriteOwn(path, src, out); err != nil {
		return err
	}
	if err := r.opt.Apply(stored, func(*config.Config) error { return nil }); err != nil {
		if back := clients.WriteOwn(path, out, src); back != nil {
			r.opt.Log.Error("the configuration file could not be put back", "file", path, "error", back)
		}
		return notInOrder(err)
	}
	return nil
}

// contents returns what the configuration file has, if it can be changed here.
func (r *Registry) contents(refused func(src []byte, why gateway.Text) error) ([]byte, error) {
	path := r.opt.ConfigFile
	src, missing, err := clients.Contents(path)
	if err != nil {
		return nil, err
	}
	if missing {
		return nil, gateway.Errorf(gateway.CodeConflict, "the configuration file %s is gone, so nothing was changed", path)
	}
	if why, fixed := r.FixedFile(); fixed {
		return nil, refused(src, why)
	}
	return src, nil
}

// FixedFile returns why servers of the configuration file can only be changed there;
// fixed is false if they can be changed here too.
func (r *Registry) FixedFile() (why gateway.Text, fixed bool) {
	const ownerWrites = 0o200
	if r.opt.ForeignFile {
		return gateway.Textf("that file was given with --config and is not in the data directory, so change it there"), true
	}
	if info, err := os.Stat(r.opt.ConfigFile); err == nil && info.Mode().Perm()&ownerWrites == 0 {
		return gateway.Textf("that file is read-only; allow writing to it, or change it there"), true
	}
	return gateway.Text{}, false
}

// Places reads the configuration file, and returns what finds the file and the line that
// declare a server.
func (r *Registry) Places() func(name string) string {
	src, _, _ := clients.Contents(r.opt.ConfigFile) // without the file there is no line
	return places(r.opt.ConfigFile, src)
}

func places(path string, src []byte) func(name string) string {
	lines := clients.OwnLines(path, src)
	return func(name string) string {
		if line := lines[name]; line > 0 {
			return fmt.Sprintf("%s:%d", path, line)
		}
		return path
	}
}
