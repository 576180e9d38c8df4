package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/upstream"
)

// LoadList returns false if no list of the server was saved.
func (s *Store) LoadList(ctx context.Context, server string) (upstream.SavedList, bool, error) {
	var list upstream.SavedList
	found := false
	err := s.read(ctx, "load a tool list", func(db *sql.DB) error {
		var era string
		var saved int64
		var changes []byte
		err := db.QueryRowContext(ctx,
			`SELECT fingerprint, era, version, saved_at, tools, prompts, resources, templates,
				capabilities, server_info, instructions, asks, wants_roots, both_eras, changes, gone FROM tool_lists WHERE server = ?`, server).
			Scan(&list.Fingerprint, &era, &list.Version, &saved, &list.Tools, &list.Prompts, &list.Resources, &list.Templates,
				&list.About.Capabilities, &list.About.Info, &list.About.Instructions, &list.Habits.Asks, &list.Habits.Roots, &list.BothEras, &changes, &list.Gone)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(changes) > 0 {
			if err := json.Unmarshal(changes, &list.Changes); err != nil {
				return err
			}
		}
		list.Era, list.SavedAt, found = eraFromText(era), time.UnixMicro(saved).UTC(), true
		return nil
	})
	if err != nil {
		return upstream.SavedList{}, false, err
	}
	return list, found, nil
}

// SaveList replaces the saved list of the server.
func (s *Store) SaveList(ctx context.Context, server string, list upstream.SavedList) error {
	var changes []byte
	if len(list.Changes) > 0 {
		var err error
		if changes, err = json.Marshal(list.Changes); err != nil {
			return explain("save a tool list", err)
		}
	}
	return s.write(ctx, "save a tool list", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT OR REPLACE INTO tool_lists (server, fingerprint, era, version, saved_at, tools, prompts, resources, templates,
				capabilities, server_info, instructions, asks, wants_roots, both_eras, changes, gone) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			server, list.Fingerprint, list.Era.String(), list.Version, list.SavedAt.UnixMicro(),
			notNull(list.Tools), notNull(list.Prompts), notNull(list.Resources), notNull(list.Templates),
			notNull(list.About.Capabilities), notNull(list.About.Info), list.About.Instructions,
			list.Habits.Asks, list.Habits.Roots, list.BothEras, notNull(changes), notNull(list.Gone))
		return err
	})
}

// notNull converts nil to an empty slice, for columns that must not be NULL.
func notNull(blob []byte) []byte {
	if blob == nil {
		return []byte{}
	}
	return blob
}

// eraFromText is the inverse of Era.String. The database stores text, because the
// numbers belong to the running program and the file outlives it.
func eraFromText(text string) gateway.Era {
	for _, era := range []gateway.Era{gateway.EraLegacy, gateway.EraModern} {
		if era.String() == text {
			return era
		}
	}
	return gateway.EraNone
}
