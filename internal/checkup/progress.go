package checkup

import "genkan/internal/gateway"

// Progress shows somebody who waits what is being done.
type Progress interface {
	// Line says something that stays.
	Line(text gateway.Text)
	// Status shows what is waited for, in place of the former status; the empty
	// text removes it.
	Status(text gateway.Text)
	// Step begins something that takes its time.
	Step(label gateway.Text) Step
}

// Step is something that takes its time.
type Step interface {
	Tell(text gateway.Text)
	// At shows how much is done.
	At(done, total int)
	End()
}

// silence is the progress that nobody looks at.
type silence struct{}

func (silence) Line(gateway.Text)      {}
func (silence) Status(gateway.Text)    {}
func (silence) Step(gateway.Text) Step { return silence{} }
func (silence) Tell(gateway.Text)      {}
func (silence) At(int, int)            {}
func (silence) End()                   {}
