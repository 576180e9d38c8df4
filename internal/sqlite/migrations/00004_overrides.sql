-- +goose Up

-- What people have said about tools. The key is the server's own name for the
-- tool, which does not change with the configuration.
CREATE TABLE overrides (
    server       TEXT    NOT NULL,
    tool         TEXT    NOT NULL,
    disabled     INTEGER NOT NULL CHECK (disabled IN (0, 1)),
    description  TEXT    NOT NULL,
    category     TEXT    NOT NULL,
    author       TEXT    NOT NULL,
    version      TEXT    NOT NULL,
    tags         TEXT    NOT NULL, -- a JSON array of strings
    examples     TEXT    NOT NULL, -- a JSON array of {description, parameters, expectedResult}
    dependencies TEXT    NOT NULL, -- a JSON array of strings
    PRIMARY KEY (server, tool)
) STRICT, WITHOUT ROWID;
