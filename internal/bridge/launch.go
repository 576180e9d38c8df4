package bridge

import (
	"bufio"
	"bytes"
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

// These are the words that a background process prints on its standard output,
// once, for the process that started it.
const (
	// Ready means that it serves the socket.
	Ready = "ready"
	// Taken means that another process has the socket, or is about to.
	Taken = "taken"
)

// launchPatience is how long a background process may take until it serves.
// It does not wait for its servers.
const launchPatience = 20 * time.Second

const (
	// maxLog is the largest size of the log of background processes, in bytes.
	// keptLog is how much of its end a trim keeps.
	maxLog  = 5 << 20
	keptLog = 1 << 20
	// trimEvery is how often a running process checks the size.
	trimEvery = time.Minute
)

// LogFile returns the path of the log of a data directory's background process.
func LogFile(dataDir string) string { return filepath.Join(dataDir, "genkan.log") }

// OpenLog opens the log for appending. It follows no link, because a link could
// lead to a file that genkan must not write to. A process that was killed may have
// left a part of a line behind; OpenLog ends that line.
func OpenLog(dataDir string) (*os.File, error) {
	log, err := os.OpenFile(LogFile(dataDir), os.O_RDWR|os.O_CREATE|os.O_APPEND|privatedir.NoFollow, 0o600)
	if err != nil {
		return nil, err
	}
	var last [1]byte
	if info, err := log.Stat(); err == nil && info.Size() > 0 {
		if _, err := log.ReadAt(last[:], info.Size()-1); err == nil && last[0] != '\n' {
			_, _ = log.WriteString("\n") // if that fails, so does what follows
		}
	}
	return log, nil
}

// TrimLog shortens the log to its end if it is too long. Only the owner may do
// that, because other processes may be writing.
func (o *Owner) TrimLog() error {
	path := LogFile(o.runDir.dataDir)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() <= maxLog {
		return nil // the log does not exist, or is short
	}
	log, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|privatedir.NoFollow, 0)
	if err != nil {
		return err
	}
	end := make([]byte, keptLog)
	n, err := log.ReadAt(end, info.Size()-keptLog)
	if err != nil && !errors.Is(err, io.EOF) {
		return errors.Join(err, log.Close())
	}
	if _, whole, found := bytes.Cut(end[:n], []byte{'\n'}); found {
		end = whole
	} else {
		end = nil // no line is that long
	}
	if err = log.Truncate(0); err == nil {
		_, err = log.Write(end)
	}
	return errors.Join(err, log.Close())
}

// KeepLogShort trims the log now and whenever it has become too long, until ctx
// ends. failed is called with errors.
func (o *Owner) KeepLogShort(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for {
		if err := o.TrimLog(); err != nil {
			failed(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Launch describes the background process.
type Launch struct {
	// Command starts a process that prints Ready or Taken.
	Command []string
	DataDir string
	// Dir is its working directory.
	Dir string
}

// Start starts the process and returns the word that it prints. The process may
// outlive this one.
func (l Launch) Start(ctx context.Context) (string, error) {
	if err := os.MkdirAll(l.DataDir, 0o700); err != nil {
		return "", err
	}
	log, err := OpenLog(l.DataDir)
	if err != nil {
		return "", err
	}
	defer func() { _ = log.Close() }() // the process has its own
	says, stdout, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer func() { _ = says.Close() }()
	cmd := exec.Command(l.Command[0], l.Command[1:]...) //nolint:gosec,noctx // our own executable, which outlives us on purpose
	cmd.Dir = l.Dir
	cmd.Stdout, cmd.Stderr = stdout, log
	detach(cmd)
	err = cmd.Start()
	_ = stdout.Close()
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
