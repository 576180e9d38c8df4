package kb

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"genkan/internal/gateway"
)

// Tools is the gateway.Source of the sixteen tools of a knowledge base.
type Tools struct {
	base      *Base
	translate gateway.Translate
	tools     map[string]*tool
	list      []gateway.Tool
	// about is the last result of About.
	about atomic.Pointer[aboutAt]
}

// aboutAt is what there is to say about the knowledge base after a write.
type aboutAt struct {
	seq   int64
	types []Type
}

// Languages are the languages of the tools. The zero value is English.
type Languages struct {
	// Translate is the language of definitions, hints and errors.
	Translate gateway.Translate
	// Others are those in which the search knows the tools, too.
	Others []gateway.Translate
}

// NewTools returns the tools of a knowledge base.
func NewTools(base *Base, l Languages) *Tools {
	t := &Tools{base: base, translate: l.Translate, tools: map[string]*tool{}}
	for _, one := range toolTable() {
		t.tools[one.name] = &one
		t.list = append(t.list, one.encode(l.Translate, l.Others))
	}
	return t
}

// Say returns a text in the language of the tools, if there is a translation of it.
func (t *Tools) Say(text string) string {
	if t.translate == nil {
		return text
	}
	return t.translate(text)
}

// SourceName is the name of the source.
const SourceName = "kb"

// Name returns the name of the source.
func (t *Tools) Name() string { return SourceName }

// aboutPatience is how long About waits for the store.
const aboutPatience = time.Second

// About describes the knowledge base, with the types that items have now. It reads them
// again only after a write.
func (t *Tools) About() gateway.About {
	about := gateway.About{
		Title:       say("Knowledge base").In(t.translate),
		Description: say("Items such as notes, issues, decisions and documents, with tags, relations and full-text search.").In(t.translate),
		Instructions: say("The knowledge base keeps what is worth remembering across conversations as items (notes, issues, decisions, documents): " +
			"any type, a status, a priority, tags, and relations to other items. Look with search_items before you create, " +
			"name related items as type-id, and keep where things stand with get_current_state and update_current_state.").In(t.translate),
	}
	if types := t.typesNow(); len(types) > 0 {
		about.Instructions += " " + gateway.Textf("Types in use: %s.", typeNames(types)).In(t.translate)
	}
	return about
}

func (t *Tools) typesNow() []Type {
	ctx, cancel := context.WithTimeout(context.Background(), aboutPatience)
	defer cancel()
	last := t.about.Load()
	seq, err := t.base.store.Sequence(ctx)
	if last != nil && (err != nil || last.seq == seq) {
		return last.types
	}
	if err == nil {
		var types []Type
		if types, err = t.base.Types(ctx); err == nil {
			t.about.Store(&aboutAt{seq, types})
			return types
		}
	}
	if last != nil {
		return last.types
	}
	return nil
}

// typeNames returns types with the numbers of their items in one line: docs (12).
func typeNames(types []Type) gateway.Texts {
	names := gateway.Names(nil)
	add := func(name gateway.Text) { names.Each = append(names.Each, name) }
	odd := 0
	for i, one := range types {
		switch {
		case i == ShownTypes:
			odd = 0
			add(gateway.Textf("…"))
		case isWord(one.Name):
			add(gateway.Textf("%s (%d)", one.Name, one.Count))
		default:
			odd++
		}
	}
	if odd > 0 {
		add(gateway.Textf("…"))
	}
	return names
}

// isWord reports whether the name of a type is one word. Other names are not shown in
// instructions: any client can write a sentence there, and all others read it.
func isWord(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
	})
}

// List lists the tools.
func (t *Tools) List(kind gateway.Kind) []gateway.Tool {
	if kind != gateway.KindTool {
		return nil
	}
	return t.list
}

// Handle answers a call. An error of the knowledge base is returned as a result.
func (t *Tools) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	answer, err := t.run(ctx, call, false)
	return newResult(answer, t.base.nameTypes(ctx, err), t.language(call))
}

// Check checks the arguments of a call as Handle does, up to what the store has to be
// asked for.
func (t *Tools) Check(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	_, err := t.run(ctx, call, true)
	if errors.Is(err, errFits) {
		return nil, nil //nolint:nilnil // they fit
	}
	return newResult(nil, t.base.nameTypes(ctx, err), t.language(call))
}

// run carries a call out. With only, it ends with errFits after the arguments were
// checked.
func (t *Tools) run(ctx context.Context, call *gateway.Call, only bool) (any, error) {
	tool := t.tools[call.Tool.Name]
	if tool == nil {
		return nil, gateway.Errorf(gateway.CodeNotFound, "Unknown tool: %s. tools/list names the tools there are", call.Tool.Name)
	}
	values, err := call.Arguments()
	if err != nil {
		return nil, err
	}
	in := &arguments{values: values, onlyCheck: only}
	in.exact(call.Params.Get(call.Params.Arguments))
	in.only(tool.known())
	if !tool.spares(call.Via) {
		in.require(tool.required)
	}
	return tool.run(ctx, t, call, in)
}

// Answer is Base.Answer in the language of a call.
func (t *Tools) Answer(call *gateway.Call, answer any, err error) (*gateway.Result, error) {
	return t.base.Answer(answer, err, t.language(call))
}

// language returns the language of the answer to a call: that of the caller, or that of
// the tools.
func (t *Tools) language(call *gateway.Call) gateway.Translate {
	if call.Translate != nil {
		return call.Translate
	}
	return t.translate
}

// errFits is returned in place of an answer if arguments are only checked, and fit.
var errFits = errors.New("the arguments fit")

// ready returns the error of the arguments, with its time, or nil. The error has also what
// check, which may be nil, finds wrong with the values. Without an error the method of
// Base checks them. If the arguments are only checked, it is errFits instead of nil.
func (a *arguments) ready(b *Base, check func() error) error {
	if a.err == nil && !a.onlyCheck {
		return nil
	}
	if check != nil {
		a.refuse(check())
	}
	if a.err == nil {
		return errFits
	}
	err := a.err
	b.stamp(&err)
	return err
}

func createItem(ctx context.Context, t *Tools, call *gateway.Call, in *arguments) (any, error) {
	kind, fields := in.word("type"), in.patch()
	if err := in.ready(t.base, func() error { _, err := checkNew(kind, &fields); return err }); err != nil {
		return nil, err
	}
	item, err := t.base.Create(ctx, kind, fields)
	return newWrittenAnswer(Found{Item: item}, call), err
}

func getItemDetail(ctx context.Context, t *Tools, _ *gateway.Call, in *arguments) (any, error) {
	ref := in.ref("type", "id")
	if err := in.ready(t.base, func() error { return checkRef("type", "id", ref) }); err != nil {
		return nil, err
	}
	found, err := t.base.Get(ctx, ref)
	return newItemAnswer(found), err
}

func getItems(ctx context.Context, t *Tools, call *gateway.Call, in *arguments) (any, error) {
	f := Filter{Types: in.oneOrAll("type"), Statuses: in.words("statuses"), Closed: in.flag("includeClosedStatuses")}
	f.Limit, f.Offset = in.page(MaxPage)
	f.From, f.Until = Days(in.day("start_date"), in.day("end_date"))
	if err := in.ready(t.base, f.check); err != nil {
		return nil, err
	}
	page, err := t.base.List(ctx, f)
	answer := newPageAnswer(all(page.Items, newSummaryAnswer), page.Total, page.Limit, page.Offset)
	if err == nil && page.Total == 0 {
		answer.Hint, err = t.emptyHint(ctx, call, "", f.Types, !f.Closed && len(f.Statuses) == 0 && f.From.IsZero() && f.Until.IsZero())
	}
	return answer, err
}

func updateItemTool(ctx context.Context, t *Tools, call *gateway.Call, in *arguments) (any, error) {
	edit := Edit{in.ref("type", "id"), in.patch()}
	if err := in.ready(t.base, edit.check); err != nil {
		return nil, err
	}
	found, err := t.base.Update(ctx, edit.Ref, edit.Patch)
	return newWrittenAnswer(found, call), err
}

func deleteItemTool(ctx context.Context, t *Tools, _ *gateway.Call, in *arguments) (any, error) {
	ref := in.ref("type", "id")
	if err := in.ready(t.base, func() error { return checkRef("type", "id", ref) }); err != nil {
		return nil, err
	}
	found, err := t.base.Delete(ctx, ref)
	a := deletedAnswer{Deleted: true, Type: found.Item.Type, ID: found.Item.ID}
	if !found.Former.IsZero() {
		a.MovedFrom = found.Former.String()
	}
	return a, err
}

func searchItems(ctx context.Context, t *Tools, call *gateway.Call, in *arguments) (any, error) {
	q := Query{Text: in.word("query"), Types: in.words("types"), Statuses: in.words("statuses"), Tag: in.word("tag")}
	if q.Tag == "" && in.values["tag"] != nil {
		_, err := checkTag("")
		in.refuse(err)
	}
	q.From, q.Until = Days(in.day("start_date"), in.day("end_date"))
	q.Limit, q.Offset = in.page(MaxPage)
	if err := in.ready(t.base, func() error { return q.check(UsualPage, MaxPage) }); err != nil {
		return nil, err
	}
	found, err := t.base.Search(ctx, q)
	answer := newPageAnswer(all(found.Items, newMatchAnswer), found.Total, found.Limit, found.Offset)
	if err == nil && found.Total == 0 {
		answer.Hint, err = t.emptyHint(ctx, call, q.Tag, q.Types, false)
	}
	return answer, err
}

func searchSuggest(ctx context.Context, t *Tools, _ *gateway.Call, in *arguments) (any, error) {
	q := Query{Text: in.word("query"), Types: in.words("types"), Limit: in.count("limit", MaxSuggestions)}
	if err := in.ready(t.base, func() error { return q.check(UsualSuggestions, MaxSuggestions) }); err != nil {
		return nil, err
	}
	suggestions, err := t.base.Suggest(ctx, q)
	return map[string]any{"suggestions": append([]string{}, suggestions...)}, err
}

func getRelatedItems(ctx context.Context, t *Tools, _ *gateway.Call, in *arguments) (any, error) {
	ref, depth, most := in.ref("type", "id"), in.count("depth", MaxDepth), in.count("max_results", MaxRelatedResults)
	if err := in.ready(t.base, func() error { return checkRef("type", "id", ref) }); err != nil {
		return nil, err
	}
	around, err := t.base.Related(ctx, ref, depth, most)
	return newRelatedAnswer(around), err
}

func findPath(ctx context.Context, t *Tools, _ *gateway.Call, in *arguments) (any, error) {
	from, to, depth := in.ref("from_type", "from_id"), in.ref("to_type", "to_id"), in.count("max_depth", MaxPathDepth)
	if err := in.ready(t.base, func() error { return checkEnds(from, to) }); err != nil {
		return nil, err
	}
	routes, err := t.base.Paths(ctx, from, to, depth)
	return newPathsAnswer(routes), err
}

func getTags(ctx context.Context, t *Tools, _ *gateway.Call, in *arguments) (any, error) {
	if err := in.ready(t.base, nil); err != nil {
		return nil, err
	}
	tags, err := t.base.Tags(ctx)
	return map[string]any{"tags": all(tags, func(t Tag) tagAnswer { return tagAnswer(t) })}, err
}

func searchItemsByTag(ctx context.Context, t *Tools, call *gateway.Call, in *arguments) (any, error) {
	f := Filter{Tag: in.word("tag"), Types: in.words("types")}
	f.Limit, f.Offset = in.page(MaxPage)
	if err := in.ready(t.base, f.checkByTag); err != nil {
		return nil, err
	}
	page, err := t.base.ByTag(ctx, f.Tag, f.Types, f.Limit, f.Offset)
	answer := newPageAnswer(all(page.Items, newSummaryAnswer), page.Total, page.Limit, page.Offset)
	if err == nil && page.Total == 0 {
		answer.Hint, err = t.emptyHint(ctx, call, f.Tag, f.Types, false)
	}
	return answer, err
}

func getStatuses(ctx context.Context, t *Tools, _ *gateway.Call, in *arguments) (any, error) {
	if err := in.ready(t.base, nil); err != nil {
		return nil, err
	}
	statuses, err := t.base.Statuses(ctx)
	return map[string]any{"statuses": all(statuses, func(s Status) statusAnswer { return statusAnswer{s.Name, s.Closed} })}, err
}

func getCurrentState(ctx context.Context, t *Tools, _ *gateway.Call, in *arguments) (any, error) {
	if err := in.ready(t.base, nil); err != nil {
		return nil, err
	}
	state, err := t.base.State(ctx)
	return newStateAnswer(state), err
}

func updateCurrentState(ctx context.Context, t *Tools, call *gateway.Call, in *arguments) (any, error) {
	p := StatePatch{
		Content: in.word("content"), UpdatedBy: in.word("updated_by"), Related: in.refs("related"), Tags: in.texts("tags"),
	}
	if p.UpdatedBy == "" {
		p.UpdatedBy = call.Identity.ClientID
	}
	if err := in.ready(t.base, p.check); err != nil {
		return nil, err
	}
	state, changed, err := t.base.SetState(ctx, p)
	return newWrittenStateAnswer(state, changed, call), err
}

func changeItemType(ctx context.Context, t *Tools, call *gateway.Call, in *arguments) (any, error) {
	ref, kind := in.ref("from_type", "from_id"), in.word("to_type")
	if err := in.ready(t.base, func() error { _, err := checkRetype(ref, kind); return err }); err != nil {
		return nil, err
	}
	found, err := t.base.ChangeType(ctx, ref, kind)
	return newWrittenAnswer(found, call), err
}

func bulkUpdate(ctx context.Context, t *Tools, _ *gateway.Call, in *arguments) (any, error) {
	var edits []Edit
	if in.err == nil {
		edits = in.edits("updates", names(changedFields()))
	}
	if err := in.ready(t.base, nil); err != nil {
		return nil, err
	}
	done, err := t.base.BulkUpdate(ctx, edits)
	return bulkAnswer{len(done), all(done, newBulkEntry)}, err
}

// emptyHint says why a list is empty, if a type of it has no items or only closed ones, or
// if no item has its tag.
func (t *Tools) emptyHint(ctx context.Context, call *gateway.Call, tag string, types []string, open bool) (string, error) {
	for _, kind := range types {
		kind = strings.TrimSpace(kind)
		n, err := t.base.count(ctx, Filter{Types: []string{kind}})
		if err != nil {
			return "", err
		}
		if n == 0 {
			hint, err := t.base.unknownType(ctx, kind)
			return hint.In(t.language(call)), err
		}
		if open {
			return gateway.Textf("Items of this type in closed statuses: %d", n).In(t.language(call)), nil
		}
	}
	if tag = strings.TrimSpace(tag); tag == "" {
		return "", nil
	}
	if n, err := t.base.count(ctx, Filter{Tag: tag}); err != nil || n > 0 {
		return "", err
	}
	hint, err := t.base.unknownTag(ctx, tag)
	return hint.In(t.language(call)), err
}
