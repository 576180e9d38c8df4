-- +goose Up

CREATE TABLE workflows (
    id      TEXT    NOT NULL PRIMARY KEY,
    running INTEGER NOT NULL -- the version that is enabled; 0 for none
) STRICT, WITHOUT ROWID;

-- A version never changes, and there is none without those before it.
CREATE TABLE workflow_versions (
    workflow   TEXT    NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL CHECK (version > 0),
    definition TEXT    NOT NULL, -- a JSON object
    PRIMARY KEY (workflow, version)
) STRICT;

CREATE TABLE workflow_tests (
    workflow   TEXT NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
    id         TEXT NOT NULL,
    definition TEXT NOT NULL, -- a JSON object
    PRIMARY KEY (workflow, id)
) STRICT;

-- Scripts that hooks of several workflows use. As above, a version never changes.
CREATE TABLE hook_modules (
    id         TEXT    NOT NULL,
    version    INTEGER NOT NULL CHECK (version > 0),
    definition TEXT    NOT NULL, -- a JSON object
    PRIMARY KEY (id, version)
) STRICT;
