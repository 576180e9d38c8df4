// Package archtest checks the import rules of this module. It has no code, only
// tests: which package may import which, which package alone may import a large
// library, and a few rules that a linter finds too late or not at all.
//
// The table is in house_test.go. A package that is not in the table fails the test,
// so that nobody adds one without deciding where it belongs. The tests need nothing
// but Go, and cover every build tag, every operating system and test files.
package archtest
