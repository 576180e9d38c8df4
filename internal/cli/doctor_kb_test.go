package cli

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

func cmdManyItems(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var b bytes.Buffer
	for i := 1; i <= n; i++ {
		related := ""
		if i > 1 {
			related = fmt.Sprintf(`,"related":["docs-%d"]`, i-1)
		}
		fmt.Fprintf(&b, `{"id":%d,"type":"docs","title":"item %d","tags":["all"],"content":"common 設計 %d"%s}`+"\n", i, i, i, related)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o600))
}

// openDatabase opens one without what ours does for order.
func openDatabase(ts *testscript.TestScript, path string) *sql.DB {
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	ts.Check(err)
	db.SetMaxOpenConns(1)
	return db
}

func cmdSQL(ts *testscript.TestScript, _ bool, args []string) {
	db := openDatabase(ts, filepath.Join(ts.MkAbs(args[0]), "genkan.db"))
	for _, text := range args[1:] {
		_, err := db.Exec(text)
		ts.Check(err)
	}
	ts.Check(db.Close())
}

func cmdScribble(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	if offset, err := strconv.Atoi(args[1]); err == nil {
		files, err := filepath.Glob(filepath.Join(path, "*.index"))
		ts.Check(err)
		if len(files) != 1 {
			ts.Fatalf("the index files: %v", files)
		}
		rewrite(ts, files[0], func(content []byte) { content[offset] ^= 0x55 })
		return
	}
	db := openDatabase(ts, path)
	var root, size int64
	ts.Check(db.QueryRow("SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = ?", args[1]).Scan(&root, &size))
	_, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	ts.Check(err)
	ts.Check(db.Close())
	rewrite(ts, path, func(content []byte) {
		page := content[(root-1)*size : root*size]
		for page[0] == 2 || page[0] == 5 { // an inner page: on to its rightmost child
			child := int64(binary.BigEndian.Uint32(page[8:12]))
			page = content[(child-1)*size : child*size]
		}
		if at := bytes.LastIndex(page, []byte("docs")); page[0] == 10 && at > 0 {
			copy(page[at:], "dogs") // in an index, a wrong word
			return
		}
		for i := 8; i < 100; i++ {
			page[i] = 0xff
		}
	})
}

func rewrite(ts *testscript.TestScript, path string, change func(content []byte)) {
	content, err := os.ReadFile(path)
	ts.Check(err)
	change(content)
	ts.Check(os.WriteFile(path, content, 0o600))
}
