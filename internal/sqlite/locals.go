package sqlite

import (
	"context"
	"database/sql"
	"time"

	"genkan/internal/identity"
)

// LocalUses lists the last use by each local client, ordered by name.
func (s *Store) LocalUses(ctx context.Context) ([]identity.LocalUse, error) {
	var uses []identity.LocalUse
	err := s.read(ctx, "list the local clients", func(db *sql.DB) error {
		uses = nil // a retry starts from an empty list
		rows, err := db.QueryContext(ctx, "SELECT name, last_used_at, last_client FROM local_uses ORDER BY name")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var use identity.LocalUse
			var at int64
			if err := rows.Scan(&use.Name, &at, &use.Client); err != nil {
				return err
			}
			use.At = time.UnixMicro(at).UTC()
			uses = append(uses, use)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return uses, nil
}

// NoteLocalUses stores the last use by local clients. Like NoteUses, it does not advance
// the change sequence.
func (s *Store) NoteLocalUses(ctx context.Context, uses []identity.LocalUse) error {
	return s.transact(ctx, "note when local clients were seen", func(tx *sql.Tx) error {
		for _, use := range uses {
			if _, err := tx.ExecContext(ctx, `
				INSERT INTO local_uses (name, last_used_at, last_client) VALUES (?, ?, ?)
				ON CONFLICT (name) DO UPDATE SET last_used_at = excluded.last_used_at, last_client = excluded.last_client
				WHERE local_uses.last_used_at <= excluded.last_used_at`,
				use.Name, use.At.UnixMicro(), use.Client); err != nil {
				return err
			}
		}
		return nil
	})
}
