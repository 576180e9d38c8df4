-- +goose Up

-- Whether a server speaks the other era of MCP, too.
ALTER TABLE tool_lists ADD COLUMN both_eras INTEGER NOT NULL DEFAULT 0 CHECK (both_eras IN (0, 1));
