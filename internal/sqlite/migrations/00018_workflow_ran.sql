-- +goose Up

-- The version that was enabled last; 0 if none ever was. Of workflows that were stopped
-- before, nobody knows it.
ALTER TABLE workflows ADD COLUMN ran INTEGER NOT NULL DEFAULT 0;
UPDATE workflows SET ran = running;
