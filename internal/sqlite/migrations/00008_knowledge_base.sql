-- +goose Up

-- The number of the last write to the knowledge base. It is not the change
-- sequence of the house: what caches of tokens care about is another thing.
CREATE TABLE kb_sequence (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    value INTEGER NOT NULL
) STRICT;
INSERT INTO kb_sequence (id, value) VALUES (1, 0);

-- The file beside the database that the text index was last built into. The row
-- is what makes a file valid: a database that was put back from a backup does not
-- name a file that was made after it, however its sequence has grown since.
CREATE TABLE kb_index (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    seq   INTEGER NOT NULL, -- the last write that is in it
    token TEXT    NOT NULL  -- random, part of the file's name
) STRICT;

-- An id is never used again and its name never changes, so that who has read the
-- two need not read them again.
CREATE TABLE kb_statuses (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    name     TEXT    NOT NULL UNIQUE,
    closed   INTEGER NOT NULL CHECK (closed IN (0, 1)),
    position INTEGER NOT NULL,
    UNIQUE (id, closed)
) STRICT;
INSERT INTO kb_statuses (name, closed, position) VALUES
    ('Open', 0, 0), ('Specification', 0, 1), ('Waiting', 0, 2), ('Ready', 0, 3), ('In Progress', 0, 4),
    ('Review', 0, 5), ('Testing', 0, 6), ('Pending', 0, 7), ('Completed', 1, 8), ('Closed', 1, 9),
    ('Canceled', 1, 10), ('Rejected', 1, 11);

-- Times are microseconds since 1970, UTC. The long text stands last, so that
-- reading what is before it does not touch its pages. "closed" is the status's,
-- here for the indexes; the foreign key keeps the two alike.
CREATE TABLE kb_items (
    id          INTEGER PRIMARY KEY AUTOINCREMENT, -- an id is never used again
    seq         INTEGER NOT NULL,                  -- the write that changed it last
    type        TEXT    NOT NULL,
    status      INTEGER NOT NULL,
    closed      INTEGER NOT NULL,
    priority    TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    start_at    INTEGER,
    end_at      INTEGER,
    title       TEXT    NOT NULL,
    category    TEXT    NOT NULL,
    version     TEXT    NOT NULL,
    description TEXT    NOT NULL,
    content     TEXT    NOT NULL,
    FOREIGN KEY (status, closed) REFERENCES kb_statuses (id, closed) ON UPDATE CASCADE
) STRICT;
-- Each ends with the id by itself, which is the order among equals.
CREATE INDEX kb_items_by_type ON kb_items (type, closed, updated_at);
CREATE INDEX kb_items_by_status ON kb_items (type, status, updated_at);
CREATE INDEX kb_items_by_time ON kb_items (closed, updated_at);
CREATE INDEX kb_items_by_seq ON kb_items (seq);

-- Items that are no more, for those who have derived something from them.
CREATE TABLE kb_deleted (
    id  INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL
) STRICT;
CREATE INDEX kb_deleted_by_seq ON kb_deleted (seq);

-- Ids that items had before their type was changed.
CREATE TABLE kb_moved (
    id   INTEGER PRIMARY KEY,
    type TEXT    NOT NULL,
    item INTEGER NOT NULL REFERENCES kb_items (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX kb_moved_by_item ON kb_moved (item);

-- Relations are stored once and read from both ends. "related" has no
-- direction, so its lower id stands first. The types of both ends are here, too:
-- an id has one type for ever, and reading all neighbours for it would be slow.
CREATE TABLE kb_relations (
    src      INTEGER NOT NULL REFERENCES kb_items (id),
    dst      INTEGER NOT NULL REFERENCES kb_items (id),
    kind     TEXT    NOT NULL,
    src_type TEXT    NOT NULL,
    dst_type TEXT    NOT NULL,
    PRIMARY KEY (src, dst, kind),
    CHECK (src <> dst AND (kind <> 'related' OR src < dst))
) STRICT, WITHOUT ROWID;
CREATE INDEX kb_relations_by_dst ON kb_relations (dst, src, src_type);

CREATE TABLE kb_tags (
    id    INTEGER PRIMARY KEY,
    name  TEXT    NOT NULL UNIQUE,
    items INTEGER NOT NULL -- how many have it; kept by the triggers below
) STRICT;

-- updated_at is the item's, here for the index: a tag's items are listed in its
-- order.
CREATE TABLE kb_item_tags (
    item       INTEGER NOT NULL REFERENCES kb_items (id),
    position   INTEGER NOT NULL,
    tag        INTEGER NOT NULL REFERENCES kb_tags (id),
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (item, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX kb_item_tags_by_tag ON kb_item_tags (tag, updated_at, item);

-- How many items there are, because lists tell and counting a million takes its
-- time.
CREATE TABLE kb_counts (
    type   TEXT    NOT NULL,
    status INTEGER NOT NULL REFERENCES kb_statuses (id),
    items  INTEGER NOT NULL,
    PRIMARY KEY (type, status)
) STRICT, WITHOUT ROWID;
CREATE INDEX kb_counts_by_status ON kb_counts (status);

CREATE TABLE kb_state (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    seq        INTEGER NOT NULL,
    content    TEXT    NOT NULL,
    updated_by TEXT    NOT NULL,
    updated_at INTEGER NOT NULL,
    tags       TEXT    NOT NULL -- a JSON array of strings
) STRICT;

CREATE TABLE kb_state_items (
    item INTEGER PRIMARY KEY REFERENCES kb_items (id) ON DELETE CASCADE
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER kb_items_counted AFTER INSERT ON kb_items BEGIN
    INSERT INTO kb_counts (type, status, items) VALUES (new.type, new.status, 1)
    ON CONFLICT (type, status) DO UPDATE SET items = items + 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER kb_items_recounted AFTER UPDATE OF type, status ON kb_items
WHEN old.type <> new.type OR old.status <> new.status BEGIN
    UPDATE kb_counts SET items = items - 1 WHERE type = old.type AND status = old.status;
    DELETE FROM kb_counts WHERE type = old.type AND status = old.status AND items = 0;
    INSERT INTO kb_counts (type, status, items) VALUES (new.type, new.status, 1)
    ON CONFLICT (type, status) DO UPDATE SET items = items + 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER kb_items_uncounted AFTER DELETE ON kb_items BEGIN
    UPDATE kb_counts SET items = items - 1 WHERE type = old.type AND status = old.status;
    DELETE FROM kb_counts WHERE type = old.type AND status = old.status AND items = 0;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER kb_tags_counted AFTER INSERT ON kb_item_tags BEGIN
    UPDATE kb_tags SET items = items + 1 WHERE id = new.tag;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER kb_tags_uncounted AFTER DELETE ON kb_item_tags BEGIN
    UPDATE kb_tags SET items = items - 1 WHERE id = old.tag;
    DELETE FROM kb_tags WHERE id = old.tag AND items = 0;
END;
-- +goose StatementEnd
