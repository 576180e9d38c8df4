package config

import (
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// The checks of single values, shared by file, environment and flags. Each
// error reads after the name of the setting.

// checkListen splits host:port. Port 0 asks for any free one.
func checkListen(s string) (host string, port int, err error) {
	host, service, err := net.SplitHostPort(s)
	if err != nil {
		return "", 0, flawf("must be host:port, such as 127.0.0.1:3000 or [::1]:3000")
	}
	if host != "" {
		if host, err = checkHost(host); err != nil {
			return "", 0, err
		}
	}
	port, err = strconv.Atoi(service)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, flawf("must end in a port from 0 to 65535")
	}
	return host, port, nil
}

// checkHost accepts an address or a name, and takes the brackets off IPv6.
func checkHost(s string) (string, error) {
	if len(s) > 2 && s[0] == '[' && s[len(s)-1] == ']' {
		s = s[1 : len(s)-1]
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return s, nil
	}
	if !legalHostname(s) {
		return "", flawf("must be an IP address or a host name, without scheme, port or path")
	}
	return s, nil
}

func legalHostname(s string) bool {
	if s == "" || len(s) > 253 || s[0] == '-' || s[0] == '.' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_'
	})
}

// checkAllowedHost accepts what a Host header may be. A wildcard would undo
// the defence against DNS rebinding that the list is for.
func checkAllowedHost(s string) (string, error) {
	if strings.Contains(s, "*") {
		return "", flawf("cannot have a wildcard: any page on the internet could point its own name at this gateway; list each name")
	}
	wrong := flawf("must be a host name or address, with a port if clients send one, without scheme or path")
	host, port := s, ""
	if h, p, err := net.SplitHostPort(s); err == nil {
		host, port = h, p
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return "", wrong
		}
	}
	host, err := checkHost(host)
	if err != nil {
		return "", wrong
	}
	host = strings.ToLower(host)
	switch {
	case port != "":
		return net.JoinHostPort(host, port), nil
	case strings.Contains(host, ":"):
		return "[" + host + "]", nil
	default:
		return host, nil
	}
}

// checkOrigin spells an origin as browsers send it: lower case, and no port
// where it is the scheme's own.
func checkOrigin(s string) (string, error) {
	if strings.Contains(s, "*") {
		return "", flawf("cannot have a wildcard: every page on the internet could then call the gateway with a leaked token; name the origins that may, such as https://app.example.com")
	}
	wrong := flawf("must be scheme://host or scheme://host:port, without a path, such as https://app.example.com")
	scheme, host, ok := strings.Cut(strings.ToLower(s), "://")
	if !ok || !legalScheme(scheme) || strings.ContainsAny(host, "/?#@ ") {
		return "", wrong
	}
	port := ""
	if h, p, err := net.SplitHostPort(host); err == nil {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return "", wrong
		}
		host, port = h, p
	}
	host, err := checkHost(host)
	if err != nil {
		return "", wrong
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" && (scheme != "http" || port != "80") && (scheme != "https" || port != "443") {
		host += ":" + port
	}
	return scheme + "://" + host, nil
}

func legalScheme(s string) bool {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' && r != '-' && r != '.'
	})
}

// checkFolder accepts a path that means the same wherever genkan is started.
func checkFolder(s string) (string, error) {
	if !filepath.IsAbs(s) && s != "~" && !strings.HasPrefix(s, "~/") {
		return "", flawf("must be an absolute path, or one that begins with ~/")
	}
	return s, nil
}

// checkURL never repeats the URL, which may hold a key.
func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case strings.Contains(s, WorkspaceFolder):
		return flawf("uses ${workspaceFolder}, which works in command, args, env and cwd only")
	case err != nil:
		return flawf("is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return flawf("must begin with http:// or https://")
	case u.Hostname() == "":
		return flawf("has no host")
	case u.User != nil:
		// A URL is shown and logged in places where a header never is.
		return flawf("cannot hold a user name or password; send them in headers: Authorization")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return flawf("has a port that is not a number from 1 to 65535")
		}
	}
	return nil
}

// What a label may be, and how many tags a tool may have; those that are said
// about it later have the same bounds.
const maxLabel, mostTags = 128, 64

func checkLabel(s string) (string, error) {
	if s == "" || len(s) > maxLabel || strings.TrimSpace(s) != s || strings.ContainsFunc(s, unprintable) {
		return "", flawf("must be one line of at most %d bytes, without space around it", maxLabel)
	}
	return s, nil
}

const maxPrefix = 32

func checkPrefix(s string) (string, error) {
	if len(s) > maxPrefix {
		return "", flawf("is longer than %d characters; clients limit the names of tools", maxPrefix)
	}
	if strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) {
		return "", flawf("may only have letters, digits, _ and -")
	}
	return s, nil
}

// checkHeader keeps a value from becoming a second header.
func checkHeader(value string) error {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return flawf("has a line break or another control character, which a header cannot hold")
	}
	return nil
}

// legalHeader reports whether s is a token of RFC 9110, section 5.6.2.
func legalHeader(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func checkCommand(value string) error {
	if value == "" {
		return flawf("is empty")
	}
	return checkArgument(value)
}

// checkArgument keeps out what a process cannot be given.
func checkArgument(value string) error {
	if strings.ContainsRune(value, 0) {
		return flawf("has a NUL character, which a process cannot be given")
	}
	return nil
}
