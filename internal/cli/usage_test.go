package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"genkan/internal/lang"
)

// Flags are aligned by what a terminal shows, and their defaults are said in the language.
func TestFlagsInJapanese(t *testing.T) {
	c := &command{language: lang.Japanese}
	root := &cobra.Command{Use: "genkan", Version: "1", Run: func(*cobra.Command, []string) {}}
	root.Flags().Int("limit", 20, "表示する項目の`数`")
	root.Flags().Bool("all", false, "すべて")
	root.Flags().StringSlice("tag", nil, "この`タグ`の項目だけ")
	c.translateHelp(root)
	root.SetOut(io.Discard)
	root.AddCommand(&cobra.Command{Use: "ui", Short: "画面を開く", Run: func(*cobra.Command, []string) {}})
	const want = `使い方：
  genkan [オプション]
  genkan [コマンド]

コマンド：
  ui          画面を開く

オプション：
      --all        すべて
  -h, --help       genkan のヘルプを表示する
      --limit 数   表示する項目の数（既定：20）
      --tag タグ   このタグの項目だけ
  -v, --version    genkan のバージョンを表示する
`
	if got := root.UsageString(); !strings.Contains(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
