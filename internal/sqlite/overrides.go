package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"genkan/internal/catalog"
)

const overrideColumns = "disabled, description, category, author, version, tags, examples, dependencies"

// exampleRow is an example as the database stores it.
type exampleRow struct {
	Description    string          `json:"description"`
	Parameters     json.RawMessage `json:"parameters,omitempty"`
	ExpectedResult json.RawMessage `json:"expectedResult,omitempty"`
}

// Overrides returns the overrides of all tools.
func (s *Store) Overrides(ctx context.Context) (map[catalog.ToolKey]catalog.Override, error) {
	var all map[catalog.ToolKey]catalog.Override
	err := s.read(ctx, "list overrides", func(db *sql.DB) error {
		all = map[catalog.ToolKey]catalog.Override{} // a retry starts from an empty map
		rows, err := db.QueryContext(ctx, "SELECT server, tool, "+overrideColumns+" FROM overrides")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var key catalog.ToolKey
			one, err := scanOverride(func(into ...any) error {
				return rows.Scan(append([]any{&key.Server, &key.Name}, into...)...)
			})
			if err != nil {
				return err
			}
			all[key] = one
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// ChangeOverride changes the override of a tool in one transaction.
func (s *Store) ChangeOverride(
	ctx context.Context, key catalog.ToolKey, change func(*catalog.Override) error,
) (catalog.Override, error) {
	var one catalog.Override
	err := s.write(ctx, "change an override", func(tx *sql.Tx) (err error) {
		row := tx.QueryRowContext(ctx, "SELECT "+overrideColumns+" FROM overrides WHERE server = ? AND tool = ?", key.Server, key.Name)
		if one, err = scanOverride(row.Scan); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := change(&one); err != nil {
			return err
		}
		if one.IsZero() {
			_, err := tx.ExecContext(ctx, "DELETE FROM overrides WHERE server = ? AND tool = ?", key.Server, key.Name)
			return err
		}
		examples := make([]exampleRow, len(one.Examples))
		for i, e := range one.Examples {
			examples[i] = exampleRow(e)
		}
		encoded := make([]string, 0, 3)
		for _, list := range []any{notNil(one.Tags), examples, notNil(one.Dependencies)} {
			raw, err := json.Marshal(list)
			if err != nil {
				return err
			}
			encoded = append(encoded, string(raw))
		}
		_, err = tx.ExecContext(ctx, `
			INSERT OR REPLACE INTO overrides (server, tool, `+overrideColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			key.Server, key.Name, one.Disabled, one.Description, one.Category, one.Author, one.Version,
			encoded[0], encoded[1], encoded[2])
		return err
	})
	if err != nil {
		return catalog.Override{}, err
	}
	return one, nil
}

func notNil(words []string) []string {
	if words == nil {
		return []string{}
	}
	return words
}

func scanOverride(scan func(into ...any) error) (catalog.Override, error) {
	var one catalog.Override
	var tags, examples, dependencies []byte
	if err := scan(&one.Disabled, &one.Description, &one.Category, &one.Author, &one.Version, &tags, &examples, &dependencies); err != nil {
		return catalog.Override{}, err
	}
	var rows []exampleRow
	if err := errors.Join(
		json.Unmarshal(tags, &one.Tags), json.Unmarshal(examples, &rows), json.Unmarshal(dependencies, &one.Dependencies),
	); err != nil {
		return catalog.Override{}, err
	}
	for _, row := range rows {
		one.Examples = append(one.Examples, catalog.Example(row))
	}
	// Empty lists are unset, which is nil.
	if len(one.Tags) == 0 {
		one.Tags = nil
	}
	if len(one.Dependencies) == 0 {
		one.Dependencies = nil
	}
	return one, nil
}
