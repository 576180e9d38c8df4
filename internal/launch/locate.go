package launch

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// userDatabase is the file that names users' shells.
const userDatabase = "/etc/passwd"

// shellPath is the PATH of the login shell, or the request for it.
type shellPath struct {
	shell string
	// there is closed when path or err is set.
	there chan struct{}
	path  string
	err   error
}

// AskLoginShell sets whether commands that are not in genkan's PATH are looked
// for in that of the user's login shell. The shell is asked once, when that is
// first needed, and again after another AskLoginShell.
func (l *Launcher) AskLoginShell(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mayAskShell, l.shellPath = yes, nil
}

// pathOfShell asks the login shell, or waits for a request in flight. It returns
// nil if there is no shell or asking is not allowed.
func (l *Launcher) pathOfShell(ctx context.Context, ours []string) *shellPath {
	l.mu.Lock()
	asked := l.shellPath
	if asked == nil && l.mayAskShell && l.life.Err() == nil {
		if shell := loginShell(runtime.GOOS, ours, os.Getuid(), userDatabase); shell != "" {
			asked = &shellPath{shell: shell, there: make(chan struct{})}
			l.shellPath = asked
			env := environment(runtime.GOOS, ours, nil, "")
			l.beside.Go(func() {
				defer close(asked.there)
				asked.path, asked.err = l.askShell(l.life, shell, env)
				if asked.err != nil {
					l.opt.Log.Warn("the login shell did not say its PATH; genkan's own is used", "shell", shell, "error", asked.err)
				}
			})
		}
	}
	l.mu.Unlock()
	if asked == nil {
		return nil
	}
	select {
	case <-asked.there:
	case <-ctx.Done():
	}
	return asked
}

// known returns the login shell's PATH if it was asked before.
func (l *Launcher) known() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shellPath == nil {
		return ""
	}
	select {
	case <-l.shellPath.there:
		return l.shellPath.path
	default:
		return ""
	}
}

// locate returns the file of a command and its environment. The login shell is
// asked only for commands that genkan's own PATH does not have, because it can
// take seconds.
func (l *Launcher) locate(ctx context.Context, command Command) (file string, env []string, err error) {
	goos, ours := runtime.GOOS, os.Environ()
	own, pathext := lookup(goos, ours, "PATH"), lookup(goos, ours, "PATHEXT")
	var declared string
	for name, value := range command.Env {
		if variable(goos, name) == "PATH" {
			declared = value.Reveal()
		}
	}
	near := folders(goos, declared, own)
	file, found := command.Name, hasFolder(goos, command.Name)
	if found {
		if full, ok := withExtension(goos, command.Name, pathext, executable); ok {
			file = full
		}
	} else {
		file, found = find(goos, command.Name, pathext, near, executable)
	}
	if goos == "windows" {
		if !found {
			return "", nil, notFound(command.Name, near, nil)
		}
		return file, environment(goos, ours, command.Env, ""), nil
	}
	var asked *shellPath
	shells := l.known()
	if !found {
		if asked = l.pathOfShell(ctx, ours); ctx.Err() != nil {
			return "", nil, context.Cause(ctx)
		}
		if asked != nil {
			shells = asked.path
		}
	}
	far := folders(goos, append([]string{shells}, existing(usualFolders(lookup(goos, ours, "HOME")))...)...)
	far = slices.DeleteFunc(far, func(dir string) bool { return slices.Contains(near, dir) })
	if !found {
		if file, found = find(goos, command.Name, pathext, far, executable); !found {
			return "", nil, notFound(command.Name, append(near, far...), asked)
		}
	}
	var path string
	if more := strings.Join(far, ":"); more != "" {
		path = strings.TrimPrefix(own+":"+more, ":")
	}
	return file, environment(goos, ours, command.Env, path), nil
}

// notFound is the error for a command that was not found.
func notFound(command string, dirs []string, asked *shellPath) error {
	const most = 4
	where := gateway.Textf("%s", gateway.Names(dirs))
	if len(dirs) > most {
		where = gateway.Textf("%s and %d more folders", gateway.Names(dirs[:most]), len(dirs)-most)
	}
	switch {
	case asked == nil:
		return failed(gateway.CodeUnavailable, gateway.Textf(
			"its command %q was not found; install it, or give its full path. Looked in the PATH of genkan and in the usual folders: %s", command, where))
	case asked.err != nil:
		return failed(gateway.CodeUnavailable, gateway.Textf(
			"its command %q was not found; install it, or give its full path. Looked in the PATH of genkan and in the usual folders (%s); the login shell %s did not say its PATH",
			command, where, asked.shell))
	default:
		return failed(gateway.CodeUnavailable, gateway.Textf(
			"its command %q was not found; install it, or give its full path. Looked in the PATH of genkan, in that of the login shell %s, and in the usual folders: %s",
			command, asked.shell, where))
	}
}
