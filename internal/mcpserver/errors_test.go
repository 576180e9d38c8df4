package mcpserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/lang"
)

// Every code has an answer of its own: a result if the model or its user can act on
// it, and an error otherwise.
func TestWhichFailuresAreResults(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"internal":        "result",
		"invalid":         "result",
		"unauthenticated": "result",
		"denied":          "result",
		"not_found":       "error -32602",
		"conflict":        "result",
		"limited":         "result",
		"unavailable":     "result",
		"timeout":         "result",
		"canceled":        "result",
		"by the client":   "error 499", // who does not wait for it
	}
	got := map[string]string{}
	for _, code := range gateway.Codes() {
		if _, ok := shownToModels[code]; !ok {
			t.Errorf("the table lacks %s", code)
		}
		message, _, _ := encodeCallError([]byte("1"), "tools/call", &gateway.Params{}, gateway.Errorf(code, "no"), lang.English)
		got[code.String()] = kindOfAnswer(t, message)
	}
	waiting := &gateway.Error{Code: gateway.CodeCanceled, Message: "no", Err: errCanceledByClient}
	message, _, _ := encodeCallError([]byte("1"), "tools/call", &gateway.Params{}, waiting, lang.English)
	got["by the client"] = kindOfAnswer(t, message)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func kindOfAnswer(t *testing.T, message []byte) string {
	t.Helper()
	var m struct {
		Result struct{ IsError bool }
		Error  *struct{ Code int }
	}
	if err := json.Unmarshal(message, &m); err != nil {
		t.Fatalf("%s: %v", message, err)
	}
	switch {
	case m.Error != nil:
		return fmt.Sprintf("error %d", m.Error.Code)
	case m.Result.IsError:
		return "result"
	default:
		return string(message)
	}
}

// The result has the message for the model and the details for programs.
func TestAFailedCallAsAResult(t *testing.T) {
	t.Parallel()
	here := gateway.Span{End: 1}
	limited := &gateway.Error{Code: gateway.CodeLimited, Message: "the call was canceled", RetryAfter: 1500 * time.Millisecond}
	field := gateway.Errorf(gateway.CodeInvalid, "a \"text\"")
	field.Field = "a.b"
	for name, c := range map[string]struct {
		err      error
		method   string
		params   gateway.Params
		language lang.Language
		want     string
	}{
		"legacy": {
			err:  limited,
			want: `"result":{"content":[{"type":"text","text":"the call was canceled"}],"isError":true,"_meta":{"genkan/error":{"code":"limited","retryAfterMs":1500}}}`,
		},
		"modern": {
			err: field, params: gateway.Params{Version: here},
			want: `"result":{"resultType":"complete","content":[{"type":"text","text":"a \"text\""}],"isError":true,"_meta":{"genkan/error":{"code":"invalid","field":"a.b"}}}`,
		},
		"in Japanese": {
			err: limited, language: lang.Japanese,
			want: `"result":{"content":[{"type":"text","text":"呼び出しはキャンセルされました"}],"isError":true,"_meta":{"genkan/error":{"code":"limited","retryAfterMs":1500}}}`,
		},
		"disabled, with its own code": {
			err:  fmt.Errorf("wrapped: %w", catalog.Disabled("x")),
			want: `"result":{"content":[{"type":"text","text":"Tool is disabled: x. An admin has switched it off. Do not work around that: ask the user, who can have it switched on again"}],"isError":true,"_meta":{"genkan/error":{"code":"disabled"}}}`,
		},
		"not a tool's call": {
			err: limited, method: "prompts/get",
			want: `"error":{"code":429,"message":"the call was canceled","data":{"code":"limited","retryAfterMs":1500}}`,
		},
		"a call that makes a task": {
			err: limited, params: gateway.Params{Task: here},
			want: `"error":{"code":429,"message":"the call was canceled","data":{"code":"limited","retryAfterMs":1500}}`,
		},
		"a state that is not valid": {
			err: field, params: gateway.Params{Version: here, RequestState: here},
			want: `"error":{"code":-32602,"message":"a \"text\"","data":{"code":"invalid","field":"a.b"}}`,
		},
		"a server's own error": {
			err:  &gateway.Error{Code: gateway.CodeInvalid, Message: "x", RPC: []byte(`{"code":7,"message":"y","data":1.50}`)},
			want: `"error":{"code":7,"message":"y","data":1.50}`,
		},
		"headers that do not agree": {
			err:  &gateway.Error{Code: gateway.CodeInvalid, Message: "x", Err: jsonrpc.ErrHeaderMismatch},
			want: `"error":{"code":-32020,"message":"x"}`,
		},
		"a refusal of the protocol": {
			err:  invalidRequest("x"),
			want: `"error":{"code":-32600,"message":"x"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.method == "" {
				c.method = "tools/call"
			}
			message, status, _ := encodeCallError([]byte(`"i"`), c.method, &c.params, c.err, c.language)
			if want := `{"jsonrpc":"2.0","id":"i",` + c.want + `}`; string(message) != want {
				t.Errorf("got  %s\nwant %s", message, want)
			}
			if kindOfAnswer(t, message) == "result" && status != http.StatusOK {
				t.Errorf("the status of a result is %d", status)
			}
		})
	}
}
