package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"genkan/internal/gateway"
)

// Imports records which entry became which server: a client's name of a server may
// differ from genkan's, and two clients may have different servers of one name.
type Imports struct {
	Servers []Import `json:"servers"`
}

// Import is an imported entry.
type Import struct {
	Origin
	// Server is genkan's name.
	Server string `json:"server"`
	Digest string `json:"digest"`
}

// LoadImports reads the file at path; a missing file is empty.
func LoadImports(path string) (Imports, error) {
	var all Imports
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		e := gateway.Errorf(gateway.CodeInvalid, "%s, where imports are remembered, cannot be read; remove it, and import again", path)
		e.Err = err
		return all, e
	}
	return all, nil
}

// Save writes the file at path.
func (m Imports) Save(path string) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	src, missing, err := Contents(path)
	if err != nil || bytes.Equal(src, raw) {
		return err
	}
	return replace(path, src, missing, append(raw, '\n'))
}

// Add records the entries of a server.
func (m *Imports) Add(found Found) {
	for _, origin := range found.Origins {
		kept := m.Servers[:0]
		for _, i := range m.Servers {
			if i.Origin != origin {
				kept = append(kept, i)
			}
		}
		m.Servers = append(kept, Import{origin, found.Name, found.Digest})
	}
}

// Name returns genkan's name of an imported entry.
func (m Imports) Name(f File, place Place) (string, bool) {
	for _, i := range m.Servers {
		if i.Origin == (Origin{f.Client, f.Path, place.Section, place.Name}) {
			return i.Server, true
		}
	}
	return "", false
}

// named returns the name of the server that an entry was imported as. The digest
// must be the same; an import of the entry itself comes before that of another.
func (m Imports) named(origin Origin, digest string) (string, bool) {
	for _, i := range m.Servers {
		if i.Digest == digest && i.Origin == origin {
			return i.Server, true
		}
	}
	for _, i := range m.Servers {
		if i.Digest == digest {
			return i.Server, true
		}
	}
	return "", false
}
