package config

// Lang is the language that flag, environment and file agree on, in this
// order. It asks nothing else of the file: whoever has to say what is wrong
// with one needs a language before the file is right, and a command beside a
// running genkan may lack the variables that the servers' settings name.
func Lang(path string, lookupEnv func(string) (string, bool), flags Flags) string {
	known := func(name string) (string, bool) { return fold(name, langs()) }
	if name, ok := known(flags.Lang); ok {
		return name
	}
	if said, _ := lookupEnv("GENKAN_LANG"); said != "" {
		if name, ok := known(said); ok {
			return name
		}
	}
	data, err := read(path)
	if err != nil {
		return DefaultLang
	}
	root, bad := parse(data)
	if bad != nil || root == nil {
		return DefaultLang
	}
	for _, e := range root.entries {
		if name, ok := known(e.value.text); ok && e.key == "lang" {
			return name
		}
	}
	return DefaultLang
}
