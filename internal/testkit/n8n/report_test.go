package n8n

import (
	"bytes"
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

// docs is the page with the report, which stands between the marks.
const (
	docs      = "../../../docs/e2e-n8n.md"
	beginMark = "<!-- begin: generated -->\n"
	endMark   = "<!-- end: generated -->\n"
)

// report is a table of what holds.
type report struct {
	start time.Time
	rows  []row
}

type row struct {
	fact, result, seen string
	took               time.Duration
}

// fact runs a subtest and notes what it returns, which is Markdown.
func (r *report) fact(t *testing.T, name string, check func(t *testing.T) (seen string)) {
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

// finish prints the summary and, with -write, keeps the report.
func (r *report) finish(t *testing.T, i *Instance) {
	t.Helper()
	counts := map[string]int{}
	for _, one := range r.rows {
		counts[one.result]++
	}
	summary := fmt.Sprintf("%d facts hold, %d fail, %d are skipped", counts["holds"], counts["FAILS"], counts["skipped"])
	t.Log(summary)
	if !*write {
		return
	}
	if !i.Own() {
		t.Fatal("the report is about the n8n that this starts; unset N8N_URL")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "n8n %s, Node %d, %s/%s with %d cores: installed once in %v, ready after %.0f s, all of this in %.0f s without installing.\n", i.version(t), nodeMajor,
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), i.Installed.Round(time.Second), i.Started.Seconds(), time.Since(r.start).Seconds())
	fmt.Fprintf(&b, "The installation has %d MB on the disk, the instance's folder %d MB; its processes had %d MB in memory at their highest.\n", megabytes(t, i.installation.dir), megabytes(t, i.Dir), i.peakMemory())
	t.Log(b.String())
	fmt.Fprintf(&b, "\n%s.\n\n| what | | seen | ms |\n|---|---|---|---:|\n", summary)
	for _, one := range r.rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", one.fact, one.result, strings.ReplaceAll(one.seen, "|", "\\|"), one.took.Milliseconds())
	}
	page, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := bytes.Cut(page, []byte(beginMark))
	_, after, ok2 := bytes.Cut(rest, []byte(endMark))
	if !ok || !ok2 {
		t.Fatalf("%s has no marks", docs)
	}
	if err := os.WriteFile(docs, []byte(string(before)+beginMark+b.String()+endMark+string(after)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// jsonCode is a status and a body as Markdown.
func jsonCode(status int, body string) string {
	return fmt.Sprintf("%d `%s`", status, strings.ReplaceAll(body, "\n", " "))
}

// version is the version of what is installed.
func (i *Instance) version(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(i.installation.dir, "node_modules", "n8n", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	return decode[struct{ Version string }](t, raw).Version
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
