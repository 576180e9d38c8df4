package tokens_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"genkan/internal/tokens"
)

// samples are texts that the weights were not measured on.
func samples(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range []string{"english", "japanese", "code"} {
		text, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 20_000)
	for i := range data {
		data[i] = byte(random.UintN(256))
	}
	all["base64"] = base64.StdEncoding.EncodeToString(data)
	var numbers strings.Builder
	for range 3000 {
		fmt.Fprintln(&numbers, random.Uint64N(1<<(4+random.UintN(36))))
	}
	all["digits"] = numbers.String()

	words := strings.Fields(all["english"])
	var rows []map[string]any
	for i := range 400 {
		rows = append(rows, map[string]any{
			"orderId": 10_000 + i, "customer": words[random.IntN(len(words))] + " " + words[random.IntN(len(words))],
			"total": float64(random.IntN(100_000)) / 100, "paid": random.IntN(2) == 0, "note": nil,
			"shippedAt": fmt.Sprintf("2026-%02d-%02dT%02d:00:00Z", 1+random.IntN(12), 1+random.IntN(28), random.IntN(24)),
			"lines":     []map[string]any{{"sku": fmt.Sprintf("SKU-%05d", random.IntN(99_999)), "quantity": random.IntN(9)}},
		})
	}
	compact, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	indented, _ := json.MarshalIndent(rows, "", "  ")
	nested, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(compact)}}})
	all["JSON"], all["JSON with indents"], all["JSON in JSON"] = string(compact), string(indented), string(nested)
	all["mixed"] = all["english"][:4000] + all["japanese"][:4000] + all["JSON"][:4000] + all["code"][:4000]
	return all
}

func TestCountIsWithinTenPercentOfO200k(t *testing.T) {
	t.Parallel()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := codec.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			got := tokens.Count([]byte(text))
			off := float64(got-want) / float64(want)
			t.Logf("%d, o200k has %d (%+.1f %%)", got, want, 100*off)
			if off < -.1 || off > .1 {
				t.Errorf("%d tokens, o200k has %d", got, want)
			}
		})
	}
}

func TestEstimateIsCloseToCount(t *testing.T) {
	t.Parallel()
	for name, text := range samples(t) {
		got, want := tokens.Estimate([]byte(text)), tokens.Count([]byte(text))
		if float64(got) < .6*float64(want) || float64(got) > 1.6*float64(want) {
			t.Errorf("%s: estimated %d, counted %d", name, got, want)
		}
	}
}

func TestEmptyTextHasNoTokens(t *testing.T) {
	t.Parallel()
	if n := tokens.Count(nil) + tokens.Estimate(nil); n != 0 {
		t.Error(n)
	}
	if n := tokens.Count([]byte("a")); n != 1 {
		t.Error(n)
	}
}

func TestCountDoesNotAllocate(t *testing.T) {
	text := []byte(strings.Repeat("nothing is allocated, 何も ", 100))
	if n := testing.AllocsPerRun(10, func() { tokens.Count(text); tokens.Estimate(text) }); n != 0 {
		t.Error(n)
	}
}

// Fit agrees with Count but for texts that come within a tenth of the limit.
func TestFit(t *testing.T) {
	t.Parallel()
	all := samples(t)
	for name, text := range all {
		for len(text) < 60_000 {
			text += text
		}
		all[name] = text
	}
	// Rows of one length, which evenly spaced samples would always see at the same column.
	all["rows"] = strings.Repeat(fmt.Sprintf("%-511s\n", strings.Repeat("7f-Q", 60)), 512)
	for name, text := range all {
		n := tokens.Count([]byte(text))
		for most, want := range map[int]bool{n * 11 / 10: true, n: true, n * 9 / 10: false, n * 2: true, n / 2: false, len(text): true, 0: false} {
			if got := tokens.Fit([]byte(text), most); got != want {
				t.Errorf("%s: %d tokens fit in %d: %v", name, n, most, got)
			}
		}
	}
}

// Tokens that no sample sees count if the text is far longer than what fits.
func TestFitCountsUnusualTexts(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat(" ", 1000) + strings.Repeat("7f-Q", 15_000) + strings.Repeat(" ", 10_000_000))
	if n := tokens.Count(text); n < 26_000 || tokens.Fit(text, 25_000) {
		t.Errorf("%d tokens fit in 25000", n)
	}
}
