package bridge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"genkan/internal/privatedir"
)

// What a background process says on its standard output, once, to whoever has
// started it.
const (
	// Ready: it serves the socket.
	Ready = "ready"
	// Taken: another process has the socket, or is about to.
	Taken = "taken"
)

// launchPatience is how long a background process may take until it serves.
// It does not wait for its servers.
const launchPatience = 20 * time.Second

// maxLog is how long the log of background processes may get, in bytes, before
// the next one begins it anew.
const maxLog = 5 << 20

// LogFile is where the background process of a data directory writes its log.
func LogFile(dataDir string) string { return filepath.Join(dataDir, "genkan.log") }

// OpenLog opens the log to append to it. It follows no link: a link could lead to
// a file that is not ours to write to.
func OpenLog(dataDir string) (*os.File, error) {
	return os.OpenFile(LogFile(dataDir), os.O_WRONLY|os.O_CREATE|os.O_APPEND|privatedir.NoFollow, 0o600)
}

// TrimLog empties the log when it has become too long. Only the owner may do
// that: another one may be writing.
func (o *Owner) TrimLog() error {
	path := LogFile(o.place.dataDir)
	info, err := os.Lstat(path)
	if err != nil || info.Size() <= maxLog {
		return nil // there is none, or it is short
	}
	log, err := OpenLog(o.place.dataDir)
	if err != nil {
		return err
	}
	return errors.Join(log.Truncate(0), log.Close())
}

// Launch describes the background process.
type Launch struct {
	// Command ends up in a process that says Ready or Taken.
	Command []string
	DataDir string
	// Dir is its working directory.
	Dir string
}

// Start starts the process and returns what it says. It is not bound to the
// life of this one.
func (l Launch) Start(ctx context.Context) (string, error) {
	if err := os.MkdirAll(l.DataDir, 0o700); err != nil {
		return "", err
	}
	log, err := OpenLog(l.DataDir)
	if err != nil {
		return "", err
	}
	defer func() { _ = log.Close() }() // the process has its own
	says, mouth, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer func() { _ = says.Close() }()
	cmd := exec.Command(l.Command[0], l.Command[1:]...) //nolint:gosec,noctx // our own executable, which outlives us on purpose
	cmd.Dir = l.Dir
	cmd.Stdout, cmd.Stderr = mouth, log
	detach(cmd)
	err = cmd.Start()
	_ = mouth.Close()
	if err != nil {
		return "", err
	}
	go func() { _ = cmd.Wait() }() // how it ended is in its log
	_ = says.SetReadDeadline(time.Now().Add(launchPatience))
	defer context.AfterFunc(ctx, func() { _ = says.SetReadDeadline(time.Now()) })()
	word, err := bufio.NewReader(says).ReadString('\n')
	word = strings.TrimSpace(word)
	switch {
	case word == Ready || word == Taken:
		return word, nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, io.EOF):
		return "", fmt.Errorf("the background process ended at once; %s says why", LogFile(l.DataDir))
	case err != nil:
		return "", fmt.Errorf("the background process does not get ready: %w", err)
	default:
		return "", fmt.Errorf("the background process said %q", word)
	}
}
