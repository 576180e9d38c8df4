package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/identity"
)

// Session returns the session with a hash. It fails with gateway.CodeNotFound if there
// is none.
func (s *Store) Session(ctx context.Context, hash [sha256.Size]byte) (identity.Session, error) {
	session := identity.Session{Hash: hash}
	err := s.read(ctx, "read a session", func(db *sql.DB) error {
		var token []byte
		var created, used int64
		err := db.QueryRowContext(ctx, "SELECT token, created_at, used_at FROM sessions WHERE hash = ?", hash[:]).Scan(&token, &created, &used)
		if errors.Is(err, sql.ErrNoRows) {
			return gateway.Errorf(gateway.CodeNotFound, "there is no such session")
		}
		if err != nil {
			return err
		}
		if copy(session.Token[:], token) != len(session.Token) {
			return fmt.Errorf("the hash of a session's token has %d bytes", len(token))
		}
		session.CreatedAt, session.UsedAt = time.UnixMicro(created).UTC(), time.UnixMicro(used).UTC()
		return nil
	})
	return session, err
}

// AllSessions returns all sessions, the one that was used last first.
func (s *Store) AllSessions(ctx context.Context) (all []identity.Session, err error) {
	err = s.read(ctx, "read the sessions", func(db *sql.DB) error {
		rows, err := db.QueryContext(ctx, "SELECT hash, token, created_at, used_at FROM sessions ORDER BY used_at DESC, hash")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var one identity.Session
			var hash, token []byte
			var created, used int64
			if err := rows.Scan(&hash, &token, &created, &used); err != nil {
				return err
			}
			copy(one.Hash[:], hash)
			copy(one.Token[:], token)
			one.CreatedAt, one.UsedAt = time.UnixMicro(created).UTC(), time.UnixMicro(used).UTC()
			all = append(all, one)
		}
		return rows.Err()
	})
	return all, err
}

// AddSession adds a session, and removes those that the limits do not keep.
func (s *Store) AddSession(ctx context.Context, session identity.Session, limits identity.SessionLimits) error {
	return s.transact(ctx, "add a session", func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE created_at <= ? OR used_at <= ?",
			limits.CreatedAfter.UnixMicro(), limits.UsedAfter.UnixMicro()); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO sessions (hash, token, created_at, used_at) VALUES (?, ?, ?, ?)",
			session.Hash[:], session.Token[:], session.CreatedAt.UnixMicro(), session.UsedAt.UnixMicro()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			DELETE FROM sessions WHERE token = ? AND hash != ? AND hash NOT IN (
				SELECT hash FROM sessions WHERE token = ? AND hash != ? ORDER BY used_at DESC LIMIT ?)`,
			session.Token[:], session.Hash[:], session.Token[:], session.Hash[:], max(0, limits.Most-1))
		return err
	})
}

// NoteSession stores when a session was used.
func (s *Store) NoteSession(ctx context.Context, hash [sha256.Size]byte, at time.Time) error {
	return s.transact(ctx, "note the use of a session", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE sessions SET used_at = ? WHERE hash = ? AND used_at < ?", at.UnixMicro(), hash[:], at.UnixMicro())
		return err
	})
}

// EndSession removes a session.
func (s *Store) EndSession(ctx context.Context, hash [sha256.Size]byte) error {
	return s.transact(ctx, "end a session", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE hash = ?", hash[:])
		return err
	})
}
