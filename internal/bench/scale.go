package main

import "time"

// scale is how much is done. Goals are judged in a full run; a quick one shows
// that everything works.
type scale struct {
	name   string
	rounds int
	// calls of a slice, by the size of the call.
	small, large int
	// lists of a slice.
	lists int
	// starts of genkan.
	starts int
	// calls and sessions before memory is looked at, and how long genkan is
	// left alone before each look.
	memoryCalls, sessions int
	idle                  time.Duration
	// benchTime is go test's.
	benchTime string
}

var fullScale = scale{
	name:   "full",
	rounds: 15, small: 2500, large: 1500, lists: 2000, starts: 15,
	memoryCalls: 10_000, sessions: 10_000, idle: 3 * time.Second, benchTime: "0.5s",
}

var quickScale = scale{
	name:   "quick (rough figures)",
	rounds: 5, small: 600, large: 400, lists: 400, starts: 5,
	memoryCalls: 10_000, sessions: 10_000, idle: time.Second, benchTime: "100ms",
}
