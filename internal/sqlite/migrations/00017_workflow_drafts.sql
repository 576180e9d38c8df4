-- +goose Up

-- The draft that a version is a step of; empty for none, and once the version has run. The
-- next step takes the place of the one before, so numbers may be missing.
ALTER TABLE workflow_versions ADD COLUMN draft TEXT NOT NULL DEFAULT '';
