package app

import (
	"log/slog"
	"os"

	"genkan/internal/bridge"
	"genkan/internal/logs"
)

// NoteChange logs that a command changed something in a data directory without the
// running genkan. The log names what changed and by whom, never values. A command
// does not fail because the entry cannot be written.
func NoteChange(dataDir, operation, name string) {
	traceLog(dataDir).Info("a change was made at the command line",
		"operation", operation, "name", name, "user_id", os.Getuid(), "process_id", os.Getpid())
}

// traceLog returns a log that appends to the log of a data directory, for commands
// that work without the running genkan.
func traceLog(dataDir string) *slog.Logger { return slog.New(logs.NewJSONHandler(trace(dataDir), nil)) }

// trace opens the log of a data directory for each line.
type trace string

func (t trace) Write(line []byte) (int, error) {
	log, err := bridge.OpenLog(string(t))
	if err != nil {
		return 0, err
	}
	defer func() { _ = log.Close() }()
	return log.Write(line)
}
