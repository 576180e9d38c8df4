package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"genkan/internal/gateway"
)

// Backup is a temporary copy of the database. Close removes it.
type Backup interface {
	io.ReadCloser
	Size() int64
}

// databaseMedia is the media type of a SQLite file.
const databaseMedia = "application/vnd.sqlite3"

func (a *API) backupRoute() route {
	return route{
		method: "GET", path: "/v1/backup", who: forAdmins, id: "backup", summary: "Download a copy of the database",
		about: "It has all that was written before it began, and was checked: the knowledge base, servers that were added, what was said about tools, " +
			"tokens (as hashes), and what was learned. Not in it are the secrets and sign-ins of the vault, the admin token and genkan.yaml. " +
			"A download that fails midway breaks the connection.",
		answer: "", media: databaseMedia,
		failures: []restError{restErrorOf(gateway.CodeConflict)}, serve: a.backup,
	}
}

func (a *API) backup(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", databaseMedia)
		return
	}
	copied, err := a.opt.Backup(r.Context())
	if err != nil {
		a.fail(w, err)
		return
	}
	defer func() { _ = copied.Close() }()
	a.opt.Log.Info("a backup was downloaded", "client", id.ClientID, "remote_address", r.RemoteAddr)
	h := w.Header()
	h.Set("Content-Type", databaseMedia)
	h.Set("Content-Length", strconv.FormatInt(copied.Size(), 10))
	h.Set("Content-Disposition", `attachment; filename="genkan-`+time.Now().UTC().Format("20060102-150405")+`.db"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	if err := copyAnswer(r.Context(), w, copied); err != nil {
		if r.Context().Err() == nil {
			a.opt.Log.Error("a backup broke off", "error", err)
		}
		panic(http.ErrAbortHandler) // the only way to signal that the answer is incomplete
	}
}

// copyAnswer copies a long answer. A caller that stops reading is disconnected.
func copyAnswer(ctx context.Context, w http.ResponseWriter, from io.Reader) error {
	const piece = 1 << 20
	control := http.NewResponseController(w)
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	for ctx.Err() == nil {
		_ = control.SetWriteDeadline(time.Now().Add(writeTime))
		if _, err := io.CopyN(w, from, piece); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return ctx.Err()
}
