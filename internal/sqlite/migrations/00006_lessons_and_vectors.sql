-- +goose Up

-- What searches led to. Of a query only the stems of its words are kept.
CREATE TABLE lessons (
    id         INTEGER PRIMARY KEY,
    client     TEXT    NOT NULL, -- the name of its token, or local; * is everybody
    server     TEXT    NOT NULL,
    tool       TEXT    NOT NULL, -- the server's own name for it
    terms      TEXT    NOT NULL, -- a JSON array of strings
    times      INTEGER NOT NULL CHECK (times > 0),
    learned_at INTEGER NOT NULL, -- microseconds since 1970
    UNIQUE (client, server, tool, terms)
) STRICT;

-- Vectors of texts, by the hash of model and text. They can be made again.
CREATE TABLE vectors (
    key      BLOB    NOT NULL PRIMARY KEY,
    vector   BLOB    NOT NULL, -- 32-bit floats, little-endian
    saved_at INTEGER NOT NULL  -- microseconds since 1970
) STRICT, WITHOUT ROWID;
