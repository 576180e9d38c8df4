package storetest

import (
	"strconv"
	"testing"
	"time"

	"genkan/internal/learn"
)

func lessonsOf(t testing.TB, s Stores) []learn.Lesson {
	t.Helper()
	all, err := s.Lessons.Lessons(t.Context())
	must(t, err)
	return all
}

// newLesson is learned so many minutes after an instant.
func newLesson(client, server, tool string, minutes int, terms ...string) learn.Lesson {
	return learn.Lesson{
		Client: client, Tool: learn.Tool{Server: server, Name: tool}, Terms: terms,
		Times: 1, At: instant().Add(time.Duration(minutes) * time.Minute),
	}
}

func testLessons(t *testing.T, s Stores) {
	wantEqual(t, lessonsOf(t, s), nil)
	before := sequenceOf(t, s)
	first, second := newLesson("ann", "one", "tool", 0, "read", "天気"), newLesson("ann", "one", "tool", 1, "file")
	others, shared := newLesson("bob", "one", "tool", 2, "read"), newLesson(learn.Shared, "two", "tool", 3, "x")
	must(t, s.Lessons.AddLessons(t.Context(), []learn.Lesson{first, others, second, shared}, learn.DefaultBounds()))
	want := []learn.Lesson{shared, second, first, others}
	wantEqual(t, lessonsOf(t, s), want)
	wantEqual(t, lessonsOf(t, s.Another(t)), want)
	if sequenceOf(t, s) == before {
		t.Error("a lesson did not move the change sequence")
	}

	// The same again counts, and is as late as the latest.
	again := first
	again.Times, again.At = 2, first.At.Add(time.Hour)
	must(t, s.Lessons.AddLessons(t.Context(), []learn.Lesson{again}, learn.DefaultBounds()))
	again.Times = 3
	wantEqual(t, lessonsOf(t, s), []learn.Lesson{shared, again, second, others})
	must(t, s.Lessons.AddLessons(t.Context(), []learn.Lesson{first}, learn.DefaultBounds()))
	again.Times = 4
	wantEqual(t, lessonsOf(t, s), []learn.Lesson{shared, again, second, others})

	for _, step := range []struct {
		which learn.Selection
		n     int
		left  []learn.Lesson
	}{
		{learn.Selection{Client: "nobody"}, 0, []learn.Lesson{shared, again, second, others}},
		{learn.Selection{Client: "bob", Tool: learn.Tool{Server: "two", Name: "tool"}}, 0, []learn.Lesson{shared, again, second, others}},
		{learn.Selection{Client: "ann", Tool: learn.Tool{Server: "one", Name: "tool"}}, 2, []learn.Lesson{shared, others}},
		{learn.Selection{Tool: learn.Tool{Server: "two", Name: "tool"}}, 1, []learn.Lesson{others}},
		{learn.Selection{}, 1, nil},
	} {
		before := sequenceOf(t, s)
		n, err := s.Lessons.ForgetLessons(t.Context(), step.which)
		must(t, err)
		if n != step.n {
			t.Errorf("%+v: %d were forgotten, want %d", step.which, n, step.n)
		}
		wantEqual(t, lessonsOf(t, s), step.left)
		if n > 0 && sequenceOf(t, s) == before {
			t.Errorf("%+v did not move the change sequence", step.which)
		}
	}
}

// testLessonBounds: what is longest ago goes first, in a tool, in a client, and
// among all.
func testLessonBounds(t *testing.T, s Stores) {
	bounds := learn.Bounds{Tool: 2, Client: 3, All: 4}
	add := func(lessons ...learn.Lesson) {
		t.Helper()
		must(t, s.Lessons.AddLessons(t.Context(), lessons, bounds))
	}
	a1, a2, a3 := newLesson("a", "s", "x", 1, "1"), newLesson("a", "s", "x", 2, "2"), newLesson("a", "s", "x", 3, "3")
	add(a2, a3, a1) // the order in which they come does not matter
	wantEqual(t, lessonsOf(t, s), []learn.Lesson{a3, a2})
	y4, z5 := newLesson("a", "s", "y", 4, "4"), newLesson("a", "s", "z", 5, "5")
	add(y4, z5)
	wantEqual(t, lessonsOf(t, s), []learn.Lesson{a3, y4, z5})
	b6, b7 := newLesson("b", "s", "x", 6, "6"), newLesson("b", "s", "x", 7, "7")
	add(b6, b7)
	wantEqual(t, lessonsOf(t, s), []learn.Lesson{y4, z5, b7, b6})
}

func testLessonNames(t *testing.T, s Stores) {
	want := []learn.Lesson{}
	for _, name := range oddNames() {
		want = append(want, newLesson(name, name, name, 0, name))
	}
	must(t, s.Lessons.AddLessons(t.Context(), want, learn.DefaultBounds()))
	learn.Sort(want)
	wantEqual(t, lessonsOf(t, s), want)
}

// testLessonsAtOnce has two handles learn the same; nothing is lost.
func testLessonsAtOnce(t *testing.T, one Stores) {
	two := one.Another(t)
	must(t, inParallel(one, two, func(s Stores, id int) error {
		for range rounds {
			own := newLesson("c"+strconv.Itoa(id), "s", "t", 0, "own")
			if err := s.Lessons.AddLessons(t.Context(), []learn.Lesson{newLesson("all", "s", "t", 0, "same"), own}, learn.DefaultBounds()); err != nil {
				return err
			}
		}
		return nil
	}))
	all := lessonsOf(t, one)
	if len(all) != 1+2*writers || all[0].Times != 2*writers*rounds {
		t.Errorf("%d lessons, the first %+v", len(all), all[0])
	}
}
