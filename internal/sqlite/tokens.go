package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/identity"
)

// Tokens lists all tokens, ordered by name.
func (s *Store) Tokens(ctx context.Context) ([]identity.Token, error) {
	var tokens []identity.Token
	err := s.read(ctx, "list tokens", func(db *sql.DB) error {
		tokens = nil // a retry starts from an empty list
		rows, err := db.QueryContext(ctx, "SELECT name, hash, admin, created_at, last_used_at, last_client FROM tokens ORDER BY name")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var token identity.Token
			var hash []byte
			var created int64
			var used sql.NullInt64
			if err := rows.Scan(&token.Name, &hash, &token.Admin, &created, &used, &token.LastClient); err != nil {
				return err
			}
			if copy(token.Hash[:], hash) != len(token.Hash) {
				return fmt.Errorf("the hash of token %q has %d bytes", token.Name, len(hash))
			}
			token.CreatedAt = time.UnixMicro(created).UTC()
			if used.Valid {
				token.LastUsed = time.UnixMicro(used.Int64).UTC()
			}
			tokens = append(tokens, token)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return tokens, nil
}

// AddToken stores a token. It fails with gateway.CodeConflict if the name is taken.
func (s *Store) AddToken(ctx context.Context, token identity.Token) error {
	return s.write(ctx, "add a token", func(tx *sql.Tx) error {
		added, err := tx.ExecContext(ctx, `
			INSERT INTO tokens (name, hash, admin, created_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (name) DO NOTHING`,
			token.Name, token.Hash[:], token.Admin, token.CreatedAt.UnixMicro())
		if err != nil {
			return err
		}
		if n, err := added.RowsAffected(); err != nil || n == 1 {
			return err
		}
		return gateway.Errorf(gateway.CodeConflict,
			"there is a token named %q already: choose another name, or revoke that one first", token.Name)
	})
}

// RevokeToken deletes a token. It fails with gateway.CodeNotFound if there is none.
func (s *Store) RevokeToken(ctx context.Context, name string) error {
	return s.write(ctx, "revoke a token", func(tx *sql.Tx) error {
		removed, err := tx.ExecContext(ctx, "DELETE FROM tokens WHERE name = ?", name)
		if err != nil {
			return err
		}
		if n, err := removed.RowsAffected(); err != nil || n == 1 {
			return err
		}
		return gateway.Errorf(gateway.CodeNotFound, "there is no token named %q: `genkan tokens list` shows all", name)
	})
}

// NoteUses stores the times of use of tokens. It does not advance the change sequence,
// because no cache depends on them.
func (s *Store) NoteUses(ctx context.Context, uses []identity.TokenUse) error {
	return s.transact(ctx, "note the uses of tokens", func(tx *sql.Tx) error {
		for _, use := range uses {
			at := use.At.UnixMicro()
			if _, err := tx.ExecContext(ctx, `
				UPDATE tokens SET last_used_at = ?, last_client = ?
				WHERE name = ? AND hash = ? AND (last_used_at IS NULL OR last_used_at <= ?)`,
				at, use.Client, use.Name, use.Hash[:], at); err != nil {
				return err
			}
		}
		return nil
	})
}
