package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"genkan/internal/workflow"
)

// Workflows returns the newest version of each workflow.
func (s *Store) Workflows(ctx context.Context) ([]workflow.Stored, error) {
	return many(ctx, s, "list workflows", scanWorkflow, `
		SELECT running, ran, draft, definition FROM workflows JOIN workflow_versions ON workflow = id
		WHERE version = (SELECT max(version) FROM workflow_versions WHERE workflow = id) ORDER BY id`)
}

// Workflow returns a version of a workflow; 0 is the newest.
func (s *Store) Workflow(ctx context.Context, id string, version int) (workflow.Stored, error) {
	all, err := many(ctx, s, "read a workflow", scanWorkflow, `
		SELECT running, ran, draft, definition FROM workflows JOIN workflow_versions ON workflow = id
		WHERE id = ?1 AND (?2 = 0 OR version = ?2) ORDER BY version DESC LIMIT 1`, id, version)
	if err == nil && len(all) == 0 {
		err = workflow.NoWorkflow(id, version)
	}
	if err != nil {
		return workflow.Stored{}, err
	}
	return all[0], nil
}

// Versions returns all versions of a workflow, the newest first.
func (s *Store) Versions(ctx context.Context, id string) ([]workflow.Version, error) {
	return many(ctx, s, "list the versions of a workflow", func(rows *sql.Rows) (v workflow.Version, err error) {
		var raw []byte
		err = rows.Scan(&v.EnabledAt, &raw)
		v.Definition = &workflow.Definition{}
		return v, errors.Join(err, json.Unmarshal(raw, v.Definition))
	}, "SELECT enabled_at, definition FROM workflow_versions WHERE workflow = ? ORDER BY version DESC", id)
}

// PutWorkflow adds the next version of a workflow, or saves the newest again, which is a
// step of the same draft. It adds or replaces tests with it.
func (s *Store) PutWorkflow(ctx context.Context, d *workflow.Definition, draft string, base workflow.Millis, tests ...workflow.Test) error {
	raw, err := d.MarshalJSON()
	if err != nil {
		return explain("save a workflow", err)
	}
	return s.write(ctx, "save a workflow", func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO workflows (id, running) VALUES (?, 0) ON CONFLICT DO NOTHING", d.ID); err != nil {
			return err
		}
		var newest int
		var at workflow.Millis
		var was string
		err := tx.QueryRowContext(ctx, `
			SELECT version, definition ->> 'updatedAt', draft FROM workflow_versions WHERE workflow = ? ORDER BY version DESC LIMIT 1`, d.ID).Scan(&newest, &at, &was)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		again := d.Version == newest && draft != "" && draft == was
		if at != base || d.Version != newest+1 && !again {
			return workflow.ChangedMeanwhile(d.ID, d.Version)
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO workflow_versions (workflow, version, definition, draft) VALUES (?, ?, ?, ?)
			ON CONFLICT (workflow, version) DO UPDATE SET definition = excluded.definition`,
			d.ID, d.Version, string(raw), draft)
		if err != nil {
			return err
		}
		return putTests(ctx, tx, d.ID, tests)
	})
}

// RunWorkflow says which version runs; 0 is none.
func (s *Store) RunWorkflow(ctx context.Context, id string, version int, at workflow.Millis) error {
	return s.write(ctx, "enable a workflow", func(tx *sql.Tx) error {
		err := affect(ctx, tx, workflow.NoWorkflow(id, version), `
			UPDATE workflows SET running = ?2, ran = coalesce(nullif(?2, 0), ran) WHERE id = ?1
			AND (?2 = 0 OR EXISTS (SELECT 1 FROM workflow_versions WHERE workflow = ?1 AND version = ?2))`, id, version)
		if err != nil || version == 0 {
			return err
		}
		return affect(ctx, tx, workflow.SavedAgain(id, version), `
			UPDATE workflow_versions SET draft = '', enabled_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) WHERE workflow = ?1 AND version = ?2
			AND (?3 = 0 OR definition ->> 'updatedAt' = ?3)`, id, version, at)
	})
}

// DeleteWorkflow removes a workflow with its versions and tests.
func (s *Store) DeleteWorkflow(ctx context.Context, id string) error {
	return s.change(ctx, "delete a workflow", workflow.NoWorkflow(id, 0), "DELETE FROM workflows WHERE id = ?", id)
}

// Switch returns whether workflows run at all.
func (s *Store) Switch(ctx context.Context) (workflow.Switch, error) {
	all, err := many(ctx, s, "read whether workflows run", func(rows *sql.Rows) (out workflow.Switch, err error) {
		return out, rows.Scan(&out.Off, &out.By, &out.At)
	}, "SELECT off, changed_by, changed_at FROM workflow_switch")
	if err != nil || len(all) == 0 {
		return workflow.Switch{}, err
	}
	return all[0], nil
}

// PutSwitch changes whether workflows run at all.
func (s *Store) PutSwitch(ctx context.Context, to workflow.Switch) error {
	return s.write(ctx, "change whether workflows run", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO workflow_switch (only, off, changed_by, changed_at) VALUES (1, ?1, ?2, ?3)
			ON CONFLICT (only) DO UPDATE SET off = excluded.off, changed_by = excluded.changed_by, changed_at = excluded.changed_at`, to.Off, to.By, to.At)
		return err
	})
}

// Tests returns the tests of a workflow, by their ids.
func (s *Store) Tests(ctx context.Context, id string) ([]workflow.Test, error) {
	return many(ctx, s, "list the tests of a workflow", scanJSON[workflow.Test],
		"SELECT definition FROM workflow_tests WHERE workflow = ? ORDER BY id", id)
}

// PutTests adds or replaces tests.
func (s *Store) PutTests(ctx context.Context, id string, tests []workflow.Test) error {
	return s.write(ctx, "save tests", func(tx *sql.Tx) error { return putTests(ctx, tx, id, tests) })
}

func putTests(ctx context.Context, tx *sql.Tx, id string, tests []workflow.Test) error {
	for _, t := range tests {
		raw, err := json.Marshal(t)
		if err == nil {
			err = affect(ctx, tx, workflow.NoWorkflow(id, 0), `
				INSERT INTO workflow_tests (workflow, id, definition) SELECT id, ?2, ?3 FROM workflows WHERE id = ?1
				ON CONFLICT (workflow, id) DO UPDATE SET definition = excluded.definition`, id, t.ID, string(raw))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// DeleteTest removes a test.
func (s *Store) DeleteTest(ctx context.Context, id, test string) error {
	return s.change(ctx, "delete a test", workflow.NoTest(id, test), "DELETE FROM workflow_tests WHERE workflow = ? AND id = ?", id, test)
}

// Modules returns the newest version of each hook module.
func (s *Store) Modules(ctx context.Context) ([]workflow.Module, error) {
	return many(ctx, s, "list hook modules", scanJSON[workflow.Module], `
		SELECT definition FROM hook_modules m
		WHERE version = (SELECT max(version) FROM hook_modules WHERE id = m.id) ORDER BY id`)
}

// Module returns a version of a hook module; 0 is the newest.
func (s *Store) Module(ctx context.Context, id string, version int) (workflow.Module, error) {
	all, err := many(ctx, s, "read a hook module", scanJSON[workflow.Module], `
		SELECT definition FROM hook_modules WHERE id = ?1 AND (?2 = 0 OR version = ?2) ORDER BY version DESC LIMIT 1`, id, version)
	if err == nil && len(all) == 0 {
		err = workflow.NoModule(id, version)
	}
	if err != nil {
		return workflow.Module{}, err
	}
	return all[0], nil
}

// PutModule adds the next version of a hook module.
func (s *Store) PutModule(ctx context.Context, m workflow.Module) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return explain("save a hook module", err)
	}
	return s.change(ctx, "save a hook module", workflow.ChangedMeanwhile(m.ID, m.Version), `
		INSERT INTO hook_modules (id, version, definition) SELECT ?1, ?2, ?3
		WHERE ?2 = 1 + (SELECT coalesce(max(version), 0) FROM hook_modules WHERE id = ?1)`, m.ID, m.Version, string(raw))
}

// DeleteModule removes a hook module with all its versions.
func (s *Store) DeleteModule(ctx context.Context, id string) error {
	return s.change(ctx, "delete a hook module", workflow.NoModule(id, 0), "DELETE FROM hook_modules WHERE id = ?", id)
}

// change is write for one statement, which fails with otherwise if it changes no row.
func (s *Store) change(ctx context.Context, what string, otherwise error, statement string, values ...any) error {
	return s.write(ctx, what, func(tx *sql.Tx) error { return affect(ctx, tx, otherwise, statement, values...) })
}

func affect(ctx context.Context, tx *sql.Tx, otherwise error, statement string, values ...any) error {
	done, err := tx.ExecContext(ctx, statement, values...)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return otherwise
}

// many reads rows.
func many[T any](ctx context.Context, s *Store, what string, scan func(*sql.Rows) (T, error), query string, values ...any) (all []T, err error) {
	err = s.read(ctx, what, func(db *sql.DB) error {
		all = nil // a retry starts from an empty list
		rows, err := db.QueryContext(ctx, query, values...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			one, err := scan(rows)
			if err != nil {
				return err
			}
			all = append(all, one)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func scanWorkflow(rows *sql.Rows) (s workflow.Stored, err error) {
	var raw []byte
	err = rows.Scan(&s.Running, &s.Ran, &s.Draft, &raw)
	s.Definition = &workflow.Definition{}
	return s, errors.Join(err, json.Unmarshal(raw, s.Definition))
}

func scanJSON[T any](rows *sql.Rows) (value T, err error) {
	var raw []byte
	if err := rows.Scan(&raw); err != nil {
		return value, err
	}
	return value, json.Unmarshal(raw, &value)
}
