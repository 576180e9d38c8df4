-- +goose Up

-- One row. Every transaction that changes anything adds one, so that a cache
-- in any process learns with one cheap read that it is out of date.
CREATE TABLE change_sequence (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    value INTEGER NOT NULL
) STRICT;
INSERT INTO change_sequence (id, value) VALUES (1, 0);

CREATE TABLE tokens (
    name       TEXT    PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256 of the secret
    admin      INTEGER NOT NULL CHECK (admin IN (0, 1)),
    created_at INTEGER NOT NULL                                   -- microseconds since 1970, UTC
) STRICT, WITHOUT ROWID;

-- The tools that each upstream server listed last.
CREATE TABLE tool_lists (
    server      TEXT    PRIMARY KEY,
    fingerprint TEXT    NOT NULL, -- of the configuration that the list came from
    era         TEXT    NOT NULL CHECK (era IN ('none', 'legacy', 'modern')),
    version     TEXT    NOT NULL, -- of the protocol
    saved_at    INTEGER NOT NULL, -- microseconds since 1970, UTC
    tools       BLOB    NOT NULL  -- JSON array, as it came
) STRICT;
