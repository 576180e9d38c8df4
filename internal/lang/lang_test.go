package lang

import (
	"regexp"
	"testing"
	"time"

	"genkan/internal/gateway"
)

func TestParse(t *testing.T) {
	for _, l := range []Language{English, Japanese} {
		if got, ok := Parse(l.String()); !ok || got != l {
			t.Errorf("%s is %v, %v", l, got, ok)
		}
	}
	for _, name := range []string{"", "JA", "fr", "japanese"} {
		if got, ok := Parse(name); ok || got != English {
			t.Errorf("%q is %v, %v", name, got, ok)
		}
	}
}

func TestSaying(t *testing.T) {
	down := gateway.Errorf(gateway.CodeUnavailable, "server %s is down: %s; next try in %s. `genkan servers %s` shows its last output",
		"one", gateway.Errorf(gateway.CodeUnavailable, "its process ended with %s", "exit status 3"), "1s", "one")
	for name, c := range map[string]struct {
		say           func(Language) string
		english, ours string
	}{
		"an error, and the one inside it": {
			func(l Language) string { return l.Error(down) },
			"server one is down: its process ended with exit status 3; next try in 1s. `genkan servers one` shows its last output",
			"サーバー「one」は停止しています：プロセスが終了しました（exit status 3）。1s 後に再試行します。最後の出力は `genkan servers one` で確認できます",
		},
		"values in another order": {
			func(l Language) string {
				return l.Sprintf("unknown key %q in %s; %s", "a", "b", gateway.Textf("did you mean %q?", "c"))
			},
			`unknown key "a" in b; did you mean "c"?`, `b の「a」は不明なキーです。もしかして「c」ですか？`,
		},
		"a duration": {
			func(l Language) string {
				return l.Text(gateway.Textf("started %s ago, has not listed its tools yet", 23*time.Second))
			},
			"started 23s ago, has not listed its tools yet", "23 秒前に起動し、ツールの一覧がまだ返されていません",
		},
		"short durations": {
			func(l Language) string {
				return l.Sprintf("%v", 730*time.Millisecond) + " " + l.Sprintf("%v", time.Duration(0)) + " " +
					l.Text(gateway.Textf("started %s ago, has not listed its tools yet", 200*time.Millisecond))
			},
			"730ms 0s started 200ms ago, has not listed its tools yet", "730 ms 0 秒 200 ms 前に起動し、ツールの一覧がまだ返されていません",
		},
		"long durations, as the configuration has them": {
			func(l Language) string {
				return l.Sprintf("%v, %v, %v", 90*time.Second, time.Hour, 49*time.Hour+time.Second) + "; " +
					l.Text(gateway.Textf("client %s made more than %d requests in %v; try again in %v", "admin", 10, 2*time.Minute, 11532*time.Millisecond))
			},
			"1m30s, 1h, 49h0m1s; client admin made more than 10 requests in 2m; try again in 11.532s",
			"1 分 30 秒, 1 時間, 49 時間 1 秒; クライアント「admin」のリクエストが 2 分間に 10 回を超えました。11.5 秒後にもう一度試してください",
		},
		"a list of names, and an exit status": {
			func(l Language) string {
				return l.Text(gateway.Textf("%s: entries that do not lead to genkan: %s", "f", gateway.Names([]string{"a", "b"}))) + " " +
					l.Text(gateway.Textf("its process ended with exit status %d", 1))
			},
			"f: entries that do not lead to genkan: a, b its process ended with exit status 1",
			"f：a、b は Genkan につながっていません プロセスが終了しました（終了コード 1）",
		},
		"a text": {
			func(l Language) string { return l.Text(gateway.Textf("it was stopped")) },
			"it was stopped", "停止されました",
		},
		"what another said": {
			func(l Language) string { return l.Error(gateway.Errorf(gateway.CodeUnavailable, "%s", "100%s of it")) },
			"100%s of it", "100%s of it",
		},
		"what nobody has translated": {
			func(l Language) string { return l.Error(&gateway.Error{Message: "it is %d% of it"}) },
			"it is %d% of it", "it is %d% of it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.say(English); got != c.english {
				t.Errorf("English: %s", got)
			}
			if got := c.say(Japanese); got != c.ours {
				t.Errorf("Japanese: %s", got)
			}
		})
	}
}

// Pages show a button in place of the command of a finding. Words about it do not go on
// from the command.
func TestAdviceOfTheDoctorStandsAlone(t *testing.T) {
	goesOn := regexp.MustCompile(`^(を|で[^きは]|または|その後)`)
	for english, japanese := range jaDoctor {
		if goesOn.MatchString(japanese) {
			t.Errorf("%q begins as if something stood before it: %s", english, japanese)
		}
	}
}
