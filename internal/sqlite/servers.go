package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"genkan/internal/config"
)

// StoredServers lists the servers that are not in the configuration file.
func (s *Store) StoredServers(ctx context.Context) ([]config.StoredServer, error) {
	var all []config.StoredServer
	err := s.read(ctx, "list servers", func(db *sql.DB) error {
		all = nil // a retry starts from an empty list
		rows, err := db.QueryContext(ctx, "SELECT name, definition, secrets FROM servers ORDER BY id")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			one, err := scanKept(rows.Scan)
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

// ChangeStoredServer adds, changes or removes a server, in one transaction.
func (s *Store) ChangeStoredServer(ctx context.Context, name string, change func(was *config.StoredServer) (*config.StoredServer, error)) error {
	return s.write(ctx, "change a server", func(tx *sql.Tx) error {
		var was *config.StoredServer
		one, err := scanKept(tx.QueryRowContext(ctx, "SELECT name, definition, secrets FROM servers WHERE name = ?", name).Scan)
		switch {
		case err == nil:
			was = &one
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		now, err := change(was)
		if err != nil {
			return err
		}
		if now == nil {
			_, err := tx.ExecContext(ctx, "DELETE FROM servers WHERE name = ?", name)
			return err
		}
		secrets, err := json.Marshal(notNil(now.Secrets))
		if err != nil {
			return err
		}
		// A changed server keeps its place in the order.
		_, err = tx.ExecContext(ctx, `
			INSERT INTO servers (name, definition, secrets) VALUES (?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET definition = excluded.definition, secrets = excluded.secrets`,
			name, string(now.Definition), string(secrets))
		return err
	})
}

func scanKept(scan func(into ...any) error) (config.StoredServer, error) {
	var one config.StoredServer
	var secrets []byte
	if err := scan(&one.Name, &one.Definition, &secrets); err != nil {
		return config.StoredServer{}, err
	}
	if err := json.Unmarshal(secrets, &one.Secrets); err != nil {
		return config.StoredServer{}, err
	}
	if len(one.Secrets) == 0 {
		one.Secrets = nil
	}
	return one, nil
}
