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
	src, missing, err := clients.Contents(path)
	if err != nil {
		return err
	}
	if missing {
		return gateway.Errorf(gateway.CodeConflict, "the configuration file %s is gone, so nothing was changed", path)
	}
	if why, fixed := r.FixedFile(); fixed {
		return gateway.Errorf(gateway.CodeConflict, "server %s is declared in %s: %s", s.Name, place(path, src, s.Name), why)
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
	if err := r.rewrite(ctx, src, s.Name, was, fresh, stored); err != nil {
		r.deleteSecrets(saved)
		return err
	}
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

// rewrite writes the file with another definition of a server, or without it, and
// puts it into force.
func (r *Registry) rewrite(ctx context.Context, src []byte, name string, was, fresh []byte, stored []config.StoredServer) error {
	path := r.opt.ConfigFile
	out, err := clients.ChangeOwn(path, src, name, was, fresh)
	if err != nil {
		return notInOrder(err)
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
	r.opt.Log.Info("the configuration file was changed", "file", path, "server", name)
	return nil
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

// Place returns the file and the line that declare a server.
func (r *Registry) Place(name string) string {
	src, _, _ := clients.Contents(r.opt.ConfigFile) // without the file there is no line
	return place(r.opt.ConfigFile, src, name)
}

func place(path string, src []byte, name string) string {
	if line := clients.OwnLine(path, src, name); line > 0 {
		return fmt.Sprintf("%s:%d", path, line)
	}
	return path
}
