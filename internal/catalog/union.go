package catalog

// union gathers the properties of several schemas, and what they require.
type union struct {
	names    names
	said     map[string]*variants
	required names
	// closed are how many of the alternatives let no other properties through.
	closed int
}

// variants are what several schemas say of a property. How it goes together is
// one level deeper in the schema, where combinations do no harm.
type variants struct {
	names // the schemas, as they came
	word  string
	// open is how many alternatives have the property and let others through.
	open int
}

func newUnion() *union { return &union{said: map[string]*variants{}} }

func (u *union) add(name string, schema []byte, word string) *variants {
	u.names.add(name)
	v := u.said[name]
	if v == nil {
		v = &variants{word: word}
		u.said[name] = v
	}
	v.add(string(schema))
	return v
}

// all takes over a schema that must fit too.
func (u *union) all(s *fields) {
	for _, property := range propertiesOf(s).list {
		u.add(property.key, property.value, "allOf")
	}
	required, _ := namesIn(s.get("required"))
	for _, name := range required.list {
		u.required.add(name)
	}
}

// any takes over a schema that may fit instead: only what every one of them
// requires is required.
func (u *union) any(s *fields, first bool) {
	closed := string(s.get("additionalProperties")) == "false" && !s.has("patternProperties")
	if closed {
		u.closed++
	}
	for _, property := range propertiesOf(s).list {
		v := u.add(property.key, property.value, "anyOf")
		if !closed {
			v.open++
		}
	}
	required, _ := namesIn(s.get("required"))
	if first {
		u.required = required
		return
	}
	var both names
	for _, name := range u.required.list {
		if required.has[name] {
			both.add(name)
		}
	}
	u.required = both
}

// keepCommon forgets the properties that an alternative may have without saying
// anything of them.
func (u *union) keepCommon(alternatives int) {
	var common names
	for _, name := range u.names.list {
		if u.said[name].open+u.closed == alternatives {
			common.add(name)
		}
	}
	u.names = common
}

// join adds another union, which must fit too.
func (u *union) join(other *union) {
	for _, name := range other.names.list {
		u.add(name, other.property(name), "allOf")
	}
	for _, name := range other.required.list {
		u.required.add(name)
	}
}

// property is all that was said of a property.
func (u *union) property(name string) []byte {
	v := u.said[name]
	if len(v.list) == 1 {
		return []byte(v.list[0])
	}
	out := append([]byte(`{"`), v.word...)
	out = append(out, `":[`...)
	for i, schema := range v.list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, schema...)
	}
	return append(out, `]}`...)
}
