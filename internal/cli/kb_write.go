package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

// itemFlags are the flags for the fields of an item.
type itemFlags struct {
	title, description, content, file   string
	status, priority, category, version string
	start, end                          string
	tags, related                       []string
	addTags, removeTags                 []string
}

// add adds the flags that new items and changes share.
func (f *itemFlags) add(c *command, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.description, "description", "", c.say("a short `text` about it"))
	flags.StringVar(&f.content, "content", "", c.say("its content in Markdown, or - to read it from standard input (`text`)"))
	flags.StringVar(&f.file, "file", "", c.say("`file` to read its content from"))
	flags.StringVar(&f.status, "status", "", c.say("its `status`, such as Open or Completed"))
	flags.StringVar(&f.priority, "priority", "", c.say("its `priority`: CRITICAL, HIGH, MEDIUM, LOW or MINIMAL"))
	flags.StringVar(&f.category, "category", "", c.say("its `category`"))
	flags.StringVar(&f.version, "version", "", c.say("its `version`"))
	flags.StringVar(&f.start, "start", "", c.say("when it starts, a date or a time (`time`)"))
	flags.StringVar(&f.end, "end", "", c.say("when it ends, a date or a time (`time`)"))
	cmd.MarkFlagsMutuallyExclusive("content", "file")
}

// readContent returns the content that the flags name.
func (c *command) readContent(f itemFlags) (string, error) {
	name, raw := f.file, []byte(f.content)
	var err error
	switch {
	case f.file != "":
		raw, err = os.ReadFile(f.file)
	case f.content == "-":
		name = "-"
		raw, err = io.ReadAll(c.std.In)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", gateway.Errorf(gateway.CodeNotFound, "there is no file %s", name)
	}
	if err != nil {
		return "", &gateway.Error{Code: gateway.CodeInvalid, Err: err, Message: "%s cannot be read", Values: []any{name}}
	}
	if !utf8.Valid(raw) {
		return "", noText(name)
	}
	return string(raw), nil
}

func (c *command) kbAdd() *cobra.Command {
	var f itemFlags
	cmd := c.jsonFlag(&cobra.Command{
		Use: "add TYPE TITLE", Short: c.say("Make an item"), Args: arguments(2, 2),
		Long: c.say(`Make an item. TYPE is any word: notes, issues, decisions.

  genkan kb add notes "Where the keys are" --content "Under the mat." --tag house
  genkan kb add docs "API design" --file api.md --related notes-1
  date | genkan kb add log Today --content -`),
		RunE: func(cmd *cobra.Command, args []string) error {
			content, err := c.readContent(f)
			if err != nil {
				return err
			}
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			item, err := remote.AddItem(cmd.Context(), client.NewItem{
				Type: args[0], Title: args[1], Description: f.description, Content: content, Status: c.meantStatus(cmd.Context(), remote, f.status), Priority: f.priority,
				Category: f.category, Version: f.version, StartDate: f.start, EndDate: f.end, Tags: f.tags, Related: f.related,
			})
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(item)
			}
			fmt.Fprintln(c.std.Out, c.say("Made %s.", gateway.Printable(item.Ref())))
			return nil
		},
	})
	f.add(c, cmd)
	cmd.Flags().StringArrayVar(&f.tags, "tag", nil, c.say("a `tag` that it has; may be repeated"))
	cmd.Flags().StringArrayVar(&f.related, "related", nil, c.say("an `item` that it is related to, such as docs-12; may be repeated"))
	return cmd
}

func (c *command) kbEdit() *cobra.Command {
	var f itemFlags
	var kind string
	cmd := c.jsonFlag(&cobra.Command{
		Use: "edit ITEM", Short: c.say("Change an item"), Args: arguments(1, 1),
		Long: c.say(`Change an item. What is not named stays; an empty value clears a field. --tag and
--related replace all tags and relations that there are. --add-tag, --remove-tag,
"genkan kb relate" and "genkan kb unrelate" leave the others.

  genkan kb edit issues-7 --status Completed --add-tag done --remove-tag urgent
  genkan kb edit issues-7 --tag "" --related docs-1 --related docs-2
  genkan kb edit notes-1 --file keys.md
  genkan kb edit notes-1 --type docs

With another type an item gets another id; its old reference goes on finding it.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			changes, err := c.itemChanges(cmd, f)
			if err != nil {
				return err
			}
			if len(changes) == 0 && kind == "" {
				return gateway.Errorf(gateway.CodeInvalid, "nothing to change; `genkan kb edit --help` shows what can be")
			}
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			if _, ok := changes["status"]; ok && f.status != "" {
				changes["status"] = c.meantStatus(cmd.Context(), remote, f.status)
			}
			ref := args[0]
			var item client.Item
			if len(changes) > 0 {
				if item, err = remote.ChangeItem(cmd.Context(), ref, changes); err != nil {
					return err
				}
				ref = item.Ref()
			}
			if kind != "" {
				dropped := item
				if item, err = remote.ChangeItemType(cmd.Context(), ref, kind); err != nil {
					return err
				}
				item.DroppedTags, item.DroppedRelated = dropped.DroppedTags, dropped.DroppedRelated
			}
			if c.asJSON {
				return c.json(item)
			}
			fmt.Fprintln(c.std.Out, c.say("Changed %s.", gateway.Printable(item.Ref())))
			if len(item.DroppedTags) > 0 {
				fmt.Fprintln(c.std.Out, c.say("Tags that it no longer has: %s. --add-tag adds without replacing.", gateway.Printable(strings.Join(item.DroppedTags, ", "))))
			}
			if len(item.DroppedRelated) > 0 {
				fmt.Fprintln(c.std.Out, c.say("It is no longer related to %s. `genkan kb relate` adds without replacing.", gateway.Printable(strings.Join(item.DroppedRelated, ", "))))
			}
			return nil
		},
	})
	f.add(c, cmd)
	cmd.Flags().StringVar(&f.title, "title", "", c.say("its `title`"))
	cmd.Flags().StringArrayVar(&f.tags, "tag", nil, c.say("a `tag` that it has; replaces all that there are; may be repeated"))
	cmd.Flags().StringArrayVar(&f.addTags, "add-tag", nil, c.say("a `tag` to add; may be repeated"))
	cmd.Flags().StringArrayVar(&f.removeTags, "remove-tag", nil, c.say("a `tag` to take away; may be repeated"))
	cmd.Flags().StringArrayVar(&f.related, "related", nil, c.say("an `item` that it is related to; replaces all that there are; may be repeated"))
	cmd.Flags().StringVar(&kind, "type", "", c.say("another `type` for it"))
	return cmd
}

// kbRelate adds or removes relations of items. The other relations stay, even if
// another client changes them at the same time.
func (c *command) kbRelate(relate bool) *cobra.Command {
	use, short, field := "unrelate ITEM OTHER...", c.say("Take relations of an item away"), "remove_related"
	if relate {
		use, short, field = "relate ITEM OTHER...", c.say("Relate an item to others"), "add_related"
	}
	return c.jsonFlag(&cobra.Command{
		Use: use, Short: short, Args: arguments(2, anyNumber),
		Long: c.say(`Relate an item to others, or take such relations away. Its other relations stay. A
relation has no direction: either item shows it.

  genkan kb relate notes-1 docs-2 issues-7
  genkan kb unrelate notes-1 docs-2`),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			item, err := remote.ChangeItem(cmd.Context(), args[0], map[string]any{field: args[1:]})
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(item)
			}
			others := gateway.Printable(strings.Join(args[1:], ", "))
			if relate {
				fmt.Fprintln(c.std.Out, c.say("%s is related to %s.", gateway.Printable(item.Ref()), others))
			} else {
				fmt.Fprintln(c.std.Out, c.say("%s is not related to %s.", gateway.Printable(item.Ref()), others))
			}
			return nil
		},
	})
}

// itemChanges returns the fields that the command line sets.
func (c *command) itemChanges(cmd *cobra.Command, f itemFlags) (map[string]any, error) {
	changes := map[string]any{}
	for flag, value := range map[string]string{
		"title": f.title, "description": f.description, "status": f.status, "priority": f.priority,
		"category": f.category, "version": f.version, "start": f.start, "end": f.end,
	} {
		if !cmd.Flags().Changed(flag) {
			continue
		}
		name := flag
		if flag == "start" || flag == "end" {
			name += "_date"
		}
		changes[name] = value
		if value == "" {
			changes[name] = nil
		}
	}
	for flag, values := range map[string][]string{"tags": f.tags, "related": f.related, "add_tags": f.addTags, "remove_tags": f.removeTags} {
		name := map[string]string{"tags": "tag", "related": "related", "add_tags": "add-tag", "remove_tags": "remove-tag"}[flag]
		if cmd.Flags().Changed(name) {
			given := []string{}
			for _, value := range values {
				if value != "" {
					given = append(given, value)
				}
			}
			changes[flag] = given
		}
	}
	if cmd.Flags().Changed("content") || cmd.Flags().Changed("file") {
		content, err := c.readContent(f)
		if err != nil {
			return nil, err
		}
		changes["content"] = content
	}
	return changes, nil
}
