package kb

import (
	"context"

	"genkan/internal/gateway"
)

// Tools is the gateway.Source of the sixteen tools of a knowledge base.
type Tools struct {
	base  *Base
	tools map[string]*tool
	list  []gateway.Tool
}

// NewTools returns the tools of a knowledge base.
func NewTools(base *Base) *Tools {
	t := &Tools{base: base, tools: map[string]*tool{}}
	for _, one := range toolTable() {
		t.tools[one.name] = &one
		t.list = append(t.list, one.encode())
	}
	return t
}

// SourceName is the name of the source.
const SourceName = "kb"

// Instructions tells agents what the tools are for.
const Instructions = "The knowledge base keeps what is worth remembering across conversations as items (notes, issues, decisions, documents): " +
	"any type, a status, a priority, tags, and relations to other items. Look with search_items before you create, " +
	"name related items as type-id, and keep where things stand with get_current_state and update_current_state."

// Name returns the name of the source.
func (t *Tools) Name() string { return SourceName }

// List lists the tools.
func (t *Tools) List(kind gateway.Kind) []gateway.Tool {
	if kind != gateway.KindTool {
		return nil
	}
	return t.list
}

// Handle answers a call. An error of the knowledge base is returned as a result.
func (t *Tools) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	tool := t.tools[call.Tool.Name]
	if tool == nil {
		return nil, gateway.Errorf(gateway.CodeNotFound, "Unknown tool: %s. tools/list names the tools there are", call.Tool.Name)
	}
	values, err := call.Arguments()
	if err != nil {
		return nil, err
	}
	in := &arguments{values: values}
	in.exact(call.Params.Get(call.Params.Arguments))
	in.only(tool.known())
	if !tool.spares(call) {
		in.require(tool.required)
	}
	answer, err := tool.run(ctx, t.base, call, in)
	return newResult(answer, err)
}

// ready returns the first error of the arguments, with its time, or nil.
func (a *arguments) ready(b *Base) error {
	err := a.err
	b.stamp(&err)
	return err
}

func createItem(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	kind, fields := in.word("type"), in.patch()
	if err := in.ready(b); err != nil {
		return nil, err
	}
	item, err := b.Create(ctx, kind, fields)
	return newItemAnswer(Found{Item: item}), err
}

func getItemDetail(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	ref := in.ref("type", "id")
	if err := in.ready(b); err != nil {
		return nil, err
	}
	found, err := b.Get(ctx, ref)
	return newItemAnswer(found), err
}

func getItems(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	f := Filter{Types: in.oneOrAll("type"), Statuses: in.words("statuses"), Closed: in.flag("includeClosedStatuses")}
	f.Limit, f.Offset = in.page(MaxPage)
	f.From, f.Until = Days(in.day("start_date"), in.day("end_date"))
	if err := in.ready(b); err != nil {
		return nil, err
	}
	page, err := b.List(ctx, f)
	return newPageAnswer(all(page.Items, newSummaryAnswer), page.Total, page.Limit, page.Offset), err
}

func updateItemTool(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	ref, patch := in.ref("type", "id"), in.patch()
	if err := in.ready(b); err != nil {
		return nil, err
	}
	found, err := b.Update(ctx, ref, patch)
	return newItemAnswer(found), err
}

func deleteItemTool(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	ref := in.ref("type", "id")
	if err := in.ready(b); err != nil {
		return nil, err
	}
	found, err := b.Delete(ctx, ref)
	a := deletedAnswer{Deleted: true, Type: found.Item.Type, ID: found.Item.ID}
	if !found.Former.IsZero() {
		a.MovedFrom = found.Former.String()
	}
	return a, err
}

func searchItems(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	q := Query{Text: in.word("query"), Types: in.words("types"), Statuses: in.words("statuses"), Tag: in.word("tag")}
	if q.Tag == "" && in.values["tag"] != nil {
		in.refuse(checkTag(""))
	}
	q.From, q.Until = Days(in.day("start_date"), in.day("end_date"))
	q.Limit, q.Offset = in.page(MaxPage)
	if err := in.ready(b); err != nil {
		return nil, err
	}
	found, err := b.Search(ctx, q)
	return newPageAnswer(all(found.Items, newMatchAnswer), found.Total, found.Limit, found.Offset), err
}

func searchSuggest(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	q := Query{Text: in.word("query"), Types: in.words("types"), Limit: in.count("limit", MaxSuggestions)}
	if err := in.ready(b); err != nil {
		return nil, err
	}
	suggestions, err := b.Suggest(ctx, q)
	return map[string]any{"suggestions": append([]string{}, suggestions...)}, err
}

func getRelatedItems(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	ref, depth, most := in.ref("type", "id"), in.count("depth", MaxDepth), in.count("max_results", MaxRelatedResults)
	if err := in.ready(b); err != nil {
		return nil, err
	}
	around, err := b.Related(ctx, ref, depth, most)
	return newRelatedAnswer(around), err
}

func findPath(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	from, to, depth := in.ref("from_type", "from_id"), in.ref("to_type", "to_id"), in.count("max_depth", MaxPathDepth)
	if err := in.ready(b); err != nil {
		return nil, err
	}
	routes, err := b.Paths(ctx, from, to, depth)
	return newPathsAnswer(routes), err
}

func getTags(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	if err := in.ready(b); err != nil {
		return nil, err
	}
	tags, err := b.Tags(ctx)
	return map[string]any{"tags": all(tags, func(t Tag) tagAnswer { return tagAnswer(t) })}, err
}

func searchItemsByTag(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	tag, types := in.word("tag"), in.words("types")
	limit, offset := in.page(MaxPage)
	if err := in.ready(b); err != nil {
		return nil, err
	}
	page, err := b.ByTag(ctx, tag, types, limit, offset)
	return newPageAnswer(all(page.Items, newSummaryAnswer), page.Total, page.Limit, page.Offset), err
}

func getStatuses(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	if err := in.ready(b); err != nil {
		return nil, err
	}
	statuses, err := b.Statuses(ctx)
	return map[string]any{"statuses": all(statuses, func(s Status) statusAnswer { return statusAnswer{s.Name, s.Closed} })}, err
}

func getCurrentState(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	if err := in.ready(b); err != nil {
		return nil, err
	}
	state, err := b.State(ctx)
	return newStateAnswer(state), err
}

func updateCurrentState(ctx context.Context, b *Base, call *gateway.Call, in *arguments) (any, error) {
	p := StatePatch{
		Content: in.word("content"), UpdatedBy: in.word("updated_by"), Related: in.refs("related"), Tags: in.texts("tags"),
	}
	if p.UpdatedBy == "" {
		p.UpdatedBy = call.Identity.ClientID
	}
	if err := in.ready(b); err != nil {
		return nil, err
	}
	state, err := b.SetState(ctx, p)
	return newStateAnswer(state), err
}

func changeItemType(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	ref, kind := in.ref("from_type", "from_id"), in.word("to_type")
	if err := in.ready(b); err != nil {
		return nil, err
	}
	found, err := b.ChangeType(ctx, ref, kind)
	return newItemAnswer(found), err
}

func bulkUpdate(ctx context.Context, b *Base, _ *gateway.Call, in *arguments) (any, error) {
	var edits []Edit
	if in.err == nil {
		edits = in.edits("updates", names(fieldProperties(false)))
	}
	if err := in.ready(b); err != nil {
		return nil, err
	}
	done, err := b.BulkUpdate(ctx, edits)
	return bulkAnswer{len(done), all(done, func(f Found) summaryAnswer { return newSummaryAnswer(f.Item.Summary()) })}, err
}
