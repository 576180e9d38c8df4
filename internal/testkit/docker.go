package testkit

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Docker is a stand-in for docker, as far as running MCP servers goes: a script
// that notes how it is called. Its "run" makes a container, which is a process
// that outlives the script as real ones outlive their client, and then becomes
// the command that follows the image's name.
type Docker struct {
	tb testing.TB
	// Dir has the executable, whose name is docker.
	Dir string
}

// StandInForDocker makes one. Containers that are left go with the test.
func StandInForDocker(tb testing.TB) *Docker {
	tb.Helper()
	d := &Docker{tb: tb, Dir: tb.TempDir()}
	if err := os.Mkdir(filepath.Join(d.Dir, "containers"), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.Dir, "docker"), []byte(dockerScript), 0o700); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		for _, pid := range d.Containers() {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		}
	})
	return d
}

// Calls are the command lines so far.
func (d *Docker) Calls() []string { return Lines(d.tb, filepath.Join(d.Dir, "calls")) }

// Containers are the process ids of the containers that there are, by name.
func (d *Docker) Containers() map[string]int {
	files, err := filepath.Glob(filepath.Join(d.Dir, "containers", "*"))
	if err != nil {
		d.tb.Fatal(err)
	}
	found := map[string]int{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // it was removed meanwhile
		}
		first, _, _ := strings.Cut(string(content), "\n")
		pid, _ := strconv.Atoi(first)
		found[filepath.Base(file)] = pid
	}
	return found
}

// A container is a file with its process and, a line each, its labels.
const dockerScript = `#!/bin/sh
dir=$(dirname "$0")/containers
echo "$*" >> "$dir/../calls"
while [ "${1#-}" != "$1" ]; do shift 2; done # --context x
case "$1" in
run)
	shift
	name= labels=
	while [ "${1#-}" != "$1" ]; do
		case "$1" in
		--name) name=$2; shift ;;
		--label) labels="$labels$2
"; shift ;;
		esac
		shift
	done
	shift # the image
	if [ -e "$dir/$name" ]; then echo "the name $name is in use" >&2; exit 125; fi
	setsid sleep 600 > /dev/null 2>&1 < /dev/null &
	printf '%s\n%s' $! "$labels" > "$dir/../new-$name" && mv "$dir/../new-$name" "$dir/$name"
	exec "$@"
	;;
rm | stop)
	status=0
	for name; do
		case "$name" in rm | stop | -* | 2) continue ;; esac
		if [ -e "$dir/$name" ]; then
			kill -9 "$(head -n 1 "$dir/$name")"
			rm "$dir/$name"
		else
			echo "no such container: $name" >&2
			status=1
		fi
	done
	exit $status
	;;
ps)
	for filter; do :; done
	cd "$dir" && grep -lxF "${filter#label=}" -- * 2> /dev/null
	exit 0
	;;
inspect)
	shift 3
	for name; do
		echo "$name $(sed -n 's/^genkan.process=//p' "$dir/$name")"
	done
	;;
esac
`
