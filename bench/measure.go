package main

import (
	"fmt"
	"slices"
	"time"
)

// subject is somebody who is measured in turns with others.
type subject struct {
	name string
	// process is whose processor time counts; nil for the direct way.
	process *process
	target  target
}

// sample is one subject in one round.
type sample struct {
	cpu     float64 // µs per call
	outcome outcome
}

// series is one subject over all rounds.
type series []sample

// interleave measures subjects in turns: everybody once per round, each round
// beginning with another one, so that what disturbs the machine disturbs all.
func (l *lab) interleave(what string, callers, calls int, subjects ...subject) ([]series, error) {
	fmt.Fprintf(l.progress, "%s: %d subjects, %d rounds of %d requests\n", what, len(subjects), l.scale.rounds, calls)
	for _, s := range subjects { // connections, sessions, caches
		if _, err := l.load.run(job{Target: s.target, Callers: callers, Calls: max(calls/10, callers)}); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	all := make([]series, len(subjects))
	for round := range l.scale.rounds {
		for i := range subjects {
			n := (i + round) % len(subjects)
			one, err := l.slice(subjects[n], callers, calls)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", subjects[n].name, err)
			}
			all[n] = append(all[n], one)
		}
	}
	return all, nil
}

// slice measures one subject once.
func (l *lab) slice(s subject, callers, calls int) (sample, error) {
	var before, after time.Duration
	var err error
	if s.process != nil {
		if before, err = s.process.cpu(); err != nil {
			return sample{}, err
		}
	}
	o, err := l.load.run(job{Target: s.target, Callers: callers, Calls: calls})
	if err != nil {
		return sample{}, err
	}
	if s.process != nil {
		// What a call leaves to do, such as its line in the log, is its own.
		time.Sleep(5 * time.Millisecond)
		if after, err = s.process.cpu(); err != nil {
			return sample{}, err
		}
	}
	return sample{cpu: float64((after - before).Nanoseconds()) / 1e3 / float64(calls), outcome: o}, nil
}

// cpu is the median of the processor time per call, in µs.
func (s series) cpu() float64 { return s.median(func(x sample) float64 { return x.cpu }) }

// perSecond is the median of the throughput.
func (s series) perSecond(calls int) float64 {
	return s.median(func(x sample) float64 { return float64(calls) / x.outcome.Elapsed.Seconds() })
}

func (s series) p50() float64 {
	return s.median(func(x sample) float64 { return float64(x.outcome.P50.Microseconds()) })
}

func (s series) p99() float64 {
	return s.median(func(x sample) float64 { return float64(x.outcome.P99.Microseconds()) })
}

func (s series) median(of func(sample) float64) float64 {
	values := make([]float64, len(s))
	for i, x := range s {
		values[i] = of(x)
	}
	return quantile(values, 0.5)
}

// against compares the processor time round by round.
func (s series) against(floor series) *ratio {
	return s.compare(floor, func(x sample) float64 { return x.cpu })
}

// compare compares round by round, and tells the median and the quartiles.
func (s series) compare(floor series, by func(sample) float64) *ratio {
	values := make([]float64, len(s))
	for i := range s {
		values[i] = by(s[i]) / by(floor[i])
	}
	return &ratio{Median: quantile(values, 0.5), Low: quantile(values, 0.25), High: quantile(values, 0.75)}
}

// ratio is the median of the rounds' ratios and their quartiles.
type ratio struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// quantile sorts values and interpolates.
func quantile(values []float64, q float64) float64 {
	values = slices.Clone(values)
	slices.Sort(values)
	if len(values) == 0 {
		return 0
	}
	at := q * float64(len(values)-1)
	i := int(at)
	if i+1 >= len(values) {
		return values[len(values)-1]
	}
	return values[i] + (at-float64(i))*(values[i+1]-values[i])
}
