package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/bridge"
	"genkan/internal/gateway"
)

const (
	// backgroundCommand is the hidden command of the process that `genkan stdio`
	// starts.
	backgroundCommand = "background"
	// idleVariable sets how long a background process runs without connections;
	// backgroundIdle is the default.
	idleVariable   = "GENKAN_BACKGROUND_IDLE"
	backgroundIdle = 10 * time.Minute
)

// background serves joining processes over the socket only. A port could be in use,
// and would be open to other users' processes.
func (c *command) background() *cobra.Command {
	return &cobra.Command{
		Use: backgroundCommand, Short: c.say("Serve `genkan stdio` processes"), Args: arguments(0, 0), Hidden: true,
		RunE: c.runBackground,
	}
}

func (c *command) runBackground(cmd *cobra.Command, _ []string) error {
	ctx := cmd.Context()
	idle, err := idleTime()
	if err != nil {
		return err
	}
	// The parent process may have ended before this process writes to it. Others may
	// have joined by then, so the write must not end this process.
	signal.Ignore(syscall.SIGPIPE)
	opt, sink := c.options()
	defer sink.Close()
	owner, err := bridge.Claim(c.dataDir)
	if errors.Is(err, bridge.ErrTaken) {
		c.signal(bridge.Taken)
		return nil
	}
	if err != nil {
		return &gateway.Error{Code: gateway.CodeUnavailable, Err: err, Message: "no place for a socket could be had in the data directory"}
	}
	defer owner.Release()
	trimming, stopTrimming := context.WithCancel(ctx)
	var trim sync.WaitGroup
	defer trim.Wait()
	defer stopTrimming()
	trim.Go(func() {
		owner.KeepLogShort(trimming, func(err error) { opt.Log.Warn("the log is long and could not be shortened", "error", err) })
	})
	p, closeProcess, err := open(ctx, opt)
	if err != nil {
		return err
	}
	defer closeProcess()
	opt.Log.Info("genkan serves in the background", "data", c.dataDir, "version", c.version, "process_id", os.Getpid())
	return p.ServeBackground(ctx, owner, idle, func() { c.signal(bridge.Ready) })
}

// signal writes a word to the process that started this one, once.
func (c *command) signal(word string) {
	fmt.Fprintln(c.std.Out, word)
	if out, ok := behind(c.std.Out).(*os.File); ok {
		_ = out.Close()
	}
}

func idleTime() (time.Duration, error) {
	text := os.Getenv(idleVariable)
	if text == "" {
		return backgroundIdle, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, gateway.Errorf(gateway.CodeInvalid, "%s must be a time such as 10m", idleVariable)
	}
	return d, nil
}
