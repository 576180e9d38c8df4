package launch

import (
	"slices"
	"sort"
	"strings"

	"genkan/internal/gateway"
)

// InsideVariable tells a child of whose house it is, and of whose that one is in
// turn, so that a genkan that stands among its own servers, or among those of its
// servers, does not start itself for ever.
const InsideVariable = "GENKAN_INSIDE"

// IsInside reports whether a house is among those that the variable names.
func IsInside(value, home string) bool { return slices.Contains(strings.Split(value, ","), home) }

// inside is the variable for the children of a house that is in others itself.
func inside(outer, home string) string {
	if outer == "" {
		return home
	}
	return outer + "," + home
}

// What children get of our environment. Everything else (keys and tokens above
// all) stays here; what a server needs is declared in its configuration.
const (
	// passedOn is for every system.
	passedOn = "HOME LOGNAME USER SHELL PATH TERM LANG TMPDIR TZ SSH_AUTH_SOCK " +
		"DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS_VERIFY DOCKER_API_VERSION " +
		"CONTAINER_HOST CONTAINER_CONNECTION CONTAINER_SSHKEY"

	// passedOnInAnyCase says how to reach the network and whom to trust there.
	// Programs read these in upper or lower case.
	passedOnInAnyCase = "HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY FTP_PROXY NODE_USE_ENV_PROXY " +
		"SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA REQUESTS_CA_BUNDLE CURL_CA_BUNDLE " +
		"AWS_CA_BUNDLE GIT_SSL_CAINFO PIP_CERT CARGO_HTTP_CAINFO DENO_CERT NIX_SSL_CERT_FILE"

	// passedOnWindows is what programs there do not run without, or not well.
	passedOnWindows = "ALLUSERSPROFILE APPDATA COMMONPROGRAMFILES COMMONPROGRAMFILES(X86) COMMONPROGRAMW6432 " +
		"COMPUTERNAME COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS OS PATHEXT " +
		"PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 PSMODULEPATH PUBLIC " +
		"SYSTEMDRIVE SYSTEMROOT TEMP TMP USERDOMAIN USERNAME USERPROFILE WINDIR"
)

// environment is what a child sees on a system: of ours what is passed on, with
// another PATH unless that is empty, and what is declared, which wins.
func environment(goos string, ours []string, declared map[string]gateway.Secret, path string) []string {
	names := make([]string, 0, len(declared))
	overridden := make(map[string]bool, len(declared))
	for name := range declared {
		names = append(names, name)
		overridden[variable(goos, name)] = true
	}
	sort.Strings(names)
	passed := passedNames(goos)
	env := make([]string, 0, len(declared)+16)
	for _, entry := range ours {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || overridden[variable(goos, name)] || !passed(name) {
			continue
		}
		if path != "" && variable(goos, name) == "PATH" {
			continue // it comes below
		}
		env = append(env, entry)
	}
	if path != "" && !overridden["PATH"] {
		env = append(env, "PATH="+path)
	}
	for _, name := range names {
		env = append(env, name+"="+declared[name].Reveal())
	}
	return env
}

// variable is how a system tells variables apart: Windows does not care for
// case, and calls its search path Path.
func variable(goos, name string) string {
	if goos == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

func passedNames(goos string) func(name string) bool {
	everywhere, anyCase := strings.Fields(passedOn), strings.Fields(passedOnInAnyCase)
	if goos == "windows" {
		everywhere = append(everywhere, strings.Fields(passedOnWindows)...)
	}
	return func(name string) bool {
		same := variable(goos, name)
		return slices.Contains(everywhere, same) || slices.Contains(anyCase, strings.ToUpper(name)) ||
			strings.HasPrefix(same, "LC_") || strings.HasPrefix(same, "XDG_")
	}
}

// lookup finds a variable in an environment, as the system would.
func lookup(goos string, env []string, name string) string {
	for _, entry := range env {
		if n, value, ok := strings.Cut(entry, "="); ok && variable(goos, n) == name {
			return value
		}
	}
	return ""
}
