package n8n

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

var write = flag.Bool("write", false, "write what is seen into docs/e2e-n8n.md")

// Report is a table of what holds.
type Report struct {
	rows []row
}

type row struct {
	fact, result, seen string
	took               time.Duration
}

// Fact runs a subtest and notes what it returns, which is Markdown.
func (r *Report) Fact(t *testing.T, name string, check func(t *testing.T) (seen string)) {
	t.Helper()
	one := row{fact: name, result: "skipped"}
	start := time.Now()
	ok := t.Run(name, func(t *testing.T) {
		one.seen = check(t)
		one.result = "holds"
	})
	if !ok {
		one.result = "FAILS"
	}
	one.took = time.Since(start)
	r.rows = append(r.rows, one)
}

// String returns the table with its summary as Markdown.
func (r *Report) String() string {
	counts := map[string]int{}
	for _, one := range r.rows {
		counts[one.result]++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d facts hold, %d fail, %d are skipped.\n\n| what | | seen | ms |\n|---|---|---|---:|\n", counts["holds"], counts["FAILS"], counts["skipped"])
	for _, one := range r.rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", one.fact, one.result, strings.ReplaceAll(one.seen, "|", "\\|"), one.took.Milliseconds())
	}
	return b.String()
}

// Keep logs a part of the report and, with -write, puts it into docs/e2e-n8n.md between
// the marks of its name.
func (i *Instance) Keep(t *testing.T, name, text string) {
	t.Helper()
	t.Logf("%s:\n%s", name, text)
	if !*write {
		return
	}
	if !i.Own() {
		t.Fatal("the report is about the n8n that this starts; unset N8N_URL")
	}
	file := filepath.Join("docs", "e2e-n8n.md")
	for up := 0; up < 5; up++ {
		if _, err := os.Stat(file); err == nil {
			break
		}
		file = filepath.Join("..", file)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- begin: "+name+" -->\n", "<!-- end: "+name+" -->\n"
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no marks for %s", file, name)
	}
	if err := os.WriteFile(file, []byte(before+begin+text+end+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// machine describes what runs, as Markdown.
func (i *Instance) machine(t *testing.T, took time.Duration) string {
	t.Helper()
	return fmt.Sprintf("n8n %s, Node %d, %s/%s with %d cores: installed once in %v, ready after %.0f s, all of this in %.0f s without installing.\n"+
		"The installation has %d MB on the disk, the instance's folder %d MB; its processes had %d MB in memory at their highest.\n\n",
		i.version(t), nodeMajor, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), i.Installed.Round(time.Second), i.Started.Seconds(), took.Seconds(),
		megabytes(t, i.installation.dir), megabytes(t, i.Dir), i.peakMemory())
}

// version is the version of what is installed.
func (i *Instance) version(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(i.installation.dir, "node_modules", "n8n", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var about struct{ Version string }
	if err := json.Unmarshal(raw, &about); err != nil {
		t.Fatal(err)
	}
	return about.Version
}

// megabytes is the size of the files below a folder.
func megabytes(t *testing.T, dir string) int64 {
	t.Helper()
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if info, err := d.Info(); err == nil { // it may be gone: n8n runs
			sum += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum >> 20
}

// peakMemory adds the highest memory of each process of the group, in MB. It is 0
// where there is no /proc.
func (i *Instance) peakMemory() (megabytes int) {
	for _, process := range group(i.pid) {
		status, _ := os.ReadFile(filepath.Join(process, "status"))
		for line := range strings.Lines(string(status)) {
			if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				kilobytes, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
				megabytes += kilobytes >> 10
			}
		}
	}
	return megabytes
}

// group is the folders of /proc of the processes of a group.
func group(id int) (processes []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) > 2 && fields[2] == strconv.Itoa(id) {
			processes = append(processes, filepath.Dir(file))
		}
	}
	return processes
}
