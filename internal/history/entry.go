package history

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Entry is a call as it is kept.
type Entry struct {
	// ID is "<run>-<number>": the run of the process, and the number of the call in
	// it.
	ID string
	// Parent is the ID of the call that made this one; empty for none.
	Parent string
	// Started is when the call came in, and Took how long it took in all.
	Started time.Time
	Took    time.Duration
	Timing  gateway.Timing
	// Caller is who called: the name of a token, or the local user. Client is the
	// program that they used, as it calls itself, and Edge the way that the call came
	// in.
	Caller, Client, Edge string
	View, Era            string
	// Method is the method of MCP. Server is empty if it is unknown. An unknown Tool is what
	// the caller wrote; see Unlisted.
	Method, Server, Tool string
	// Through is the tool that called this one on the caller's behalf.
	Through string
	// Outcome is "ok", "tool_error", "server_error" or the code of the failure, and
	// Error its text.
	Outcome, Error string
	// Effect is what workflows did to the call, in a word of package workflow; empty for
	// nothing.
	Effect   string
	Attempts int
	// BytesIn and BytesOut are the sizes of what was sent and received, and TokensIn
	// and TokensOut estimates of what a model writes and reads for that. TokensSaved is
	// what it was spared because the answer was stored and its outline returned; it is
	// negative for a call that read a part of a stored answer.
	BytesIn, BytesOut                int
	TokensIn, TokensOut, TokensSaved int
	Flags
}

// Flags are what is true of an entry.
type Flags uint8

// The flags.
const (
	// HasBodies is set if what was sent and received is kept.
	HasBodies Flags = 1 << iota
	// RequestCut and ResponseCut are set if only the beginning of a body is kept.
	RequestCut
	ResponseCut
	// Replayable is set if what the server received and answered is kept whole.
	Replayable
	// BodiesLost is set if bodies should have been kept and could not.
	BodiesLost
	// readBack is set in stored entries whose TokensSaved is negative.
	readBack
	// Unlisted is set if no server lists the tool. Its name is then the caller's text, and
	// no sum has it.
	Unlisted
	// Hidden is set if the tool exists and was hidden from the caller. Only administrators
	// may learn that.
	Hidden
)

// Has reports whether all of the flags are set.
func (f Flags) Has(flags Flags) bool { return f&flags == flags }

// Succeeded reports whether the call did what was asked.
func (e *Entry) Succeeded() bool { return e.Outcome == outcomeOK }

const outcomeOK, outcomeCanceled = "ok", "canceled"

// OutcomeRunning is the outcome of a call that has not ended. No call is kept with it.
const OutcomeRunning = "running"

// splitID returns the run and the number of an ID.
func splitID(id string) (run string, number uint32, ok bool) {
	run, text, found := strings.Cut(id, "-")
	n, err := strconv.ParseUint(text, 10, 32)
	return run, uint32(n), found && err == nil && run != "" && strconv.FormatUint(n, 10) == text
}

// The encoding of an entry is a version, numbers as varints and texts with their
// lengths, in the order of encodeEntry. An entry with an effect has the second version,
// in which the effect follows.
const entryVersion, entryWithEffect = 1, 2

// maxText bounds each text of an entry, in bytes.
const maxText = 4 << 10

func encodeEntry(b []byte, e *Entry) []byte {
	version := byte(entryVersion)
	if e.Effect != "" {
		version = entryWithEffect
	}
	b = append(b, version, byte(e.storedFlags()))
	b = binary.AppendVarint(b, e.Started.UnixMicro())
	for _, d := range [...]time.Duration{e.Took, e.Timing.Queue, e.Timing.Hooks, e.Timing.Server, e.Timing.Asked} {
		b = binary.AppendUvarint(b, uint64(max(d, 0).Microseconds()))
	}
	for _, n := range [...]int{e.Attempts, e.BytesIn, e.BytesOut, e.TokensIn, e.TokensOut, abs(e.TokensSaved)} {
		b = binary.AppendUvarint(b, uint64(max(n, 0)))
	}
	for _, text := range e.texts(version) {
		s := (*text)[:min(len(*text), maxText)]
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

// texts returns the texts of a version, in the order of the encoding.
func (e *Entry) texts(version byte) []*string {
	all := []*string{
		&e.ID, &e.Parent, &e.Caller, &e.Client, &e.Edge, &e.View, &e.Era, &e.Method, &e.Server, &e.Tool, &e.Through, &e.Outcome, &e.Error,
		&e.Effect,
	}
	if version == entryVersion {
		return all[:len(all)-1]
	}
	return all
}

// storedFlags returns the flags as they are stored.
func (e *Entry) storedFlags() Flags {
	if e.TokensSaved < 0 {
		return e.Flags | readBack
	}
	return e.Flags
}

func abs(n int) int { return max(n, -n) }

var errEntry = errors.New("this is no entry of the history")

// decodeEntry decodes an entry and returns what follows it.
func decodeEntry(b []byte, e *Entry) (rest []byte, err error) {
	if len(b) < 2 || b[0] != entryVersion && b[0] != entryWithEffect {
		return nil, errEntry
	}
	*e = Entry{Flags: Flags(b[1])}
	texts := e.texts(b[0])
	started, n := binary.Varint(b[2:])
	if n <= 0 {
		return nil, errEntry
	}
	e.Started = time.UnixMicro(started)
	b = b[2+n:]
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			err = errEntry
			return 0
		}
		b = b[n:]
		return v
	}
	for _, d := range [...]*time.Duration{&e.Took, &e.Timing.Queue, &e.Timing.Hooks, &e.Timing.Server, &e.Timing.Asked} {
		*d = time.Duration(number()) * time.Microsecond
	}
	for _, i := range [...]*int{&e.Attempts, &e.BytesIn, &e.BytesOut, &e.TokensIn, &e.TokensOut, &e.TokensSaved} {
		*i = int(number())
	}
	if e.Flags&readBack != 0 {
		e.Flags, e.TokensSaved = e.Flags&^readBack, -e.TokensSaved
	}
	for _, s := range texts {
		size := number()
		if err != nil || size > uint64(len(b)) {
			return nil, errEntry
		}
		*s, b = string(b[:size]), b[size:]
	}
	return b, err
}
