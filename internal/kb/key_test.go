package kb

import (
	"reflect"
	"testing"
	"time"
)

// TestEveryPartOfAQueryIsInItsKey: different questions must not share an answer.
func TestEveryPartOfAQueryIsInItsKey(t *testing.T) {
	values := map[reflect.Type]any{
		reflect.TypeFor[string]():    "a",
		reflect.TypeFor[[]string]():  []string{"a"},
		reflect.TypeFor[int]():       7,
		reflect.TypeFor[time.Time](): time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC),
	}
	seen := map[string]string{(&Query{}).key(1): "nothing", (&Query{}).key(2): "another write"}
	for i := range reflect.TypeFor[Query]().NumField() {
		var q Query
		field := reflect.TypeFor[Query]().Field(i)
		reflect.ValueOf(&q).Elem().Field(i).Set(reflect.ValueOf(values[field.Type]))
		key := q.key(1)
		if other, there := seen[key]; there {
			t.Errorf("%s and %s have the same key", field.Name, other)
		}
		seen[key] = field.Name
	}
}
