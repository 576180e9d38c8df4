package clients

// pair is a key with its value, which is a string, a bool, a []string or []pair. A
// slice of them keeps its order in the file.
type pair struct {
	key   string
	value any
}

// The functions below return the keys of an entry that leads to genkan, as each
// client writes them.

func typedHTTP(url string, headers []pair) []pair {
	return []pair{{"type", "http"}, {"url", url}, {"headers", headers}}
}

func plainHTTP(url string, headers []pair) []pair {
	return []pair{{"url", url}, {"headers", headers}}
}

func windsurfHTTP(url string, headers []pair) []pair {
	return []pair{{"serverUrl", url}, {"headers", headers}}
}

func devinHTTP(url string, headers []pair) []pair {
	return []pair{{"url", url}, {"transport", "http"}, {"headers", headers}}
}

func codexHTTP(url string, headers []pair) []pair {
	return []pair{{"url", url}, {"http_headers", headers}}
}

func geminiHTTP(url string, headers []pair) []pair {
	return []pair{{"httpUrl", url}, {"headers", headers}}
}

func clineHTTP(url string, headers []pair) []pair {
	return []pair{{"type", "streamableHttp"}, {"url", url}, {"headers", headers}}
}

func continueHTTP(url string, headers []pair) []pair {
	return []pair{{"type", "streamable-http"}, {"url", url}, {"requestOptions", []pair{{"headers", headers}}}}
}

func copilotHTTP(url string, headers []pair) []pair {
	return []pair{{"type", "http"}, {"url", url}, {"headers", headers}, {"tools", []string{"*"}}}
}

func opencodeRemote(url string, headers []pair) []pair {
	return []pair{{"type", "remote"}, {"url", url}, {"headers", headers}}
}

func plainProcess(command string, args []string) []pair {
	return []pair{{"command", command}, {"args", args}}
}

func typedProcess(command string, args []string) []pair {
	return []pair{{"type", "stdio"}, {"command", command}, {"args", args}}
}

func devinProcess(command string, args []string) []pair {
	return []pair{{"command", command}, {"args", args}, {"transport", "stdio"}}
}

func copilotProcess(command string, args []string) []pair {
	return []pair{{"type", "local"}, {"command", command}, {"args", args}, {"tools", []string{"*"}}}
}

func opencodeLocal(command string, args []string) []pair {
	return []pair{{"type", "local"}, {"command", append([]string{command}, args...)}}
}

// transport reports whether a key says how the entry's server is reached. Such keys
// are replaced when the entry is connected; all others stay.
func transport(key string) bool {
	switch key {
	case "command", "args", "env", "environment", "env_vars", "envFile", "cwd",
		"url", "serverUrl", "httpUrl", "type", "transport", "transportType",
		"headers", "http_headers", "env_http_headers", "bearer_token_env_var", "headersHelper",
		"requestOptions", "requestInit", "apiKey", "oauth", "auth", "authProviderType":
		return true
	default:
		return false
	}
}
