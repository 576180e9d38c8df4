package app

import (
	"slices"
	"strings"
	"testing"

	"genkan/internal/logs"
)

// A server cannot fill the disk through the log: lists with thousands of bad
// entries are a few lines.
func TestAHostileListIsAFewLines(t *testing.T) {
	t.Parallel()
	const entries = 3000
	s := newSpeaker(t, slices.Concat(
		[]string{toolSaying("good", "Is good.")},
		slices.Repeat([]string{`{}`}, entries),
		slices.Repeat([]string{toolSaying("twice", "Is there twice.")}, entries),
		slices.Repeat([]string{`{"name":"` + strings.Repeat("n", 300) + `","inputSchema":7}`}, entries),
	)...)
	h := openHouse(t, servers(conf{"evil": s.conf()}))
	h.waitReady("evil")
	for _, message := range []string{"left out: definitions without a name", "left out: its name is taken", "left out: a definition cannot be used"} {
		if n := len(h.logLines(message)); n == 0 || n > logs.AtOnce {
			t.Errorf("%q was logged %d times", message, n)
		}
	}
	if size := len(h.log.String()); size > 100_000 {
		t.Errorf("the log has %d bytes", size)
	}
}

// A name that two servers have is told of once, however many views and reloads find
// it.
func TestANameThatIsTakenIsToldOfOnce(t *testing.T) {
	t.Parallel()
	one, two := newSpeaker(t, toolSaying("twice", "Is there twice.")), newSpeaker(t, toolSaying("twice", "Is there twice."))
	config := servers(conf{"one": with(one.conf(), conf{"prefix": ""}), "two": with(two.conf(), conf{"prefix": ""})})
	h := openHouse(t, config)
	h.waitReady("one", "two")
	for _, size := range []int{10, 20, 30} {
		h.reload(with(config, conf{"pageSize": size}))
		h.request("GET", "/v1/tools", "", nil)
	}
	if lines := h.logLines("left out: its name is taken"); len(lines) != 1 {
		t.Errorf("%d lines: %v", len(lines), lines)
	}
}
