package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"genkan/internal/learn"
)

// Lessons lists all lessons.
func (s *Store) Lessons(ctx context.Context) ([]learn.Lesson, error) {
	var all []learn.Lesson
	err := s.read(ctx, "list lessons", func(db *sql.DB) error {
		all = nil // a retry starts from an empty list
		rows, err := db.QueryContext(ctx, `
			SELECT client, server, tool, terms, times, learned_at FROM lessons
			ORDER BY client, server, tool, learned_at DESC, terms`)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var one learn.Lesson
			var terms []byte
			var at int64
			if err := rows.Scan(&one.Client, &one.Tool.Server, &one.Tool.Name, &terms, &one.Times, &at); err != nil {
				return err
			}
			if err := json.Unmarshal(terms, &one.Terms); err != nil {
				return err
			}
			one.At = time.UnixMicro(at).UTC()
			all = append(all, one)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// AddLessons stores lessons within bounds.
func (s *Store) AddLessons(ctx context.Context, lessons []learn.Lesson, bounds learn.Bounds) error {
	return s.write(ctx, "keep lessons", func(tx *sql.Tx) error {
		for _, l := range lessons {
			terms, err := json.Marshal(notNil(l.Terms))
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `
				INSERT INTO lessons (client, server, tool, terms, times, learned_at) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT (client, server, tool, terms)
				DO UPDATE SET times = times + excluded.times, learned_at = max(learned_at, excluded.learned_at)`,
				l.Client, l.Tool.Server, l.Tool.Name, string(terms), l.Times, l.At.UnixMicro()); err != nil {
				return err
			}
		}
		for _, beyond := range []struct {
			among string
			most  int
		}{
			{"PARTITION BY client, server, tool", bounds.Tool},
			{"PARTITION BY client", bounds.Client},
			{"", bounds.All},
		} {
			//nolint:gosec // what is put together are the constants above
			if _, err := tx.ExecContext(ctx, `
				DELETE FROM lessons WHERE id IN (
					SELECT id FROM (SELECT id, row_number() OVER (`+beyond.among+` ORDER BY learned_at DESC, id DESC) AS place FROM lessons)
					WHERE place > ?)`, beyond.most); err != nil {
				return err
			}
		}
		return nil
	})
}

// ForgetLessons deletes the selected lessons.
func (s *Store) ForgetLessons(ctx context.Context, which learn.Selection) (int, error) {
	var n int64
	err := s.write(ctx, "forget lessons", func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `
			DELETE FROM lessons WHERE (?1 = '' OR client = ?1) AND (?2 = '' AND ?3 = '' OR server = ?2 AND tool = ?3)`,
			which.Client, which.Tool.Server, which.Tool.Name)
		if err != nil {
			return err
		}
		n, err = done.RowsAffected()
		return err
	})
	return int(n), err
}
