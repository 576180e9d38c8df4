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

// file is a file of the front end.
type file struct {
	content  []byte
	kind, id string // media type, and hash of the content
	forever  bool   // never changes
	// packed compresses the content, once; nil if that gains nothing.
	packed func() []byte
}

// load reads all files.
func load(from fs.FS) (map[string]*file, error) {
	loaded := map[string]*file{}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(from, name)
		loaded[name] = newFile(name, content)
		return err
	})
	return loaded, err
}

func newFile(name string, content []byte) *file {
	sum := sha256.Sum256(content)
	return &file{
		content: content, kind: mediaType(name), id: hex.EncodeToString(sum[:16]),
		forever: strings.HasPrefix(name, hashedFiles),
		packed:  sync.OnceValue(func() []byte { return pack(content) }),
	}
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
	body, tag := f.content, `"`+f.id+`"`
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	if acceptsGzip(r.Header) {
		if packed := f.packed(); packed != nil {
			body, tag = packed, `"`+f.id+`-gzip"`
			h.Set("Content-Encoding", "gzip")
		}
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
