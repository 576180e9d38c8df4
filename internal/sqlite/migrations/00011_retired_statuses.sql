-- +goose Up

-- A status that is not configured any more stays for the items that have it: they
-- are read and listed by it, and nothing new gets it.
ALTER TABLE kb_statuses ADD COLUMN retired INTEGER NOT NULL DEFAULT 0 CHECK (retired IN (0, 1));
