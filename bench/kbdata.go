package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"genkan/internal/kb"
	"genkan/internal/sqlite"
	"genkan/internal/testkit/corpus"
)

// itemOf is document i of the corpus as an item; its id will be i+1.
func itemOf(i int) kb.Item {
	d := corpus.Made(i)
	updated := time.UnixMilli(d.Updated).UTC()
	slices.Sort(d.Tags)
	return kb.Item{
		Type: d.Type, Title: d.Title, Description: d.Description, Content: d.Content, Status: d.Status,
		Priority: kb.PriorityMedium, Tags: slices.Compact(d.Tags), CreatedAt: updated.Add(-24 * time.Hour), UpdatedAt: updated,
	}
}

// knowledgeDir is the data directory of a knowledge base with so many items. It
// is made when it is first wanted, and kept for the next run under a name that
// says how it was made.
func (l *lab) knowledgeDir(items int) (string, error) {
	schema, err := schemaVersion(l.ctx, filepath.Join(l.dir, fmt.Sprintf("schema-%d", items)))
	if err != nil {
		return "", err
	}
	parent := l.kbDir
	if parent == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		parent = filepath.Join(cache, "genkan", "kb-bench")
	}
	dir := filepath.Join(parent, fmt.Sprintf("corpus%d-schema%d-%d", corpus.Version, schema, items))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	draft, err := os.MkdirTemp(parent, "draft-") // one that was cut short must not look complete
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(draft) }()
	fmt.Fprintf(l.progress, "kb: making %d items, which are kept in %s\n", items, dir)
	w, err := l.startKnowledge("fill", draft, items, "traced")
	if err != nil {
		return "", err
	}
	_, err = w.run(kbJob{Do: "fill"})
	w.stop()
	if err != nil {
		return "", err
	}
	return dir, os.Rename(draft, dir)
}

// startKnowledge starts the role kb on a directory.
func (l *lab) startKnowledge(name, dir string, items int, args ...string) (*worker, error) {
	command := append([]string{l.self, roleCommand, roleKnowledge}, l.profileArgs("kb-"+name)...)
	return l.startWorker("kb-"+name, append(append(command, dir, strconv.Itoa(items)), args...)...)
}

// schemaVersion is the version that a new database has.
func schemaVersion(ctx context.Context, dir string) (version int, err error) {
	var t tracer
	store, err := sqlite.OpenThrough(ctx, filepath.Join(dir, databaseName), slog.New(slog.DiscardHandler), t.through)
	if err != nil {
		return 0, err
	}
	db := sql.OpenDB(t.reader.Connector)
	err = db.QueryRowContext(ctx, "SELECT max(version_id) FROM schema_version").Scan(&version)
	return version, errors.Join(err, db.Close(), store.Close())
}

// fillBatch is how many items go into one transaction.
const fillBatch = 20_000

// fill puts the corpus into an empty knowledge base: items through the store, and
// relations beside it, because each of the store's is a change of an older item,
// at a million too many. Indexes are put aside meanwhile and made at the end.
func (k *knowledge) fill(say func(string)) error {
	if k.tracer == nil {
		return errors.New("filling wants a traced one, for its connection")
	}
	db := sql.OpenDB(k.tracer.writer.Connector)
	db.SetMaxOpenConns(1)
	defer func() { _ = db.Close() }()
	// One that is cut short is thrown away, and what is related exists.
	for _, setting := range []string{"synchronous = OFF", "foreign_keys = OFF", "cache_size = -200000"} {
		if _, err := db.ExecContext(k.ctx, "PRAGMA "+setting); err != nil {
			return err
		}
	}
	restore, err := putAsideIndexes(k.ctx, db)
	if err != nil {
		return err
	}
	began, said := time.Now(), time.Now()
	types, err := k.fillItems(func(done int) {
		if done == k.items || time.Since(said) > 10*time.Second {
			said = time.Now()
			say(fmt.Sprintf("kb: %d of %d items, %.0f s", done, k.items, time.Since(began).Seconds()))
		}
	})
	if err != nil {
		return err
	}
	if err := k.fillRelations(db, types); err != nil {
		return err
	}
	say(fmt.Sprintf("kb: relations, %.0f s", time.Since(began).Seconds()))
	if err := restore(); err != nil {
		return err
	}
	say(fmt.Sprintf("kb: the database's own indexes, %.0f s", time.Since(began).Seconds()))
	// What is in the log is read more slowly, and nobody writes all of it at once.
	_, err = db.ExecContext(k.ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// putAsideIndexes removes the indexes of the knowledge base's tables, and returns
// what makes them anew.
func putAsideIndexes(ctx context.Context, db *sql.DB) (restore func() error, err error) {
	rows, err := db.QueryContext(ctx, `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name LIKE 'kb\_%' ESCAPE '\' AND sql IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var names, texts []string
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, err
		}
		names, texts = append(names, name), append(texts, text)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, err := db.ExecContext(ctx, `DROP INDEX "`+name+`"`); err != nil {
			return nil, err
		}
	}
	return func() error {
		for _, text := range texts {
			if _, err := db.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// fillItems writes all items, while the next ones are made up.
func (k *knowledge) fillItems(done func(int)) (types []string, err error) {
	batches := make(chan []kb.Item, 1)
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	go func() {
		defer close(batches)
		for from := 0; from < k.items; from += fillBatch {
			batch := make([]kb.Item, min(fillBatch, k.items-from))
			for i := range batch {
				batch[i] = itemOf(from + i)
			}
			select {
			case batches <- batch:
			case <-ctx.Done():
				return
			}
		}
	}()
	text := 0
	for batch := range batches {
		err := k.store.Knowledge().Write(ctx, func(ctx context.Context, w kb.Writer) error {
			for i := range batch {
				batch[i].ID = 0
				if err := w.Insert(ctx, &batch[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for i := range batch {
			text += len(batch[i].Title) + len(batch[i].Description) + len(batch[i].Content)
			types = append(types, batch[i].Type)
			if batch[i].ID != int64(len(types)) {
				return nil, fmt.Errorf("item %d got the id %d", len(types), batch[i].ID)
			}
		}
		done(len(types))
	}
	return types, os.WriteFile(filepath.Join(k.dir, textSizeName), []byte(strconv.Itoa(text)), 0o600)
}

// fillRelations writes the relations of all items, in the order of the table.
func (k *knowledge) fillRelations(db *sql.DB, types []string) error {
	later := make([][]int32, len(types)) // of each item those that relate to it
	for i := range types {
		for _, other := range corpus.Related(i) {
			later[other] = append(later[other], int32(i))
		}
	}
	const insert = `INSERT INTO kb_relations (src, dst, kind, src_type, dst_type)
		SELECT value ->> 0, value ->> 1, 'related', value ->> 2, value ->> 3 FROM json_each(?)`
	var pairs [][4]any
	put := func() error {
		raw, err := json.Marshal(pairs)
		if err == nil {
			_, err = db.ExecContext(k.ctx, insert, string(raw))
		}
		pairs = pairs[:0]
		return err
	}
	for src, all := range later {
		for _, dst := range all {
			pairs = append(pairs, [4]any{src + 1, dst + 1, types[src], types[dst]})
		}
		if len(pairs) > 5*fillBatch {
			if err := put(); err != nil {
				return err
			}
		}
	}
	return put()
}

// textSizeName is the file that says how large all texts are that are searched.
const textSizeName = "text-size"

func (k *knowledge) textSize() (float64, error) {
	raw, err := os.ReadFile(filepath.Join(k.dir, textSizeName))
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(string(raw), 64)
}

// copyDatabase copies a database that nobody writes to. What is in its log is only
// which file the index is in, and is left behind.
func copyDatabase(from, to string) error {
	in, err := os.Open(filepath.Join(from, databaseName))
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(to, databaseName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	// What is still on its way to the disk would be part of the first creates.
	return errors.Join(err, out.Sync(), out.Close())
}
