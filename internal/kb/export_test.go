package kb

import (
	"path/filepath"
	"time"
)

// SmallLimits makes everything happen with a few items: a file from the sixth on, a new
// one after four changes, steps and pages of a few. Questions wait long.
func (x *Indexes) SmallLimits() {
	x.Patient()
	l := &x.limits
	l.inMemory, l.due, l.dueMost, l.most = 5, 4, 4, 8
	l.step, l.page, l.linkPage, l.links = 2, 3, 2, 5
	l.quiet = time.Millisecond
}

// Patient makes questions wait for the index as long as it takes.
func (x *Indexes) Patient() {
	x.limits.searchPatience, x.limits.walkPatience = time.Minute, time.Minute
}

// LittleMemory divides the memory limits of changes by 32, so that a 32nd of the text
// reaches them. Questions wait long.
func (x *Indexes) LittleMemory() {
	x.Patient()
	l := &x.limits
	for _, bytes := range []*int{&l.dueBytes, &l.mostBytes, &l.stepBytes, &l.writeBytes} {
		*bytes /= 32
	}
}

// Impatient makes questions wait for almost no time.
func (x *Indexes) Impatient() {
	x.limits.searchPatience, x.limits.walkPatience = time.Millisecond, time.Millisecond
}

// InMemory sets the numbers of items and of changes that are indexed without a file.
func (x *Indexes) InMemory(items int) {
	l := &x.limits
	l.inMemory, l.due, l.most = items, items, max(l.most, 2*items)
}

// LargeSteps makes the index apply many pages at once.
func (x *Indexes) LargeSteps() { x.limits.step = 1000 }

// Tell sets who is told of work in the background.
func (x *Indexes) Tell(building func(done, total int)) { x.building = building }

// VerifyLater makes the index use files before they are verified.
func (x *Indexes) VerifyLater() { x.limits.verifyFirst = 0 }

// TryAlways makes the index retry a failed build at once.
func (x *Indexes) TryAlways() { x.limits.again = 0 }

// HeldFile returns the file in use, and false if there is no index.
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

// DeltaSize returns the approximate memory size of the changes since the file.
func (x *Indexes) DeltaSize() int {
	if h := x.text.held(); h != nil {
		return h.DeltaSize()
	}
	return 0
}

// MostDelta returns the size beyond which no more changes are taken into memory.
func (x *Indexes) MostDelta() int { return x.limits.mostBytes }

// LockPath returns the path of the lock that a building process holds.
func (x *Indexes) LockPath() string { return filepath.Join(x.text.dir, buildLock) }

// Waiting returns the number of callers that wait for running searches.
func (x *Indexes) Waiting() int {
	x.searches.mu.Lock()
	defer x.searches.mu.Unlock()
	n := 0
	for _, r := range x.searches.now {
		n += r.wanted
	}
	return n
}
