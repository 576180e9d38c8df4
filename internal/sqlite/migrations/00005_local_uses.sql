-- +goose Up

-- When a client that starts genkan, and so has no token, was last seen, about,
-- and what the program calls itself. Writing this does not move the change
-- sequence.
CREATE TABLE local_uses (
    name         TEXT    NOT NULL PRIMARY KEY, -- what genkan stdio was told
    last_used_at INTEGER NOT NULL,             -- microseconds since 1970, UTC
    last_client  TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
