-- +goose Up

-- What else is kept of a server between runs: its other lists, what it says of
-- itself, and what was learnt by watching it.
ALTER TABLE tool_lists ADD COLUMN prompts      BLOB    NOT NULL DEFAULT x'';
ALTER TABLE tool_lists ADD COLUMN resources    BLOB    NOT NULL DEFAULT x'';
ALTER TABLE tool_lists ADD COLUMN templates    BLOB    NOT NULL DEFAULT x'';
ALTER TABLE tool_lists ADD COLUMN capabilities BLOB    NOT NULL DEFAULT x'';
ALTER TABLE tool_lists ADD COLUMN server_info  BLOB    NOT NULL DEFAULT x'';
ALTER TABLE tool_lists ADD COLUMN instructions TEXT    NOT NULL DEFAULT '';
ALTER TABLE tool_lists ADD COLUMN asks         INTEGER NOT NULL DEFAULT 0 CHECK (asks IN (0, 1));
ALTER TABLE tool_lists ADD COLUMN wants_roots  INTEGER NOT NULL DEFAULT 0 CHECK (wants_roots IN (0, 1));
