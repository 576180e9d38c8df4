package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// job is what the load generator is told to do: so many calls by so many
// callers.
type job struct {
	Target  target `json:"target"`
	Callers int    `json:"callers"`
	Calls   int    `json:"calls"`
	// Times asks for the time of each call.
	Times bool `json:"times,omitempty"`
}

// outcome is what came of a job.
type outcome struct {
	Elapsed time.Duration `json:"elapsed"`
	P50     time.Duration `json:"p50"`
	P99     time.Duration `json:"p99"`
	// Bytes is the size of an answer's body.
	Bytes int    `json:"bytes"`
	Error string `json:"error,omitempty"`
	// Took are the times of all calls, if they were asked for.
	Took []time.Duration `json:"took,omitempty"`
}

// loadRole takes jobs on its input, a line each, and answers them on its
// output. Its connections stay open between jobs.
func loadRole(in io.Reader, out io.Writer) error {
	fleets := map[string][]*client{}
	defer func() {
		for _, fleet := range fleets {
			for _, c := range fleet {
				c.close()
			}
		}
	}()
	jobs, outcomes := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var j job
		if err := jobs.Decode(&j); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		o, err := j.run(fleets)
		if err != nil {
			o.Error = err.Error()
		}
		if err := outcomes.Encode(o); err != nil {
			return err
		}
	}
}

func (j job) run(fleets map[string][]*client) (outcome, error) {
	name := fmt.Sprint(j.Target)
	fleet := fleets[name]
	for len(fleet) < j.Callers {
		c, err := dial(j.Target)
		if err != nil {
			return outcome{}, err
		}
		fleet = append(fleet, c)
		fleets[name] = fleet
	}
	fleet = fleet[:j.Callers]
	took := make([]time.Duration, j.Calls)
	errs := make([]error, j.Callers)
	var next atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for i, c := range fleet {
		all.Go(func() {
			for {
				n := next.Add(1) - 1
				if n >= int64(j.Calls) {
					return
				}
				sent := time.Now()
				if errs[i] = c.ask(); errs[i] != nil {
					return
				}
				took[n] = time.Since(sent)
			}
		})
	}
	all.Wait()
	o := outcome{Elapsed: time.Since(began), Bytes: fleet[0].want}
	if err := errors.Join(errs...); err != nil {
		delete(fleets, name) // their state is not known
		return o, err
	}
	slices.Sort(took)
	o.P50, o.P99 = took[len(took)/2], took[len(took)*99/100]
	if j.Times {
		o.Took = took
	}
	return o, nil
}
