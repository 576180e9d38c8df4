package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"genkan/internal/embed"
)

// Vectors finds vectors by their keys.
func (s *Store) Vectors(ctx context.Context, keys []embed.Key) (map[embed.Key][]float32, error) {
	var found map[embed.Key][]float32
	err := s.read(ctx, "find vectors", func(db *sql.DB) error {
		found = map[embed.Key][]float32{} // a retry starts from an empty map
		for _, key := range keys {
			var blob []byte
			err := db.QueryRowContext(ctx, "SELECT vector FROM vectors WHERE key = ?", key[:]).Scan(&blob)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			found[key] = floats(blob)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// SaveVectors stores vectors. No cache depends on them, so the change sequence stays.
func (s *Store) SaveVectors(ctx context.Context, vectors map[embed.Key][]float32, most int) error {
	now := time.Now().UnixMicro()
	return s.transact(ctx, "keep vectors", func(tx *sql.Tx) error {
		for key, vector := range vectors {
			if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO vectors (key, vector, saved_at) VALUES (?, ?, ?)",
				key[:], blobOf(vector), now); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `
			DELETE FROM vectors WHERE key IN (SELECT key FROM vectors ORDER BY saved_at DESC, key LIMIT -1 OFFSET ?)`, most)
		return err
	})
}

const bytesPerFloat = 4

func blobOf(vector []float32) []byte {
	blob := make([]byte, 0, bytesPerFloat*len(vector))
	for _, x := range vector {
		blob = binary.LittleEndian.AppendUint32(blob, math.Float32bits(x))
	}
	return blob
}

func floats(blob []byte) []float32 {
	vector := make([]float32, 0, len(blob)/bytesPerFloat)
	for len(blob) >= bytesPerFloat {
		vector = append(vector, math.Float32frombits(binary.LittleEndian.Uint32(blob)))
		blob = blob[bytesPerFloat:]
	}
	return vector
}
