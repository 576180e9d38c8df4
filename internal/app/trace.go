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
	log, err := bridge.OpenLog(dataDir)
	if err != nil {
		return
	}
	defer func() { _ = log.Close() }()
	slog.New(logs.NewJSONHandler(log, nil)).Info("a change was made at the command line",
		"operation", operation, "name", name, "user_id", os.Getuid(), "process_id", os.Getpid())
}
