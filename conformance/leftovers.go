package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// nothingLeft is a step after the visits to an arrangement: what genkan started
// has ended with it.
const nothingLeft = "no process is left"

// backgroundIdle is how long the genkan that a genkan stdio has started in the
// background waits for another client.
const backgroundIdle = 5 * time.Second

// stdioCommand is a genkan stdio whose background process ends soon after the
// client. Many clients hide their own environment from it, so env sets the time.
func (l *lab) stdioCommand(dataDir string, args ...string) []string {
	command := append([]string{l.genkan, "stdio", "--data", dataDir}, args...)
	if runtime.GOOS == "windows" {
		return command
	}
	return append([]string{"env", "GENKAN_BACKGROUND_IDLE=" + backgroundIdle.String()}, command...)
}

// markVariable is in the environment of the servers, and of all that they start.
const markVariable = "GENKAN_PEERS_MARK"

// marked are the same servers; those that are children can be told from others by
// the mark.
func (l *lab) marked(servers map[string]server, mark string) map[string]server {
	out := map[string]server{}
	for name, s := range servers {
		if s.Command != "" {
			env := map[string]string{markVariable: l.fullMark(mark)}
			maps.Copy(env, s.Env)
			s.Env = env
		}
		out[name] = s
	}
	return out
}

// fullMark is a mark that no other run has.
func (l *lab) fullMark(mark string) string { return filepath.Join(l.dir, mark) }

func hasChildren(servers map[string]server) bool {
	for _, s := range servers {
		if s.Command != "" {
			return true
		}
	}
	return false
}

// findsLeftovers says whether this system tells the environment of processes in
// files.
const findsLeftovers = runtime.GOOS == "linux"

// leftovers waits for the end of all processes with a mark.
func (l *lab) leftovers(mark string) error {
	deadline := time.Now().Add(2 * backgroundIdle)
	for {
		left := withMark(l.fullMark(mark))
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.New("left are " + strings.Join(left, "; "))
		}
		select {
		case <-l.ctx.Done():
			return l.ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// withMark are the command lines of the processes with a mark.
func withMark(mark string) []string {
	var out []string
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		raw, err := os.ReadFile(path)
		if err != nil || !strings.Contains("\x00"+string(raw), "\x00"+markVariable+"="+mark+"\x00") {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		out = append(out, strings.TrimSpace(strings.ReplaceAll(string(command), "\x00", " ")))
	}
	return out
}
