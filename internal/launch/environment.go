package launch

import (
	"slices"
	"sort"
	"strings"

	"genkan/internal/gateway"
)

// InsideVariable names the environment variable with the data directories of all
// genkans that a process runs under. A genkan that finds its own data directory
// there refuses to start: it would start itself for ever.
const InsideVariable = "GENKAN_INSIDE"

// IsInside reports whether the variable names a data directory.
func IsInside(value, home string) bool { return slices.Contains(strings.Split(value, ","), home) }

// inside returns the value of the variable for children.
func inside(outer, home string) string {
	if outer == "" {
		return home
	}
	return outer + "," + home
}

// The variables that children inherit. All others, above all keys and tokens, are
// withheld; the configuration of a server declares what it needs.
const (
	// passedOn is for every system.
	passedOn = "HOME LOGNAME USER SHELL PATH TERM LANG TMPDIR TZ SSH_AUTH_SOCK " +
		"DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS_VERIFY DOCKER_API_VERSION " +
		"CONTAINER_HOST CONTAINER_CONNECTION CONTAINER_SSHKEY"

	// passedOnInAnyCase are variables of proxies and certificates. Programs read
	// them in upper or lower case.
	passedOnInAnyCase = "HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY FTP_PROXY NODE_USE_ENV_PROXY " +
		"SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA REQUESTS_CA_BUNDLE CURL_CA_BUNDLE " +
		"AWS_CA_BUNDLE GIT_SSL_CAINFO PIP_CERT CARGO_HTTP_CAINFO DENO_CERT NIX_SSL_CERT_FILE"

	// passedOnWindows are variables that programs on Windows need.
	passedOnWindows = "ALLUSERSPROFILE APPDATA COMMONPROGRAMFILES COMMONPROGRAMFILES(X86) COMMONPROGRAMW6432 " +
		"COMPUTERNAME COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS OS PATHEXT " +
		"PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 PSMODULEPATH PUBLIC " +
		"SYSTEMDRIVE SYSTEMROOT TEMP TMP USERDOMAIN USERNAME USERPROFILE WINDIR"
)

// environment returns the environment of a child: the inherited variables, with
// another PATH unless that is empty, and the declared ones, which win.
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

// variable returns the key of a variable on a system: Windows ignores case, and
// calls its search path Path.
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

// lookup returns a variable of an environment, by the rules of the system.
func lookup(goos string, env []string, name string) string {
	for _, entry := range env {
		if n, value, ok := strings.Cut(entry, "="); ok && variable(goos, n) == name {
			return value
		}
	}
	return ""
}
