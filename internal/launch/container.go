package launch

import (
	"slices"
	"strings"
)

// containerRun is a parsed `docker run` or `podman run`. The container outlives
// the process of such a command.
type containerRun struct {
	// before are the arguments up to the subcommand, such as those that choose a
	// daemon.
	before []string
	// options is the index of the first option of run.
	options int
	// name is the name that the user gives the container, or empty.
	name string
	// remove is set for --rm.
	remove bool
}

// Most global options have no value and most options of run have one; these are
// the exceptions. They decide which argument is the image: the arguments after it
// are not options of run.
const (
	globalsWithValue = "--config -c --context -H --host -l --log-level --tlscacert --tlscert --tlskey " +
		"--cgroup-manager --conmon --connection --events-backend --hooks-dir --identity --imagestore --module " +
		"--network-cmd-path --network-config-dir --out --root --runroot --runtime --runtime-flag --ssh " +
		"--storage-driver --storage-opt --tmpdir --url --volumepath"
	runWithoutValue = "--detach --disable-content-trust --help --init --interactive --no-healthcheck --oom-kill-disable " +
		"--privileged --publish-all --quiet --read-only --rm --sig-proxy --tty --use-api-socket " +
		"--env-host --http-proxy --no-hostname --no-hosts --passwd --read-only-tmpfs --replace --rmi --rootfs " +
		"--tls-verify --unsetenv-all"
	runLettersWithoutValue = "ditPq"
)

// isContainerTool reports whether a program runs containers that outlive it.
func isContainerTool(goos, command string) bool {
	name := baseName(goos, command)
	return name == "docker" || name == "podman"
}

// baseName returns a command without its folder and, on Windows, its extension.
func baseName(goos, command string) string {
	separators := "/"
	if goos == "windows" {
		separators = `/\:`
	}
	name := command[strings.LastIndexAny(command, separators)+1:]
	if goos != "windows" {
		return name
	}
	name = strings.ToLower(name)
	for _, ext := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// parseContainerRun parses a command line as docker and podman do.
func parseContainerRun(goos, command string, args []string) (containerRun, bool) {
	if !isContainerTool(goos, command) {
		return containerRun{}, false
	}
	at := 0
	for at < len(args) && strings.HasPrefix(args[at], "-") {
		if slices.Contains(strings.Fields(globalsWithValue), args[at]) {
			at++
		}
		at++
	}
	before := min(at, len(args))
	if at+1 < len(args) && args[at] == "container" {
		at++
	}
	if at >= len(args) || args[at] != "run" {
		return containerRun{}, false
	}
	run := containerRun{before: args[:before:before], options: at + 1}
	run.readOptions(args[run.options:])
	return run, true
}

// readOptions parses the options of run, up to the image.
func (r *containerRun) readOptions(args []string) {
	next := func() (arg string) {
		if len(args) > 0 {
			arg, args = args[0], args[1:]
		}
		return arg
	}
	for arg := next(); strings.HasPrefix(arg, "-") && arg != "--" && arg != "-"; arg = next() {
		option, value, hasValue := strings.Cut(arg, "=")
		if !strings.HasPrefix(option, "--") {
			// Letters; the first with a value takes the rest, or what follows.
			if letters := strings.TrimLeft(arg[1:], runLettersWithoutValue); len(letters) == 1 {
				next()
			}
			continue
		}
		if slices.Contains(strings.Fields(runWithoutValue), option) {
			if option == "--rm" {
				r.remove = !hasValue || value == "true" || value == "1"
			}
			continue
		}
		if !hasValue {
			value = next()
		}
		if option == "--name" {
			r.name = value
		}
	}
}

// with inserts options before the user's.
func (r *containerRun) with(args []string, options ...string) []string {
	return slices.Concat(args[:r.options], options, args[r.options:])
}

// tool returns the arguments of another command of the same program for the same
// daemon.
func (r *containerRun) tool(args ...string) []string {
	return slices.Concat(r.before, args)
}
