package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// The index is without its content: as ours, it has ids, and the size of the file
// is the size of the index.

// buildFTS builds a table of the items of another database.
func (s *subject) buildFTS(tokenizer, source string) (answer, error) {
	ctx := context.Background()
	if _, err := s.conn.ExecContext(ctx, `ATTACH DATABASE ? AS source`, source); err != nil {
		return answer{}, err
	}
	began, cpu := time.Now(), clock(unix.CLOCK_PROCESS_CPUTIME_ID)
	for _, text := range []string{
		`PRAGMA main.journal_mode = OFF`, `PRAGMA main.synchronous = OFF`, `PRAGMA main.cache_size = -200000`,
		`BEGIN`,
		`CREATE VIRTUAL TABLE fts USING fts5(title, description, content, content = '', tokenize = '` + tokenizer + `')`,
		`INSERT INTO fts (rowid, title, description, content) SELECT id, title, description, content FROM source.kb_items ORDER BY id`,
		`INSERT INTO fts (fts) VALUES ('optimize')`,
		`COMMIT`,
		`DETACH DATABASE source`,
		`VACUUM`, // what the optimization has left is no part of the index
	} {
		if _, err := s.conn.ExecContext(ctx, text); err != nil {
			return answer{}, fmt.Errorf("%s: %w", text, err)
		}
	}
	spent := clock(unix.CLOCK_PROCESS_CPUTIME_ID) - cpu
	var size float64
	err := s.conn.QueryRowContext(ctx, `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`).Scan(&size)
	return answer{Cost: cost{Count: 1, CPU: float64(spent.Microseconds()), Wall: time.Since(began).Seconds()}, Bytes: size}, err
}

// loadFTS makes a search of each text: the ids of the 20 best, by bm25.
func (s *subject) loadFTS(j job) error {
	stmt, err := s.prepared(`SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rank LIMIT 20`)
	if err != nil {
		return err
	}
	var set []func() error
	for _, text := range j.Texts {
		set = append(set, func() error {
			rows, err := stmt.QueryContext(context.Background(), text)
			if err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				var id int64
				if err := rows.Scan(&id); err != nil {
					return err
				}
			}
			return rows.Err()
		})
	}
	s.sets[j.Name] = set
	return nil
}

// foundFTS are all ids that each text finds.
func (s *subject) foundFTS(j job) (answer, error) {
	var a answer
	stmt, err := s.prepared(`SELECT rowid FROM fts WHERE fts MATCH ?`)
	if err != nil {
		return a, err
	}
	for _, text := range j.Texts {
		ids, err := func() (ids []int64, err error) {
			rows, err := stmt.QueryContext(context.Background(), text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", text, err)
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				var id int64
				if err := rows.Scan(&id); err != nil {
					return nil, err
				}
				ids = append(ids, id)
			}
			return ids, rows.Err()
		}()
		if err != nil {
			return a, err
		}
		slices.Sort(ids)
		a.Found = append(a.Found, ids)
	}
	return a, nil
}
