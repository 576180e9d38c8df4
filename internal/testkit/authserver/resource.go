package authserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const headerPath = "/metadata/of/the/resource"

// resourceHandler is the MCP server, the SDK's, behind a guard of our own.
func (s *Server) resourceHandler() http.Handler {
	mux := http.NewServeMux()
	if s.options.Legacy {
		mux.Handle("/", s.issuerHandler())
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	mux.HandleFunc("GET "+headerPath, s.describe(AtHeader))
	mux.HandleFunc("GET "+wellKnown+"/mcp", s.describe(AtPath))
	mux.HandleFunc("GET "+wellKnown, s.describe(AtRoot))
	mux.Handle("/mcp", s.guard(tools(s.options.SSE)))
	return mux
}

func tools(sse bool) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "behind-a-lock", Version: "1"}, nil)
	say := func(_ context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil, nil
	}
	mcp.AddTool(server, &mcp.Tool{Name: "read"}, say)
	mcp.AddTool(server, &mcp.Tool{Name: "write"}, say)
	if sse {
		return mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return server }, nil)
	}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

func (s *Server) describe(at ResourceMetadata) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o := s.now()
		if o.NoMetadata || o.Legacy || at != o.ResourceMetadata {
			http.NotFound(w, r)
			return
		}
		m := map[string]any{"resource": s.audience(o), "authorization_servers": []string{s.Issuer()}}
		if o.ClaimResource != "" {
			m["resource"] = o.ClaimResource
		}
		if o.Scopes != nil {
			m["scopes_supported"] = o.Scopes
		}
		answerJSON(w, http.StatusOK, m)
	}
}

// audience is who tokens must be for. What is described at the root is the
// whole origin.
func (s *Server) audience(o Options) string {
	if o.ResourceMetadata == AtRoot && !o.Legacy {
		return s.serverOrigin()
	}
	return s.URL()
}

// guard lets in who has a token for this server that is good for the call.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o := s.now()
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		s.mu.Lock()
		s.tokens = append(s.tokens, r.Header.Get("Authorization"))
		g := s.grants[token]
		good := g != nil && !*g.revoked && g.resource == s.audience(o) && (g.expires.IsZero() || o.Now().Before(g.expires))
		s.mu.Unlock()
		if o.Open {
			next.ServeHTTP(w, r)
			return
		}
		if !good {
			s.challenge(w, o, http.StatusUnauthorized, "", o.Scopes)
			return
		}
		need := o.Scopes
		if extra := o.ToolScopes[toolOf(body)]; extra != "" {
			need = []string{extra}
		}
		for _, scope := range need {
			if !slices.Contains(g.scopes, scope) {
				s.challenge(w, o, http.StatusForbidden, "insufficient_scope", need)
				return
			}
		}
		s.count("call")
		if toolOf(body) != "" {
			s.count("tool")
		}
		next.ServeHTTP(w, r)
	})
}

func toolOf(body []byte) string {
	var message struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &message) != nil || message.Method != "tools/call" {
		return ""
	}
	return message.Params.Name
}

func (s *Server) challenge(w http.ResponseWriter, o Options, status int, reason string, scopes []string) {
	parts := []string{`Bearer realm="mcp"`}
	if reason != "" {
		parts = append(parts, `error="`+reason+`"`)
	}
	if len(scopes) > 0 {
		parts = append(parts, `scope="`+strings.Join(scopes, " ")+`"`)
	}
	if o.ResourceMetadata == AtHeader && !o.Legacy && !o.NoMetadata {
		parts = append(parts, `resource_metadata="`+s.serverOrigin()+headerPath+`"`)
	}
	w.Header().Set("WWW-Authenticate", strings.Join(parts, ", "))
	http.Error(w, http.StatusText(status), status)
}
