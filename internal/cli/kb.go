package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/kb/exchange"
)

func (c *command) kb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "kb", Short: c.say("Read and write the knowledge base"),
		Long: c.say(`Read and write the knowledge base: items such as notes, issues and decisions, with
tags and relations, which agents reach with tools such as search_items.

  genkan kb add notes "Where the keys are" --content "Under the mat." --tag house
  genkan kb search keys
  genkan kb get notes-1
  genkan kb export ~/notes

An item is called by its type and its id: notes-1.`),
	}
	cmd.AddCommand(c.kbAdd(), c.kbGet(), c.kbList(), c.kbSearch(), c.kbRelated(), c.kbPath(), c.kbTags(), c.kbEdit(), c.kbRelate(true), c.kbRelate(false), c.kbDelete())
	naming(cmd)
	cmd.AddCommand(c.kbImport(), c.kbExport())
	return cmd
}

// kbGet prints an item in the form of an exported file.
func (c *command) kbGet() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "get ITEM", Short: c.say("Show an item, as Markdown"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			item, err := remote.Item(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if item.MovedFrom != "" {
				fmt.Fprintln(c.std.Err, c.say("%s is %s now.", gateway.Printable(item.MovedFrom), gateway.Printable(item.Ref())))
			}
			return c.showItem(item)
		},
	})
}

func (c *command) showItem(item client.Item) error {
	if c.asJSON {
		return c.json(item)
	}
	_, err := c.exact().Write(exchange.Encode(fileItem(item)))
	return err
}

// fileItem returns an item in the form of files.
func fileItem(i client.Item) exchange.Item {
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	moment := func(p *time.Time) time.Time {
		if p == nil {
			return time.Time{}
		}
		return *p
	}
	return exchange.Item{
		ID: i.ID, Type: i.Type, Title: i.Title, Description: i.Description, Content: i.Content,
		Status: i.Status, Priority: i.Priority, Category: text(i.Category), Version: text(i.Version),
		Start: moment(i.StartDate), End: moment(i.EndDate), Tags: i.Tags, Related: i.Related,
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt,
	}
}

func (c *command) kbList() *cobra.Command {
	var f client.ItemFilter
	cmd := c.jsonFlag(&cobra.Command{
		Use: "list [TYPE]", Short: c.say("List items, the last updated first"), Args: arguments(0, 1),
		Long: c.say(`List items, the last updated first. Those in closed statuses are left out unless
--all or --status asks for them, or --tag, which looks in all.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.Type = args[0]
			}
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			c.meantStatuses(cmd.Context(), remote, f.Statuses)
			list, err := remote.Items(cmd.Context(), f)
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(list)
			}
			if len(list.Items) == 0 {
				fmt.Fprintln(c.std.Out, c.say("There are no such items."))
				c.hint(list.Hint)
				return nil
			}
			rows := [][]string{{c.say("ITEM"), c.say("STATUS"), c.say("PRIORITY"), c.say("UPDATED"), c.say("TITLE")}}
			for _, i := range list.Items {
				rows = append(rows, []string{i.Ref(), c.shownStatus(i.Status), c.shownPriority(i.Priority), shownTime(i.UpdatedAt), firstLine(i.Title)})
			}
			c.table(rows)
			c.readOn(len(list.Items), list.Total, list.NextOffset)
			return nil
		},
	})
	cmd.Flags().BoolVar(&f.Closed, "all", false, c.say("also items in closed statuses"))
	c.filterFlags(cmd, &f.Statuses, &f.Tag, &f.FirstDay, &f.LastDay)
	restricting(cmd, "status", "tag", "since", "until")
	c.pageFlags(cmd, &f.Limit, &f.Offset)
	return cmd
}

func (c *command) filterFlags(cmd *cobra.Command, statuses *[]string, tag, first, last *string) {
	cmd.Flags().StringSliceVar(statuses, "status", nil, c.say("only items in this `status`; may be repeated"))
	cmd.Flags().StringVar(tag, "tag", "", c.say("only items with this `tag`"))
	cmd.Flags().StringVar(first, "since", "", c.say("only items that were updated on this `day` or later, YYYY-MM-DD in UTC"))
	cmd.Flags().StringVar(last, "until", "", c.say("only items that were updated on this `day` or earlier"))
}

func (c *command) pageFlags(cmd *cobra.Command, limit, offset *int) {
	cmd.Flags().IntVar(limit, "limit", 20, c.say("how many items to show, at most 100 (`number`)"))
	cmd.Flags().IntVar(offset, "offset", 0, c.say("how many to leave out from the start (`number`)"))
}

// hint prints what the knowledge base says about an empty list.
func (c *command) hint(text string) {
	if text != "" {
		fmt.Fprintln(c.std.Err, gateway.Printable(text))
	}
}

// readOn says that there are more results, and how to see them.
func (c *command) readOn(shown, total, next int) {
	if next > 0 {
		fmt.Fprintln(c.std.Err, c.say("%d of %d; --offset %d shows the next.", shown, total, next))
	}
}

func (c *command) kbSearch() *cobra.Command {
	var s client.ItemSearch
	cmd := c.jsonFlag(&cobra.Command{
		Use: "search QUERY...", Short: c.say("Find items by their words"), Args: arguments(1, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			s.Query = strings.Join(args, " ")
			c.meantStatuses(cmd.Context(), remote, s.Statuses)
			found, err := remote.SearchItems(cmd.Context(), s)
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(found)
			}
			if len(found.Items) == 0 {
				if len(s.Types)+len(s.Statuses) > 0 || s.Tag+s.FirstDay+s.LastDay != "" {
					fmt.Fprintln(c.std.Out, c.say("No item that the filters let through has these words."))
					c.hint(found.Hint)
					return nil
				}
				fmt.Fprintln(c.std.Out, c.say("No item has all of these words."))
				return nil
			}
			rows := [][]string{{c.say("ITEM"), c.say("STATUS"), c.say("TITLE"), c.say("MATCH")}}
			for _, i := range found.Items {
				rows = append(rows, []string{i.Ref(), c.shownStatus(i.Status), firstLine(i.Title), firstLine(strings.Join(strings.Fields(i.Snippet), " "))})
			}
			c.table(rows)
			c.readOn(len(found.Items), found.Total, found.NextOffset)
			return nil
		},
	})
	cmd.Flags().StringArrayVar(&s.Types, "type", nil, c.say("only items of this `type`; may be repeated"))
	c.filterFlags(cmd, &s.Statuses, &s.Tag, &s.FirstDay, &s.LastDay)
	restricting(cmd, "type", "status", "tag", "since", "until")
	c.pageFlags(cmd, &s.Limit, &s.Offset)
	return cmd
}

func (c *command) kbRelated() *cobra.Command {
	var depth, most int
	cmd := c.jsonFlag(&cobra.Command{
		Use: "related ITEM", Short: c.say("Show the items around one, the nearest first"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			around, err := remote.RelatedItems(cmd.Context(), args[0], depth, most)
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(around)
			}
			if len(around.Items) == 0 {
				fmt.Fprintln(c.std.Out, c.say("%s is related to nothing.", gateway.Printable(around.Center.Ref())))
				return nil
			}
			rows := [][]string{{c.say("DISTANCE"), c.say("ITEM"), c.say("STATUS"), c.say("TITLE")}}
			for _, i := range around.Items {
				rows = append(rows, []string{strconv.Itoa(i.Distance), i.Item.Ref(), c.shownStatus(i.Item.Status), firstLine(i.Item.Title)})
			}
			c.table(rows)
			if around.Truncated {
				fmt.Fprintln(c.std.Err, c.say("There are more; --limit shows up to 1,000."))
			}
			return nil
		},
	})
	cmd.Flags().IntVar(&depth, "depth", 1, c.say("how many relations away at most, 1 to 3 (`number`)"))
	cmd.Flags().IntVar(&most, "limit", 50, c.say("how many items at most (`number`)"))
	return cmd
}

func (c *command) kbPath() *cobra.Command {
	var depth int
	cmd := c.jsonFlag(&cobra.Command{
		Use: "path FROM TO", Short: c.say("Show how two items are related"), Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			found, err := remote.ItemPaths(cmd.Context(), args[0], args[1], depth)
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(found)
			}
			if len(found.Paths) == 0 {
				fmt.Fprintln(c.std.Out, c.say("No path of at most %d relations leads from %s to %s.", depth, gateway.Printable(args[0]), gateway.Printable(args[1])))
				return nil
			}
			for _, path := range found.Paths {
				steps := make([]string, len(path.Items))
				for i := range path.Items {
					steps[i] = gateway.Printable(path.Items[i].Ref() + " (" + firstLine(path.Items[i].Title) + ")")
				}
				fmt.Fprintln(c.std.Out, strings.Join(steps, " – "))
			}
			if found.Truncated {
				fmt.Fprintln(c.std.Err, c.say("More paths may exist."))
			}
			return nil
		},
	})
	cmd.Flags().IntVar(&depth, "depth", 5, c.say("how many relations long at most, 1 to 10 (`number`)"))
	return cmd
}

func (c *command) kbTags() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "tags", Short: c.say("List the tags, the most used first"), Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			list, err := remote.Tags(cmd.Context())
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(list)
			}
			if len(list.Tags) == 0 {
				fmt.Fprintln(c.std.Out, c.say("No item has a tag."))
				return nil
			}
			rows := [][]string{{c.say("TAG"), c.say("ITEMS")}}
			for _, t := range list.Tags {
				rows = append(rows, []string{t.Name, strconv.Itoa(t.Count)})
			}
			c.table(rows)
			return nil
		},
	})
}

func (c *command) kbDelete() *cobra.Command {
	var yes bool
	cmd := c.jsonFlag(&cobra.Command{
		Use: "delete ITEM...", Short: c.say("Delete items"), Args: arguments(1, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			rows := make([][]string, 0, len(args))
			for _, ref := range args { // check that all exist before any is deleted
				item, err := remote.Item(cmd.Context(), ref)
				if err != nil {
					return err
				}
				rows = append(rows, []string{"  " + item.Ref(), firstLine(item.Title)})
			}
			if !yes {
				c.table(rows)
				agreed, err := c.confirmLoss(cmd.Context(), c.say("Delete them?"))
				if err != nil {
					return err
				}
				if !agreed {
					fmt.Fprintln(c.std.Err, c.say("Nothing was changed."))
					return nil
				}
			}
			done := []client.DeletedItem{}
			for _, ref := range args {
				one, err := remote.DeleteItem(cmd.Context(), ref)
				if err != nil {
					return err
				}
				done = append(done, one)
			}
			if c.asJSON {
				return c.json(done)
			}
			fmt.Fprintln(c.std.Out, c.say("Items deleted: %d.", len(done)))
			return nil
		},
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, c.say("do not ask"))
	return cmd
}

// noText returns the error for bytes that are not text. They would be changed in
// transit.
func noText(name string) error {
	return gateway.Errorf(gateway.CodeInvalid, "%s is not UTF-8 text; save it as UTF-8", name)
}
