package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	// indexFile is the page of every view.
	indexFile = "index.html"
	// hashedFiles have a hash of their content in their names, so that they never
	// change.
	hashedFiles = "assets/"
	// smallFile is the size below which compression gains nothing, in bytes.
	smallFile = 512
)

// file is a file of the front end. Its content stays in the binary, and its compressed
// content in memory once it was asked for.
type file struct {
	read    func() []byte
	kind    string // media type
	forever bool   // never changes
	// prepared is made at the first request.
	prepared func() prepared
}

// prepared is what is computed from the content of a file.
type prepared struct {
	id     string // hash of the content
	packed []byte // the compressed content; nil if compression gains nothing
}

// load finds all files.
func load(from fs.FS) (map[string]*file, error) {
	found := map[string]*file{}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		read := func() []byte {
			content, _ := fs.ReadFile(from, name) // it is in the binary
			return content
		}
		found[name] = &file{
			read: read, kind: mediaType(name), forever: strings.HasPrefix(name, hashedFiles),
			prepared: sync.OnceValue(func() prepared {
				content := read()
				sum := sha256.Sum256(content)
				return prepared{hex.EncodeToString(sum[:16]), pack(content)}
			}),
		}
		return nil
	})
	return found, err
}

// mediaType returns the media type of a file by its name. The table of the system
// differs from machine to machine, so it is used only for what is not in this one.
func mediaType(name string) string {
	switch extension := path.Ext(name); extension {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".json", ".map":
		return "application/json"
	case ".webmanifest":
		return "application/manifest+json"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".ico":
		return "image/x-icon"
	case ".woff2":
		return "font/woff2"
	case ".txt":
		return "text/plain; charset=utf-8"
	default:
		if known := mime.TypeByExtension(extension); known != "" {
			return known
		}
		return "application/octet-stream"
	}
}

// pack compresses content; nil if that gains less than a tenth.
func pack(content []byte) []byte {
	if len(content) < smallFile {
		return nil
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil
	}
	if _, err := z.Write(content); err != nil || z.Close() != nil || b.Len() > len(content)/10*9 {
		return nil
	}
	return slices.Clip(b.Bytes())
}

// serve answers a request for the file.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	ready := f.prepared()
	var body []byte
	tag := `"` + ready.id + `"`
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	if ready.packed != nil && acceptsGzip(r.Header) {
		body, tag = ready.packed, `"`+ready.id+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Etag", tag)
	h.Set("Cache-Control", "no-cache")
	if f.forever {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if has(r.Header["If-None-Match"], tag) {
		h.Del("Content-Type")
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if body == nil {
		body = f.read()
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	write(w, r, body)
}

// has reports whether a list of tags has a tag.
func has(lists []string, tag string) bool {
	for one := range strings.SplitSeq(strings.Join(lists, ","), ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/")
		if one == tag || one == "*" {
			return true
		}
	}
	return false
}

// acceptsGzip reports whether a client accepts gzip.
func acceptsGzip(h http.Header) bool {
	for one := range strings.SplitSeq(strings.Join(h["Accept-Encoding"], ","), ",") {
		coding, quality, weighted := strings.Cut(one, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		if !weighted {
			return true
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(quality), "q="), 64)
		return err == nil && q > 0
	}
	return false
}
