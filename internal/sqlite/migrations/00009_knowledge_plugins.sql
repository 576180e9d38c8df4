-- +goose Up

-- Vectors of items, for searching by meaning. They can be made again, and go with
-- their item.
CREATE TABLE kb_vectors (
    item    INTEGER PRIMARY KEY REFERENCES kb_items (id) ON DELETE CASCADE,
    seq     INTEGER NOT NULL, -- the item's, when its text was read
    model   BLOB    NOT NULL, -- a hash
    text    BLOB    NOT NULL, -- the hash of what they are of
    chunks  INTEGER NOT NULL, -- how many vectors
    vectors BLOB    NOT NULL
) STRICT;

-- How far the vectors of the last model have been made.
CREATE TABLE kb_vectors_done (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    model BLOB    NOT NULL,
    seq   INTEGER NOT NULL,
    item  INTEGER NOT NULL
) STRICT;

-- What plugins of the knowledge base keep.
CREATE TABLE kb_plugin_values (
    plugin TEXT NOT NULL,
    key    TEXT NOT NULL,
    value  BLOB NOT NULL,
    PRIMARY KEY (plugin, key)
) STRICT, WITHOUT ROWID;
