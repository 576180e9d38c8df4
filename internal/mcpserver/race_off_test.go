//go:build !race

package mcpserver_test

// raceEnabled says that everything takes about ten times as long.
const raceEnabled = false
