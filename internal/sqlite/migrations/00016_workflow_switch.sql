-- +goose Up

-- Whether workflows run at all. Without the row they do.
CREATE TABLE workflow_switch (
    only       INTEGER NOT NULL PRIMARY KEY CHECK (only = 1),
    off        INTEGER NOT NULL,
    changed_by TEXT    NOT NULL,
    changed_at INTEGER NOT NULL -- milliseconds since 1970
) STRICT;
