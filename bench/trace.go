package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"genkan/internal/sqlite"
)

// statement is something that the store has asked SQLite. The C driver is asked
// the same, so that its texts can never be others than ours.
type statement struct {
	// Kind is "begin", "commit", "exec" or "query"; the first two have no text.
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
	Args []arg  `json:"args,omitempty"`
	// row is the first one that came back: later arguments may come from it.
	row []driver.Value
}

// arg is an argument: a value, or what an earlier statement of the same
// operation has returned.
type arg struct {
	Int   *int64  `json:"int,omitempty"`
	Text  *string `json:"text,omitempty"`
	Null  bool    `json:"null,omitempty"`
	From  *result `json:"from,omitempty"`
	value driver.Value
}

// result is a column of the first row of an earlier statement.
type result struct {
	Statement int `json:"statement"`
	Column    int `json:"column"`
}

// tracer writes down what the connections of a store are asked.
type tracer struct {
	reader, writer sqlite.Connection

	mu   sync.Mutex
	on   bool
	list []*statement
}

// through is what sqlite.OpenThrough wants.
func (t *tracer) through(c sqlite.Connection) driver.Connector {
	if c.Writer {
		t.writer = c
	} else {
		t.reader = c
	}
	return tracedConnector{c.Connector, t}
}

// record runs something and returns what it asked.
func (t *tracer) record(do func() error) ([]statement, error) {
	t.mu.Lock()
	t.on, t.list = true, nil
	t.mu.Unlock()
	err := do()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.on = false
	list := make([]statement, len(t.list))
	for i, s := range t.list {
		for j := range s.Args {
			s.Args[j].resolve(list[:i])
		}
		list[i] = *s
	}
	return list, err
}

// resolve says where an argument comes from. A number that an earlier statement
// has just returned, an id or the number of the write, is taken for that.
func (a *arg) resolve(before []statement) {
	switch v := a.value.(type) {
	case nil:
		a.Null = true
	case int64:
		for i := len(before) - 1; i >= 0; i-- {
			for j, returned := range before[i].row {
				if returned == a.value {
					a.From = &result{i, j}
					return
				}
			}
		}
		a.Int = &v
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		a.Int = &n
	case string:
		a.Text = &v
	default:
		panic(fmt.Sprintf("an argument of type %T cannot be passed on yet", v))
	}
}

func (t *tracer) add(kind, text string, values []driver.NamedValue) *statement {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &statement{Kind: kind, Text: text}
	if !t.on {
		return s
	}
	for _, v := range values {
		s.Args = append(s.Args, arg{value: v.Value})
	}
	t.list = append(t.list, s)
	return s
}

type tracedConnector struct {
	driver.Connector
	t *tracer
}

func (c tracedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &tracedConn{conn, c.t}, nil
}

// tracedConn passes everything on that database/sql may ask of a connection.
type tracedConn struct {
	driver.Conn
	t *tracer
}

var errNotTraced = errors.New("the driver lacks what the store's has")

func (c *tracedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	p, ok := c.Conn.(driver.ConnPrepareContext)
	if !ok {
		return nil, errNotTraced
	}
	stmt, err := p.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return &tracedStmt{stmt, text, c.t}, nil
}

func (c *tracedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	b, ok := c.Conn.(driver.ConnBeginTx)
	if !ok {
		return nil, errNotTraced
	}
	tx, err := b.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	c.t.add("begin", "", nil)
	return tracedTx{tx, c.t}, nil
}

func (c *tracedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	e, ok := c.Conn.(driver.ExecerContext)
	if !ok {
		return nil, errNotTraced
	}
	c.t.add("exec", text, args)
	return e.ExecContext(ctx, text, args)
}

func (c *tracedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	q, ok := c.Conn.(driver.QueryerContext)
	if !ok {
		return nil, errNotTraced
	}
	return traceRows(c.t.add("query", text, args), func() (driver.Rows, error) { return q.QueryContext(ctx, text, args) })
}

func (c *tracedConn) ResetSession(ctx context.Context) error {
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

func (c *tracedConn) IsValid() bool {
	v, ok := c.Conn.(driver.Validator)
	return !ok || v.IsValid()
}

type tracedTx struct {
	driver.Tx
	t *tracer
}

func (tx tracedTx) Commit() error {
	tx.t.add("commit", "", nil)
	return tx.Tx.Commit()
}

type tracedStmt struct {
	driver.Stmt
	text string
	t    *tracer
}

func (s *tracedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	e, ok := s.Stmt.(driver.StmtExecContext)
	if !ok {
		return nil, errNotTraced
	}
	s.t.add("exec", s.text, args)
	return e.ExecContext(ctx, args)
}

func (s *tracedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	q, ok := s.Stmt.(driver.StmtQueryContext)
	if !ok {
		return nil, errNotTraced
	}
	return traceRows(s.t.add("query", s.text, args), func() (driver.Rows, error) { return q.QueryContext(ctx, args) })
}

func traceRows(s *statement, query func() (driver.Rows, error)) (driver.Rows, error) {
	rows, err := query()
	if err != nil {
		return nil, err
	}
	return &tracedRows{rows, s}, nil
}

type tracedRows struct {
	driver.Rows
	s *statement
}

func (r *tracedRows) Next(into []driver.Value) error {
	err := r.Rows.Next(into)
	if err == nil && r.s.row == nil {
		r.s.row = append([]driver.Value{}, into...)
	}
	return err
}
