package config

import "strings"

// Lang is the language that flag, environment, file and locale agree on, in this
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
		return localeLang(lookupEnv)
	}
	root, bad := parse(data)
	if bad != nil || root == nil {
		return localeLang(lookupEnv)
	}
	for _, e := range root.entries {
		if name, ok := known(e.value.text); ok && e.key == "lang" {
			return name
		}
	}
	return localeLang(lookupEnv)
}

// localeLang is the language of the locale that the environment names, for messages: the
// first of the three variables that is not empty counts, as for other programs.
func localeLang(lookupEnv func(string) (string, bool)) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		locale, _ := lookupEnv(name)
		if locale == "" {
			continue
		}
		language, _, _ := strings.Cut(locale, ".")
		language, _, _ = strings.Cut(language, "_")
		if found, ok := fold(language, langs()); ok {
			return found
		}
		break
	}
	return DefaultLang
}
