package clients

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
	"genkan/internal/vault"
)

const canary = "gk_test_token"

// planFor connects every server of a file.
func planFor(imported Imported) Plan {
	plan := Plan{
		BaseURL: "http://127.0.0.1:3000", Token: canary,
		Command: []string{"/opt/genkan/bin/genkan", "--data", "/srv/example"},
		Servers: map[Place]string{},
	}
	for _, s := range imported.Servers {
		plan.Servers[Place{s.Section, s.OriginalName}] = s.Name
	}
	return plan
}

// Each golden file shows what a sample is read as, and what it becomes.
func TestSamples(t *testing.T) {
	for _, sample := range samples {
		t.Run(sample.data, func(t *testing.T) {
			f, src := fileOf(t, sample.client, sample.ending), testdata(t, sample.data)
			imported, err := f.Parse(src)
			if err != nil {
				t.Fatal(err)
			}
			plan := planFor(imported)
			connected, err := f.Connect(src, plan)
			if err != nil {
				t.Fatal(err)
			}
			var golden bytes.Buffer
			golden.WriteString("== read\n")
			dump(&golden, imported)
			golden.WriteString("== connected\n")
			golden.Write(connected)
			golden.WriteString("== aggregated\n")
			plan.Aggregate = true
			aggregated, err := f.Connect(src, plan)
			if err != nil {
				golden.WriteString(err.Error() + "\n")
			}
			golden.Write(aggregated)
			testkit.GoldenFile(t, filepath.Join("testdata", sample.data+".golden"), golden.Bytes())
		})
	}
}

func dump(b *bytes.Buffer, imported Imported) {
	for _, s := range imported.Servers {
		fmt.Fprintf(b, "%s (%q in %q)\n", s.Name, s.OriginalName, s.Section)
		line := func(key string, value any) {
			if fmt.Sprint(value) != fmt.Sprint(map[string]string{}) && fmt.Sprint(value) != "" && fmt.Sprint(value) != "[]" {
				fmt.Fprintf(b, "  %s: %v\n", key, value)
			}
		}
		line("type", s.Type)
		line("command", s.Command)
		line("args", fmt.Sprintf("%q", s.Args))
		for key, value := range sorted(s.Env) {
			line("env "+key, value.Reveal())
		}
		line("cwd", s.Cwd)
		line("envFile", s.EnvFile)
		line("url", s.URL)
		for key, value := range sorted(s.Headers) {
			line("header "+key, value.Reveal())
		}
		if s.Disabled {
			line("disabled", true)
		}
		if s.Timeout != 0 {
			line("timeout", s.Timeout)
		}
		if s.StartupTimeout != 0 {
			line("startup", s.StartupTimeout)
		}
		for _, l := range s.Secrets {
			line("secret", strings.TrimSpace(fmt.Sprint(l.Where, " ", l.Key, l.Index, " → ", l.Variable, " = ", l.Value.Reveal())))
		}
	}
	for _, n := range imported.Notes {
		fmt.Fprintf(b, "note %s %s: %s\n", n.Section, n.Server, n.Text)
	}
	for _, i := range imported.Inputs {
		fmt.Fprintf(b, "input {ID:%s Variable:%s Description:%s Default:%s Hidden:%v}\n", i.ID, i.Variable, i.Description, i.Default, i.Hidden)
	}
	fmt.Fprintf(b, "variables %v\n", imported.Variables)
}

// What is connected reads as genkan's own, and connecting again changes
// nothing.
func TestConnectedIsOwn(t *testing.T) {
	for _, sample := range samples {
		t.Run(sample.data, func(t *testing.T) {
			f, src := fileOf(t, sample.client, sample.ending), testdata(t, sample.data)
			before, err := f.Parse(src)
			if err != nil {
				t.Fatal(err)
			}
			plan := planFor(before)
			connected, err := f.Connect(src, plan)
			if err != nil {
				t.Fatal(err)
			}
			after, err := f.Parse(connected)
			if err != nil {
				t.Fatal(err)
			}
			if len(after.Servers) != 0 || len(after.Own) != len(before.Servers) {
				t.Errorf("%d servers are left and %d are own, of %d", len(after.Servers), len(after.Own), len(before.Servers))
			}
			again, err := f.Connect(connected, plan)
			if err != nil || !bytes.Equal(again, connected) {
				t.Errorf("connecting again changed the file (%v):\n%s", err, again)
			}
		})
	}
}

// A file that may be committed never has a token, nor a path of this machine.
func TestProjectFilesHaveNoToken(t *testing.T) {
	for _, sample := range samples {
		f, src := fileOf(t, sample.client, sample.ending), testdata(t, sample.data)
		if f.Scope != Project {
			continue
		}
		imported, err := f.Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, aggregate := range []bool{false, true} {
			plan := planFor(imported)
			plan.Aggregate = aggregate
			out, err := f.Connect(src, plan)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(out, []byte(canary)) || bytes.Contains(out, []byte("/opt/genkan")) {
				t.Errorf("%s:\n%s", sample.data, out)
			}
		}
	}
}

// Read, connect, undo: the bytes are those of before, whatever line ends, marks
// and modes the file has.
func TestUndoBringsBackTheBytes(t *testing.T) {
	t.Parallel()
	variants := map[string]func([]byte) []byte{
		"as it is":         func(b []byte) []byte { return b },
		"windows":          func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) },
		"byte order mark":  func(b []byte) []byte { return append([]byte(bom), b...) },
		"no last line end": func(b []byte) []byte { return bytes.TrimRight(b, "\n") },
	}
	for _, sample := range samples {
		for name, variant := range variants {
			t.Run(sample.data+" "+name, func(t *testing.T) {
				t.Parallel()
				f, src := fileOf(t, sample.client, sample.ending), variant(testdata(t, sample.data))
				dir := t.TempDir()
				f.Folder, f.Path = dir, filepath.Join(dir, "file"+filepath.Ext(f.Path))
				if err := os.WriteFile(f.Path, src, 0o700); err != nil {
					t.Fatal(err)
				}
				imported, err := Read(f)
				if err != nil {
					t.Fatal(err)
				}
				backups := Backups{Dir: filepath.Join(dir, "backups"), Vault: vault.NewMemory()}
				change, changed, err := backups.Connect(f, planFor(imported))
				if err != nil || !changed {
					t.Fatal(changed, err)
				}
				connected, err := os.ReadFile(f.Path)
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Count(connected, []byte("\n")) != bytes.Count(connected, []byte("\r\n")) && name == "windows" {
					t.Errorf("line ends are mixed:\n%q", connected)
				}
				if bytes.HasPrefix(src, []byte(bom)) != bytes.HasPrefix(connected, []byte(bom)) {
					t.Error("the byte order mark is not as before")
				}
				if bytes.HasSuffix(src, []byte("\n")) != bytes.HasSuffix(connected, []byte("\n")) && f.Format == JSON {
					t.Error("the end of the last line is not as before")
				}
				if exact, err := backups.Undo(change, false); err != nil || !exact {
					t.Fatal(exact, err)
				}
				if back, err := os.ReadFile(f.Path); err != nil || !bytes.Equal(back, src) {
					t.Errorf("undo left (%v):\n%s", err, back)
				}
				if info, _ := os.Stat(f.Path); info.Mode().Perm() != 0o700 {
					t.Errorf("the mode is %v", info.Mode())
				}
			})
		}
	}
}

// All that is not the entry stays: every line of the sample that does not
// belong to a transport is in the result, in its order.
func TestOtherLinesStay(t *testing.T) {
	for _, sample := range samples {
		f, src := fileOf(t, sample.client, sample.ending), testdata(t, sample.data)
		imported, err := f.Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		if len(imported.Servers) == 0 {
			t.Errorf("%s has no servers", sample.data)
		}
		out, err := f.Connect(src, Plan{Servers: map[Place]string{}})
		if err != nil || !bytes.Equal(out, src) {
			t.Errorf("%s: an empty plan changed it (%v)", sample.data, err)
		}
		// One entry at a time: the others keep every byte.
		plan := planFor(imported)
		for place, name := range maps.All(plan.Servers) {
			one := plan
			one.Servers = map[Place]string{place: name}
			out, err := f.Connect(src, one)
			if err != nil {
				t.Fatalf("%s %v: %v", sample.data, place, err)
			}
			prefix, suffix := common(src, out)
			if changed := string(src[prefix : len(src)-suffix]); strings.Count(changed, "\n") > 12 {
				t.Errorf("%s %v: too much was changed:\n%s", sample.data, place, changed)
			}
		}
	}
}

// common are how many bytes two texts share at their ends.
func common(a, b []byte) (prefix, suffix int) {
	for prefix < min(len(a), len(b)) && a[prefix] == b[prefix] {
		prefix++
	}
	for suffix < min(len(a), len(b))-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return prefix, suffix
}

func refusedWith(t *testing.T, err error, code gateway.Code, words ...string) {
	t.Helper()
	var e *gateway.Error
	if !errors.As(err, &e) || e.Code != code || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(e.Text(), w) }) {
		t.Errorf("got %v, want %v with %q", err, code, words)
	}
}

// The one entry takes the place of the first that it stands for, in a list
// too, and the others stay where they are.
func TestAggregateOfSome(t *testing.T) {
	for _, sample := range samples {
		f, src := fileOf(t, sample.client, sample.ending), testdata(t, sample.data)
		imported, err := f.Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range imported.Servers {
			plan := planFor(imported)
			plan.Aggregate = true
			plan.Servers = map[Place]string{{s.Section, s.OriginalName}: s.Name}
			out, err := f.Connect(src, plan)
			if err != nil {
				t.Errorf("%s without %s: %v", sample.data, s.Name, err)
				continue
			}
			after, err := f.Parse(out)
			if err != nil || len(after.Own) != 1 || len(after.Servers) != len(imported.Servers)-1 {
				t.Errorf("%s without %s (%v):\n%s", sample.data, s.Name, err, out)
			}
		}
	}
}
