// Command csqlite is what the benchmark of the knowledge base is compared with:
// SQLite in C, through the driver that most Go programs use, asked the very
// statements that genkan's store asks, and SQLite's own full-text search. It is a
// module of its own, so that nothing else ever needs a C compiler.
//
// It does jobs, one after the other: lines of JSON in and out, as
// bench/kbjob.go has them.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"
)

type job struct {
	Do      string        `json:"do"`
	Name    string        `json:"name"`
	Count   int           `json:"count"`
	From    int           `json:"from"`
	Seconds float64       `json:"seconds"`
	Ops     [][]statement `json:"ops"`
	Texts   []string      `json:"texts"`
}

type answer struct {
	Error string    `json:"error,omitempty"`
	Cost  cost      `json:"cost"`
	Found [][]int64 `json:"found,omitempty"`
	Bytes float64   `json:"bytes,omitempty"`
}

type cost struct {
	Count  int     `json:"count"`
	P50    float64 `json:"p50"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
	CPU    float64 `json:"cpu"`
	Wall   float64 `json:"wall"`
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"bytes"`
}

// subject has one connection, on which everything is kept prepared.
type subject struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
	sets       map[string][]func() error
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "csqlite:", err)
		os.Exit(1)
	}
}

// run takes the address of a database, with the settings that the store has.
func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: csqlite DSN")
	}
	conn, err := open(args[0])
	if err != nil {
		return err
	}
	s := &subject{conn: conn, statements: map[string]*sql.Stmt{}, sets: map[string][]func() error{}}
	jobs, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var j job
		if err := jobs.Decode(&j); err != nil {
			if errors.Is(err, io.EOF) {
				return conn.Close()
			}
			return err
		}
		a, err := s.do(j)
		if err != nil {
			a = answer{Error: err.Error()}
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

// open opens a connection. Most parameters have the same names in both drivers;
// pragmas are run here.
func open(dsn string) (*sql.Conn, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite3", dsn)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for _, pragma := range u.Query()["_pragma"] {
		if _, err := conn.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return nil, fmt.Errorf("PRAGMA %s: %w", pragma, err)
		}
	}
	return conn, nil
}

func (s *subject) do(j job) (answer, error) {
	switch j.Do {
	case "load":
		return answer{}, s.load(j)
	case "measure":
		c, err := measure(j, s.sets[j.Name])
		return answer{Cost: c}, err
	case "fts-build":
		return s.buildFTS(j.Name, j.Texts[0])
	case "fts-load":
		return answer{}, s.loadFTS(j)
	case "fts-found":
		return s.foundFTS(j)
	}
	return answer{}, fmt.Errorf("there is no job %q", j.Do)
}

// measure does what measureOps of bench does, in the same way.
func measure(j job, ops []func() error) (cost, error) {
	if len(ops) == 0 {
		return cost{}, fmt.Errorf("there are no operations called %q", j.Name)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
	const leastOperations = 30
	limit := time.Duration(j.Seconds * float64(time.Second))
	times := make([]float64, 0, j.Count)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, cpu := time.Now(), clock(unix.CLOCK_PROCESS_CPUTIME_ID)
	for i := range j.Count {
		op := ops[(j.From+i)%len(ops)]
		start := clock(unix.CLOCK_THREAD_CPUTIME_ID)
		err := op()
		took := clock(unix.CLOCK_THREAD_CPUTIME_ID) - start
		if err != nil {
			return cost{}, err
		}
		times = append(times, float64(took.Nanoseconds())/1e3)
		if limit > 0 && i >= leastOperations && clock(unix.CLOCK_PROCESS_CPUTIME_ID)-cpu > limit {
			break
		}
	}
	spent, wall := clock(unix.CLOCK_PROCESS_CPUTIME_ID)-cpu, time.Since(began)
	runtime.ReadMemStats(&after)
	n := float64(len(times))
	slices.Sort(times)
	return cost{
		Count: len(times), P50: quantile(times, .5), P99: quantile(times, .99), Max: times[len(times)-1],
		CPU: float64(spent.Nanoseconds()) / 1e3 / n, Wall: wall.Seconds(),
		Allocs: float64(after.Mallocs-before.Mallocs) / n, Bytes: float64(after.TotalAlloc-before.TotalAlloc) / n,
	}, nil
}

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// quantile interpolates between sorted values.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// prepared keeps statements.
func (s *subject) prepared(text string) (*sql.Stmt, error) {
	if stmt := s.statements[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(context.Background(), text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.Join(strings.Fields(text), " "))
	}
	s.statements[text] = stmt
	return stmt, nil
}
