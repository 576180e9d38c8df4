package main

import (
	"context"
	"database/sql"
	"fmt"
)

// statement is one that genkan's store has asked.
type statement struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	Args []arg  `json:"args"`
}

type arg struct {
	Int  *int64  `json:"int"`
	Text *string `json:"text"`
	Null bool    `json:"null"`
	From *struct {
		Statement int `json:"statement"`
		Column    int `json:"column"`
	} `json:"from"`
}

// load makes operations of lists of statements.
func (s *subject) load(j job) error {
	var set []func() error
	for _, op := range j.Ops {
		run, err := s.replay(op)
		if err != nil {
			return err
		}
		set = append(set, run)
	}
	s.sets[j.Name] = set
	return nil
}

// step is a statement that is ready to be asked.
type step struct {
	statement
	stmt *sql.Stmt
	args []any
	// values is where columns are read to, row the first one that came.
	values, into, row []any
}

// replay makes an operation that asks the same statements in the same order.
// Ids that come back go into later statements, as they do in the store.
func (s *subject) replay(list []statement) (func() error, error) {
	steps := make([]*step, len(list))
	for i, one := range list {
		text := one.Text
		switch one.Kind {
		case "begin":
			text = "BEGIN IMMEDIATE"
		case "commit":
			text = "COMMIT"
		}
		stmt, err := s.prepared(text)
		if err != nil {
			return nil, err
		}
		steps[i] = &step{statement: one, stmt: stmt, args: make([]any, len(one.Args))}
		for k, a := range one.Args {
			switch {
			case a.Int != nil:
				steps[i].args[k] = *a.Int
			case a.Text != nil:
				steps[i].args[k] = *a.Text
			}
		}
	}
	return func() error {
		for _, one := range steps {
			for k, a := range one.Args {
				if a.From != nil {
					one.args[k] = steps[a.From.Statement].row[a.From.Column]
				}
			}
			if err := one.run(); err != nil {
				return fmt.Errorf("%s %s: %w", one.Kind, one.Text, err)
			}
		}
		return nil
	}, nil
}

func (s *step) run() error {
	ctx := context.Background()
	if s.Kind != "query" {
		_, err := s.stmt.ExecContext(ctx, s.args...)
		return err
	}
	rows, err := s.stmt.QueryContext(ctx, s.args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	if s.values == nil {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		s.values, s.into = make([]any, len(columns)), make([]any, len(columns))
		for i := range s.values {
			s.into[i] = &s.values[i]
		}
	}
	s.row = s.row[:0]
	for rows.Next() {
		if err := rows.Scan(s.into...); err != nil {
			return err
		}
		if len(s.row) == 0 {
			s.row = append(s.row, s.values...)
		}
	}
	return rows.Err()
}
