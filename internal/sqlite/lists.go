package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/upstream"
)

// LoadList reports false when no list of the server was saved.
func (s *Store) LoadList(ctx context.Context, server string) (upstream.SavedList, bool, error) {
	var list upstream.SavedList
	found := false
	err := s.read(ctx, "load a tool list", func(db *sql.DB) error {
		var era string
		var saved int64
		err := db.QueryRowContext(ctx,
			"SELECT fingerprint, era, version, tools, saved_at FROM tool_lists WHERE server = ?", server).
			Scan(&list.Fingerprint, &era, &list.Version, &list.Tools, &saved)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		list.Era, list.SavedAt, found = eraFromText(era), time.UnixMicro(saved).UTC(), true
		return nil
	})
	if err != nil {
		return upstream.SavedList{}, false, err
	}
	return list, found, nil
}

// SaveList replaces what was saved of the server before.
func (s *Store) SaveList(ctx context.Context, server string, list upstream.SavedList) error {
	tools := list.Tools
	if tools == nil {
		tools = []byte{} // a nil slice would be NULL
	}
	return s.write(ctx, "save a tool list", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO tool_lists (server, fingerprint, era, version, tools, saved_at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (server) DO UPDATE SET fingerprint = excluded.fingerprint, era = excluded.era,
				version = excluded.version, tools = excluded.tools, saved_at = excluded.saved_at`,
			server, list.Fingerprint, list.Era.String(), list.Version, tools, list.SavedAt.UnixMicro())
		return err
	})
}

// eraFromText is the inverse of Era.String. Text, because the numbers belong
// to the running program and the file outlives it.
func eraFromText(text string) gateway.Era {
	for _, era := range []gateway.Era{gateway.EraLegacy, gateway.EraModern} {
		if era.String() == text {
			return era
		}
	}
	return gateway.EraNone
}
