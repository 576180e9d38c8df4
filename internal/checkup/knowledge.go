package checkup

import (
	"context"
	"time"

	"genkan/internal/api"
	"genkan/internal/api/client"
	"genkan/internal/config"
	"genkan/internal/doctor"
	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/sqlite"
)

// readQuickly is how many bytes of a database, or of an index, are read without
// Full. That takes less than a second.
const readQuickly = 64 << 20

// knowledge examines the contents of the database. The rows can be read beside a
// running genkan. A running genkan has its own index and graph, so it is asked
// about them. An error means that the database cannot be read.
func (k *checkup) knowledge(ctx context.Context, store *sqlite.Store) error {
	f := &k.facts.Knowledge
	f.Off = k.config != nil && k.config.Knowledge.Off
	hiding := k.configured(config.KnowledgeSource)
	f.Hidden = hiding != nil && !hiding.Disabled
	if err := k.integrity(ctx, store); err != nil {
		return err
	}
	f.Looked = true
	if f.Off {
		return nil
	}
	indexes := kb.NewIndexes(store.Knowledge(), kb.IndexOptions{Dir: k.IndexDir})
	defer func() { _ = indexes.Close() }()
	if k.Rebuild {
		if err := k.rebuildIndex(ctx, indexes); err != nil {
			f.RebuildProblem = messageOf(err)
		} else {
			f.Rebuilt = true
		}
	}
	if k.Full {
		f.Compared = k.compare(ctx, indexes)
	}
	whole := int64(readQuickly)
	if k.Full {
		whole = 1 << 62
	}
	g, err := indexes.Glance(ctx, whole)
	if err != nil {
		f.Problem = messageOf(err)
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

func messageOf(err error) gateway.Text { return gateway.Textf("%s", gateway.AsError(err)) }

// integrity checks the database, and repairs it if Rebuild is set.
func (k *checkup) integrity(ctx context.Context, store *sqlite.Store) error {
	f := &k.facts.Knowledge
	size := k.facts.Data.Database.Size
	if !k.Full && size > readQuickly {
		return nil
	}
	step := k.Progress.Step(gateway.Textf("reading the database"))
	defer step.End()
	if k.Full {
		step.Tell(gateway.Textf("Reading the database (%d KB).", (size+1023)/1024))
	}
	found, err := store.Verify(ctx, k.Full)
	if err != nil {
		return err
	}
	if k.Rebuild && !found.Good() {
		step.Tell(gateway.Textf("Mending the database."))
		if err := store.Mend(ctx, found); err != nil {
			f.MendProblem = messageOf(err)
		} else {
			f.Mended = true
			if found, err = store.Verify(ctx, true); err != nil {
				return err
			}
		}
	}
	f.Checked = doctor.CheckedQuickly
	if k.Full {
		f.Checked = doctor.CheckedWhole
	}
	f.Damage, f.Orphans, f.Wrong = found.Damage, found.Orphans, found.Wrong
	return nil
}

// rebuildIndex rebuilds the index and the graph, in the running genkan or here.
func (k *checkup) rebuildIndex(ctx context.Context, indexes *kb.Indexes) error {
	step := k.Progress.Step(gateway.Textf("building the index"))
	defer step.End()
	if k.remote == nil {
		return indexes.Rebuild(ctx, step.At)
	}
	return k.whileAsked(ctx, step, kb.WorkRebuild, func() error { return k.remote.RebuildKnowledge(ctx) })
}

// compare compares the index and the graph with the rows. It uses those of the
// running genkan, or else those of this process, which the next genkan would have
// too.
func (k *checkup) compare(ctx context.Context, indexes *kb.Indexes) *doctor.Comparison {
	step := k.Progress.Step(gateway.Textf("comparing items"))
	defer step.End()
	var h client.KnowledgeHealth
	err := func() error {
		if k.remote == nil {
			own, err := indexes.CheckWith(ctx, step.At)
			h = api.HealthOf(own)
			return err
		}
		return k.whileAsked(ctx, step, kb.WorkCheck, func() (err error) {
			h, err = k.remote.CheckKnowledge(ctx)
			return err
		})
	}()
	if err != nil {
		return &doctor.Comparison{Problem: messageOf(err)}
	}
	return &doctor.Comparison{
		Items: h.Items, Relations: h.Relations, Indexed: h.Indexed, Damage: h.Damage, Texts: h.MissingTexts, Links: h.MissingLinks,
		Extra: h.ExtraTexts != 0 || h.ExtraItems != 0 || h.ExtraRelations != 0, Moving: h.Moving,
	}
}

// whileAsked shows the progress of a request to the running genkan.
func (k *checkup) whileAsked(ctx context.Context, step Step, what string, ask func() error) error {
	const pace = 200 * time.Millisecond
	done := make(chan error, 1)
	go func() { done <- ask() }()
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(pace):
			if now, err := k.remote.Knowledge(ctx); err == nil && now.Work != nil && now.Work.What == what {
				step.At(now.Work.Done, now.Work.Total)
			}
		}
	}
}
