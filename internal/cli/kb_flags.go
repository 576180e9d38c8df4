package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/gateway"
)

// flagsOfFields maps the fields of items and queries to flags and arguments. The
// first that a command has is used.
var flagsOfFields = map[string][]string{
	"related": {"--related", "OTHER"}, "related_to": {"--related", "OTHER"}, "add_related": {"OTHER"}, "remove_related": {"OTHER"},
	"tags": {"--tag"}, "tag": {"--tag"}, "add_tags": {"--add-tag"}, "remove_tags": {"--remove-tag"},
	"start_date": {"--start", "--since"}, "end_date": {"--end", "--until"},
	"includeClosed": {"--all"}, "max_depth": {"--depth"}, "depth": {"--depth"}, "max_results": {"--limit"},
	"type": {"--type", "TYPE"}, "title": {"--title", "TITLE"}, "ref": {"ITEM"}, "query": {"QUERY"}, "from": {"FROM"}, "to": {"TO"},
	"description": {"--description"}, "content": {"--content"}, "status": {"--status"}, "priority": {"--priority"},
	"category": {"--category"}, "version": {"--version"}, "limit": {"--limit"}, "offset": {"--offset"},
}

// naming makes the errors of commands name flags and arguments, which people type,
// instead of fields.
func naming(parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		if run := cmd.RunE; run != nil {
			cmd.RunE = func(cmd *cobra.Command, args []string) error { return inFlags(cmd, run(cmd, args)) }
		}
	}
}

// fieldWord matches a word that may be a field, with its index in a list.
var fieldWord = regexp.MustCompile(`[A-Za-z_]+(\[\d+\])?`)

// inFlags replaces the names of fields in an error about a field. An ordinary word
// that is also the name of a field is replaced only if the error is about that
// field.
func inFlags(cmd *cobra.Command, err error) error {
	var e *gateway.Error
	if !errors.As(err, &e) || e.Field == "" || len(e.Values) != 1 || e.Message != "%s" {
		return err
	}
	about, _, _ := strings.Cut(e.Field, "[")
	done := false
	said := fieldWord.ReplaceAllStringFunc(fmt.Sprint(e.Values[0]), func(word string) string {
		name, _, _ := strings.Cut(word, "[")
		flag := flagOf(cmd, name)
		if flag == "" || !strings.Contains(name, "_") && (name != about || done) {
			return word
		}
		done = done || name == about
		return flag
	})
	if said == fmt.Sprint(e.Values[0]) {
		return err
	}
	other := *e
	other.Values = []any{said}
	return &other
}

// flagOf returns the flag or argument of a command for a field; empty for none.
func flagOf(cmd *cobra.Command, field string) string {
	for _, name := range flagsOfFields[field] {
		flag, isFlag := strings.CutPrefix(name, "--")
		if isFlag && cmd.Flags().Lookup(flag) != nil || !isFlag && strings.Contains(cmd.Use, name) {
			return name
		}
	}
	return ""
}
