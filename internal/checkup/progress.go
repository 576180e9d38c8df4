package checkup

import "genkan/internal/gateway"

// Progress shows the progress of a checkup to a person.
type Progress interface {
	// Line prints a line that stays.
	Line(text gateway.Text)
	// Status shows what the checkup waits for, in place of the former status. An
	// empty text removes it.
	Status(text gateway.Text)
	// Step begins a step that takes long.
	Step(label gateway.Text) Step
}

// Step is a step that takes long.
type Step interface {
	Tell(text gateway.Text)
	// At shows how much is done.
	At(done, total int)
	End()
}

// silence is a Progress that shows nothing.
type silence struct{}

func (silence) Line(gateway.Text)      {}
func (silence) Status(gateway.Text)    {}
func (silence) Step(gateway.Text) Step { return silence{} }
func (silence) Tell(gateway.Text)      {}
func (silence) At(int, int)            {}
func (silence) End()                   {}
