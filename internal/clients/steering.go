package clients

import (
	"slices"
	"strings"
)

// steering are environment variables that make common programs load other code,
// run another program or fetch packages from elsewhere. A * stands for any end.
//
//nolint:gochecknoglobals // a table, built once
var steering = words("PATH PATHEXT COMSPEC LD_* DYLD_* GCONV_PATH " +
	"NODE_OPTIONS NODE_PATH NODE_REPL_* NPM_CONFIG_* BUN_OPTIONS BUN_CONFIG_* DENO_* YARN_* PNPM_* COREPACK_* TS_NODE_* " +
	"PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PYTHONUSERBASE PYTHONEXECUTABLE PIP_* UV_* PIPX_* " +
	"BASH_ENV BASH_FUNC_* ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 IFS ZDOTDIR SHELL " +
	"RUBYOPT RUBYLIB GEM_* BUNDLE_* PERL5OPT PERL5LIB PERLLIB PERL5DB LUA_INIT* LUA_PATH* LUA_CPATH* PHPRC PHP_INI_SCAN_DIR R_PROFILE* " +
	"JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH MAVEN_OPTS GRADLE_OPTS " +
	"DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS CORECLR_* COR_* GOFLAGS GOPROXY GOTOOLCHAIN RUSTC RUSTC_WRAPPER RUSTFLAGS CARGO_* " +
	"GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_EXEC_PATH GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_TEMPLATE_DIR GIT_CONFIG* " +
	"SSH_ASKPASS SUDO_ASKPASS EDITOR VISUAL PAGER MANPAGER LESSOPEN LESSCLOSE BROWSER DOCKER_HOST DOCKER_CONFIG HOME XDG_CONFIG_HOME USERPROFILE APPDATA OPENSSL_CONF OPENSSL_MODULES")

// Steers reports whether an environment variable can make a program run other
// code than its command line names. Case does not matter, as on Windows and to
// npm.
func Steers(variable string) bool {
	variable = strings.ToUpper(variable)
	return slices.ContainsFunc(steering, func(pattern string) bool {
		start, open := strings.CutSuffix(pattern, "*")
		return variable == pattern || open && strings.HasPrefix(variable, start)
	})
}
