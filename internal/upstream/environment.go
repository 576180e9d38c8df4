package upstream

import (
	"runtime"
	"slices"
	"sort"
	"strings"

	"genkan/internal/gateway"
)

// passedOn are the variables of ours that children get. Everything else of our
// environment (keys and tokens above all) stays here; what a server needs is
// declared in its configuration.
var passedOn = map[string]bool{
	"HOME": true, "LOGNAME": true, "USER": true, "SHELL": true, "PATH": true,
	"TERM": true, "LANG": true, "TMPDIR": true, "TZ": true,
	"HTTP_PROXY": true, "HTTPS_PROXY": true, "NO_PROXY": true, "ALL_PROXY": true,
	"http_proxy": true, "https_proxy": true, "no_proxy": true, "all_proxy": true,
	"SSL_CERT_FILE": true, "SSL_CERT_DIR": true, "NODE_EXTRA_CA_CERTS": true,
	"REQUESTS_CA_BUNDLE": true, "CURL_CA_BUNDLE": true,
	"SSH_AUTH_SOCK": true, "DOCKER_HOST": true,
}

var passedOnWindows = map[string]bool{
	"APPDATA": true, "COMSPEC": true, "HOMEDRIVE": true, "HOMEPATH": true,
	"LOCALAPPDATA": true, "PATHEXT": true, "PROGRAMDATA": true, "PROGRAMFILES": true,
	"PROGRAMFILES(X86)": true, "SYSTEMDRIVE": true, "SYSTEMROOT": true,
	"TEMP": true, "TMP": true, "USERNAME": true, "USERPROFILE": true, "WINDIR": true,
}

// childEnvironment is what a child sees.
func childEnvironment(ours []string, declared map[string]gateway.Secret, home string) []string {
	env := make([]string, 0, len(declared)+16)
	inside := home
	for _, entry := range ours {
		name, value, ok := strings.Cut(entry, "=")
		if name == InsideVariable && home != "" && value != "" {
			inside = value + "," + home
		}
		if _, overridden := declared[name]; ok && !overridden && isPassedOn(name) {
			env = append(env, entry)
		}
	}
	if home != "" {
		env = append(env, InsideVariable+"="+inside)
	}
	names := make([]string, 0, len(declared))
	for name := range declared {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		env = append(env, name+"="+declared[name].Reveal())
	}
	return env
}

// InsideVariable tells a child of whose house it is, and of whose that one is in
// turn, so that a genkan that stands among its own servers, or among those of its
// servers, does not start itself for ever.
const InsideVariable = "GENKAN_INSIDE"

// IsInside reports whether a house is among those that the variable names.
func IsInside(value, home string) bool { return slices.Contains(strings.Split(value, ","), home) }

func isPassedOn(name string) bool {
	if passedOn[name] || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") {
		return true
	}
	return runtime.GOOS == "windows" && (passedOnWindows[strings.ToUpper(name)] || strings.EqualFold(name, "PATH"))
}
