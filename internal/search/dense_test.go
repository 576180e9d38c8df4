package search

import "testing"

func vector(values ...float32) *Vector {
	v := &Vector{}
	v.Store(&values)
	return v
}

func TestDense(t *testing.T) {
	x := New(Server{Name: "s", Documents: []Document{
		{ID: "near", Name: "umbrella", Description: "Tells whether to take one.", Vector: vector(1, 0)},
		{ID: "words", Name: "weather", Description: "Tells about the sky.", Vector: vector(.6, .8)},
		{ID: "far", Name: "files", Description: "Lists folders.", Vector: vector(0, 1)},
		{ID: "waiting", Name: "later", Description: "Has no vector yet.", Vector: &Vector{}},
		{ID: "other", Name: "else", Description: "Of another model.", Vector: vector(1, 0, 0)},
		{ID: "none", Name: "none", Description: "Without."},
	}})
	for _, c := range []struct {
		name, query string
		dense       Dense
		want        string
	}{
		{"words alone", "weather sky", Dense{}, "words"},
		{"meaning too", "weather sky", Dense{[]float32{1, 0}, .15}, "words near"},
		{"no weight", "weather sky", Dense{[]float32{1, 0}, 0}, "words"},
		{"no words in common", "rain", Dense{[]float32{1, 0}, .15}, "near"},
		{"a name is a name", "files", Dense{[]float32{1, 0}, 1}, "far near"},
		{"another model's", "weather sky", Dense{[]float32{1}, .15}, "words"},
	} {
		r := x.Search(Query{Text: c.query, Dense: c.dense})
		if got := ids(r); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if without := x.Search(Query{Text: c.query}); r.Confidence != without.Confidence {
			t.Errorf("%s: meaning makes it sure: %g, %g by words", c.name, r.Confidence, without.Confidence)
		}
	}
}
