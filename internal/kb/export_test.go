package kb

import (
	"path/filepath"
	"time"
)

// SmallLimits make everything happen with a few items: a file from the sixth on,
// a new one after four changes, steps and pages of a few. Nobody is impatient.
func (x *Indexes) SmallLimits() {
	x.Patient()
	l := &x.limits
	l.inMemory, l.due, l.dueMost, l.most = 5, 4, 4, 8
	l.step, l.page, l.linkPage, l.links = 2, 3, 2, 5
}

// Patient makes questions wait for the index as long as it takes.
func (x *Indexes) Patient() {
	x.limits.searchPatience, x.limits.walkPatience = time.Minute, time.Minute
}

// LittleMemory divides by 32 what the changes since a file may take, so that a 32nd
// of the text shows what happens. Nobody is impatient.
func (x *Indexes) LittleMemory() {
	x.Patient()
	l := &x.limits
	for _, bytes := range []*int{&l.dueBytes, &l.mostBytes, &l.stepBytes, &l.writeBytes} {
		*bytes /= 32
	}
}

// Impatient makes questions wait for next to nothing.
func (x *Indexes) Impatient() {
	x.limits.searchPatience, x.limits.walkPatience = time.Millisecond, time.Millisecond
}

// InMemory sets how many items have no file, and how many changes.
func (x *Indexes) InMemory(items int) {
	l := &x.limits
	l.inMemory, l.due, l.most = items, items, max(l.most, 2*items)
}

// LargeSteps makes many pages be applied at once.
func (x *Indexes) LargeSteps() { x.limits.step = 1000 }

// VerifyLater makes files be used before they are read as a whole.
func (x *Indexes) VerifyLater() { x.limits.verifyFirst = 0 }

// TryAlways makes a build be tried again right after it has failed.
func (x *Indexes) TryAlways() { x.limits.again = 0 }

// HeldFile is the file in use; false if there is no index.
func (x *Indexes) HeldFile() (path string, ok bool) {
	h := x.text.held()
	if h == nil {
		return "", false
	}
	if h.file.Token == "" {
		return "", true
	}
	return x.text.path(h.file), true
}

// DeltaSize is how much memory the changes since the file take, about, and MostDelta
// how much they may.
func (x *Indexes) DeltaSize() int {
	if h := x.text.held(); h != nil {
		return h.DeltaSize()
	}
	return 0
}

// MostDelta is what no more changes are taken in beyond.
func (x *Indexes) MostDelta() int { return x.limits.mostBytes }

// LockPath is what who builds has locked.
func (x *Indexes) LockPath() string { return filepath.Join(x.text.dir, buildLock) }

// Waiting is how many wait for searches that are under way.
func (x *Indexes) Waiting() int {
	x.searches.mu.Lock()
	defer x.searches.mu.Unlock()
	n := 0
	for _, r := range x.searches.now {
		n += r.wanted
	}
	return n
}
