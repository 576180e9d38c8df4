package api

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

// What the knowledge base answers, and what becomes of it here.
func TestItemFailures(t *testing.T) {
	t.Parallel()
	a := New(Options{Log: slog.New(slog.DiscardHandler)})
	for name, c := range map[string]struct {
		said       string
		status     int
		code, text string
		field      string
	}{
		"not found":     {`{"code":1001,"message":"Item not found","data":{"details":{"requested_id":"docs-9"}}}`, 404, "ITEM_NOT_FOUND", "Item not found: docs-9", ""},
		"a wrong field": {`{"code":1002,"message":"Validation failed","data":{"details":{"field":"statuses[2]","constraint":"Must be a string"}}}`, 400, "VALIDATION_ERROR", "Validation failed: status[2]: Must be a string", "status[2]"},
		"several fields": {
			`{"code":1002,"message":"Validation failed","data":{"details":{"field":"types[0]","constraint":"A","others":[{"field":"statuses","constraint":"B"},{"field":"tag","constraint":"C"}],"more":4}}}`,
			400, "VALIDATION_ERROR", "Validation failed: type[0]: A; status: B; tag: C; and 4 more", "type[0]",
		},
		"wrong as a whole":   {`{"code":1002,"message":"Validation failed","data":{"details":{}}}`, 400, "VALIDATION_ERROR", "Validation failed", ""},
		"the database":       {`{"code":1003,"message":"Database error","data":{"details":{"message":"it is locked"}}}`, 500, "DATABASE_ERROR", "Database error: it is locked", ""},
		"no space":           {`{"code":1003,"message":"Database error","data":{"details":{"message":"the disk is full","reason":"no_space"}}}`, 507, "DATABASE_ERROR", "Database error: the disk is full", ""},
		"a constraint":       {`{"code":1004,"message":"Constraint violation","data":{"details":{"field":"status","message":"Referenced status does not exist"}}}`, 409, "CONSTRAINT_VIOLATION", "Constraint violation: Referenced status does not exist", "status"},
		"not allowed":        {`{"code":1005,"message":"Permission denied","data":{"details":{"message":"not you"}}}`, 403, "PERMISSION_DENIED", "Permission denied: not you", ""},
		"somebody's else":    {`{"code":7}`, 500, "TOOL_EXECUTION_ERROR", "Tool execution failed: get_items: said as a text", ""},
		"nothing structured": {`null`, 500, "TOOL_EXECUTION_ERROR", "Tool execution failed: get_items: said as a text", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			a.itemFailure(w, "get_items", &gateway.Result{IsError: true, Raw: []byte(`{"isError":true,"content":[{"type":"text","text":"said as a text"}],"structuredContent":` + c.said + `}`)})
			var got client.Failure
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if w.Code != c.status || got.Code != c.code || got.Error != c.text || got.Field != c.field || got.Timestamp == "" {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if strings.Contains(c.said, "details") && got.Details == nil {
				t.Error("the details are lost")
			}
		})
	}
}
