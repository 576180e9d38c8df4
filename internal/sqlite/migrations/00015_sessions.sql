-- +goose Up

-- Browsers that have signed in. Writing this does not move the change sequence.
CREATE TABLE sessions (
    hash       BLOB    NOT NULL PRIMARY KEY CHECK (length(hash) = 32), -- SHA-256 of the secret in the cookie
    token      BLOB    NOT NULL CHECK (length(token) = 32),            -- SHA-256 of the token whose rights it has
    created_at INTEGER NOT NULL,                                       -- microseconds since 1970, UTC
    used_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
