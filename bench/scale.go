package main

import "time"

// scale is how much is done. Goals are judged in a full run; a quick one shows
// that everything works.
type scale struct {
	name   string
	rounds int
	// calls of a slice, by the size of the call.
	small, large int
	// attacks in a round.
	attacks int
	// lists of a slice.
	lists int
	// starts of genkan.
	starts int
	// calls and sessions before memory is looked at, and how long genkan is
	// left alone before each look.
	memoryCalls, sessions int
	idle                  time.Duration
	// kbItems are the sizes of knowledge bases, kbReads how many reads are measured
	// of each, kbSearches how many searches of all classes and kbClass of each, and
	// kbCreates how many creates in each round. Each of these takes no more than
	// kbSeconds.
	kbItems                                 []int
	kbReads, kbSearches, kbClass, kbCreates int
	kbSeconds                               float64
	// entities are given to server-memory and to genkan, which then are asked so
	// many questions of each kind.
	entities, questions int
	// benchTime is go test's.
	benchTime string
}

var fullScale = scale{
	name:   "full",
	rounds: 15, small: 2500, large: 1500, attacks: 12, lists: 2000, starts: 15,
	memoryCalls: 10_000, sessions: 10_000, idle: 25 * time.Second, benchTime: "0.5s",
	kbItems: []int{10_000, 100_000, 1_000_000}, kbReads: 2000, kbSearches: 1000, kbClass: 200, kbCreates: 120, kbSeconds: 6,
	entities: 10_000, questions: 40,
}

var quickScale = scale{
	name:   "quick (rough figures)",
	rounds: 5, small: 600, large: 400, attacks: 12, lists: 400, starts: 5,
	memoryCalls: 10_000, sessions: 10_000, idle: 25 * time.Second, benchTime: "100ms",
	kbItems: []int{10_000}, kbReads: 400, kbSearches: 200, kbClass: 50, kbCreates: 20, kbSeconds: 2,
	entities: 2_000, questions: 12,
}
