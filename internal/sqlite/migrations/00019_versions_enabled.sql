-- +goose Up

-- When a version was enabled last, in milliseconds; 0 if it never was. Of what was enabled
-- before, nobody knows it.
ALTER TABLE workflow_versions ADD COLUMN enabled_at INTEGER NOT NULL DEFAULT 0;
