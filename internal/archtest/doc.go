// Package archtest holds the house to its plan. It has no code of its own, only
// tests: which room may import which, which room alone may know a library, and
// a few habits that a linter sees too late or not at all.
//
// The plan is the table in house_test.go. A package that is not in the table
// fails the test, so that nobody adds a room without deciding where it stands.
// The tests need nothing but Go, and cover every build tag, every operating system
// and test files.
package archtest
