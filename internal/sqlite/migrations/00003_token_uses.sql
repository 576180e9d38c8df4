-- +goose Up

-- When a token was last used, about, and what the program that used it calls
-- itself. Writing this does not move the change sequence.
ALTER TABLE tokens ADD COLUMN last_used_at INTEGER; -- microseconds since 1970, UTC; NULL for never
ALTER TABLE tokens ADD COLUMN last_client  TEXT NOT NULL DEFAULT '';
