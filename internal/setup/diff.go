package setup

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

const (
	// aroundChange is how many unchanged lines a diff shows on each side of a change.
	aroundChange = 2
	// maxCompared bounds the work of a diff. Larger changes are shown as a whole.
	maxCompared = 1 << 22
)

// diff returns the lines of two texts that differ, with "-" and "+" before them, and
// those around them, with " ". "…" stands for the lines between.
func diff(before, after string) []string {
	a, b := linesOf(before), linesOf(after)
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var all []string
	for _, line := range a[:start] {
		all = append(all, " "+line)
	}
	all = append(all, compared(a[start:len(a)-end], b[start:len(b)-end])...)
	for _, line := range a[len(a)-end:] {
		all = append(all, " "+line)
	}
	return nearChanges(all)
}

// inLines returns two versions of a file for a diff. Those of a JSON file on one line are
// indented, so that their lines can be compared.
func inLines(before, after []byte) (a, b string) {
	var first, second bytes.Buffer
	if bytes.ContainsRune(bytes.TrimSpace(before), '\n') ||
		json.Indent(&first, before, "", "  ") != nil || json.Indent(&second, after, "", "  ") != nil {
		return string(before), string(after)
	}
	return first.String(), second.String()
}

func linesOf(text string) []string {
	text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// compared returns all lines of two lists, by their longest common subsequence.
func compared(a, b []string) []string {
	var out []string
	if len(a)*len(b) > maxCompared {
		for _, line := range a {
			out = append(out, "-"+line)
		}
		for _, line := range b {
			out = append(out, "+"+line)
		}
		return out
	}
	longest := make([][]int, len(a)+1) // of what begins at i and j
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, " "+a[i])
			i++
			j++
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			out = append(out, "-"+a[i])
			i++
		default:
			out = append(out, "+"+b[j])
			j++
		}
	}
	return out
}

// nearChanges leaves out the lines that are far from any change.
func nearChanges(all []string) []string {
	near := make([]bool, len(all))
	for i, line := range all {
		if line[0] == ' ' {
			continue
		}
		for j := max(0, i-aroundChange); j <= min(len(all)-1, i+aroundChange); j++ {
			near[j] = true
		}
	}
	var out []string
	for i, line := range all {
		switch {
		case near[i]:
			out = append(out, line)
		case i == 0 || near[i-1]:
			out = append(out, "…")
		}
	}
	if !slices.Contains(near, true) {
		return nil
	}
	return out
}
