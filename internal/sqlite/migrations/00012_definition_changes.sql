-- +goose Up

-- Definitions of tools that a server changed, as a JSON array, and those that it
-- lists no more, as they came.
ALTER TABLE tool_lists ADD COLUMN changes BLOB NOT NULL DEFAULT x'';
ALTER TABLE tool_lists ADD COLUMN gone    BLOB NOT NULL DEFAULT x'';
