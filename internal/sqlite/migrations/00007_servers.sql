-- +goose Up

-- Servers that were added to a running genkan, beside those of the
-- configuration file. The order of the rows is that of their addition.
CREATE TABLE servers (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    definition TEXT NOT NULL, -- a JSON object with the keys of a server in the file; secrets are references
    secrets    TEXT NOT NULL  -- a JSON array: the names of secrets that belong to it
) STRICT;
