package cli

import (
	"context"
	"fmt"
	"time"

	"genkan/internal/api"
	"genkan/internal/api/client"
	"genkan/internal/app"
	"genkan/internal/config"
	"genkan/internal/doctor"
	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/sqlite"
)

// readQuickly is how many bytes of a database, or of an index, are read without
// being asked to: it takes less than a second.
const readQuickly = 64 << 20

// knowledge looks at what the database holds. What is wrong with the rows is seen
// beside a genkan that runs; what is derived from them, that one is asked about,
// because it has its own. An error is that the database cannot be read.
func (k *checkup) knowledge(ctx context.Context, store *sqlite.Store) error {
	f := &k.facts.Knowledge
	f.Off = k.config != nil && k.config.Knowledge.Off
	hiding := k.configured(config.KnowledgeRoom)
	f.Hidden = hiding != nil && !hiding.Disabled
	if err := k.integrity(ctx, store); err != nil {
		return err
	}
	f.Looked = true
	if f.Off {
		return nil
	}
	indexes := kb.NewIndexes(store.Knowledge(), kb.IndexOptions{Dir: app.KnowledgeIndex(k.facts.Data.Dir.Path)})
	defer func() { _ = indexes.Close() }()
	if k.rebuild {
		if err := k.rebuildIndex(ctx, indexes); err != nil {
			f.RebuildProblem = textOf(err)
		} else {
			f.Rebuilt = true
		}
	}
	if k.full {
		f.Compared = k.compare(ctx, indexes)
	}
	whole := int64(readQuickly)
	if k.full {
		whole = 1 << 62
	}
	g, err := indexes.Glance(ctx, whole)
	if err != nil {
		f.Problem = textOf(err)
		return nil
	}
	f.Sequence, f.Items = g.Sequence, g.Items
	f.Index = doctor.Index{InMemory: g.InMemory, Path: g.File, Size: g.Size, Built: g.Built, Covers: g.Covers, Missing: g.Missing}
	if g.Damage != nil {
		f.Index.Damage = g.Damage.Error()
	}
	if k.remote != nil {
		if now, err := k.remote.Knowledge(ctx); err == nil && now.Work != nil && now.Work.What == kb.WorkRebuild {
			f.Index.Done, f.Index.Total = now.Work.Done, now.Work.Total
		}
	}
	return nil
}

func textOf(err error) gateway.Text { return gateway.Textf("%s", gateway.AsError(err)) }

// integrity reads the database, and mends it if that is wanted.
func (k *checkup) integrity(ctx context.Context, store *sqlite.Store) error {
	f := &k.facts.Knowledge
	size := k.facts.Data.Database.Size
	if !k.full && size > readQuickly {
		return nil
	}
	step := k.step(k.say("reading the database"))
	defer step.end()
	if k.full {
		step.tell(k.say("Reading the database (%d KB).", (size+1023)/1024))
	}
	found, err := store.Verify(ctx, k.full)
	if err != nil {
		return err
	}
	if k.rebuild && !found.Good() {
		step.tell(k.say("Mending the database."))
		if err := store.Mend(ctx, found); err != nil {
			f.MendProblem = textOf(err)
		} else {
			f.Mended = true
			if found, err = store.Verify(ctx, true); err != nil {
				return err
			}
		}
	}
	f.Checked = doctor.CheckedQuickly
	if k.full {
		f.Checked = doctor.CheckedWhole
	}
	f.Damage, f.Orphans, f.Wrong = found.Damage, found.Orphans, found.Wrong
	return nil
}

// rebuildIndex makes index and graph anew, in the genkan that runs or here.
func (k *checkup) rebuildIndex(ctx context.Context, indexes *kb.Indexes) error {
	step := k.step(k.say("building the index"))
	defer step.end()
	if k.remote == nil {
		return indexes.Rebuild(ctx, step.at)
	}
	return k.whileAsked(ctx, step, kb.WorkRebuild, func() error { return k.remote.RebuildKnowledge(ctx) })
}

// compare compares index and graph with the rows: those of the genkan that runs,
// or of this one, which are those that the next would have.
func (k *checkup) compare(ctx context.Context, indexes *kb.Indexes) *doctor.Comparison {
	step := k.step(k.say("comparing items"))
	defer step.end()
	var h client.KnowledgeHealth
	err := func() error {
		if k.remote == nil {
			own, err := indexes.CheckWith(ctx, step.at)
			h = api.HealthOf(own)
			return err
		}
		return k.whileAsked(ctx, step, kb.WorkCheck, func() (err error) {
			h, err = k.remote.CheckKnowledge(ctx)
			return err
		})
	}()
	if err != nil {
		return &doctor.Comparison{Problem: textOf(err)}
	}
	return &doctor.Comparison{
		Items: h.Items, Relations: h.Relations, Indexed: h.Indexed, Damage: h.Damage, Texts: h.MissingTexts, Links: h.MissingLinks,
		Extra: h.ExtraTexts != 0 || h.ExtraItems != 0 || h.ExtraRelations != 0, Moving: h.Moving,
	}
}

// whileAsked shows how far the genkan that runs is with what it was asked to do.
func (k *checkup) whileAsked(ctx context.Context, step *step, what string, ask func() error) error {
	const pace = 200 * time.Millisecond
	done := make(chan error, 1)
	go func() { done <- ask() }()
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(pace):
			if now, err := k.remote.Knowledge(ctx); err == nil && now.Work != nil && now.Work.What == what {
				step.at(now.Work.Done, now.Work.Total)
			}
		}
	}
}

// step is something that takes its time: on a terminal a bar, elsewhere a line now
// and then, and nothing for programs.
type step struct {
	k     *checkup
	label string
	bar   *bar
	// said is how many tenths were told.
	said int
}

func (k *checkup) step(label string) *step {
	return &step{k: k, label: label, bar: newBar(k.command, label, 0)}
}

// tell says something to whoever waits.
func (s *step) tell(line string) {
	if !s.k.asJSON {
		s.bar.clear()
		fmt.Fprintln(s.k.std.Err, line)
	}
}

// at shows how much is done.
func (s *step) at(done, total int) {
	const tenths = 10
	switch {
	case s.k.asJSON:
	case isTerminal(s.k.std.Err):
		s.bar.outOf(done, total)
	case total > 0 && done*tenths/total > s.said:
		s.said = done * tenths / total
		fmt.Fprintln(s.k.std.Err, s.k.say("%s: %d of %d", s.label, done, total))
	}
}

func (s *step) end() { s.bar.clear() }
