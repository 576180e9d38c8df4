package launch

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
)

// What children see of our environment, on three systems.
func TestEnvironment(t *testing.T) {
	secrets := []string{
		"GITHUB_TOKEN=canary", "AWS_SECRET_ACCESS_KEY=canary", "my_secret=canary", "DATABASE_URL=canary",
		"LD_PRELOAD=canary", "DYLD_INSERT_LIBRARIES=canary", "NODE_OPTIONS=canary", "DOCKER_AUTH_CONFIG=canary",
		"PATHOLOGICAL=canary", "LCISH=canary", "XDGISH=canary", "HOMEBREW_GITHUB_API_TOKEN=canary", "GENKAN_ADMIN=canary",
		"no equals sign",
	}
	basics := []string{
		"HOME=/h", "LOGNAME=ann", "USER=ann", "SHELL=/bin/zsh", "PATH=/usr/bin:/bin", "TERM=xterm", "LANG=ja_JP.UTF-8",
		"LC_ALL=C", "LC_TIME=C", "TMPDIR=/var/t", "TZ=Asia/Tokyo", "XDG_CONFIG_HOME=/c", "XDG_RUNTIME_DIR=/r",
		"HTTP_PROXY=http://p", "https_proxy=http://p", "No_Proxy=localhost", "all_proxy=socks5://p",
		"SSL_CERT_FILE=/ca", "ssl_cert_dir=/cas", "NODE_EXTRA_CA_CERTS=/ca", "REQUESTS_CA_BUNDLE=/ca",
		"SSH_AUTH_SOCK=/agent", "DOCKER_HOST=ssh://d", "DOCKER_CONTEXT=lab", "DOCKER_CONFIG=/d",
		"DOCKER_CERT_PATH=/d", "DOCKER_TLS_VERIFY=1", "CONTAINER_HOST=unix:///p",
	}
	windows := []string{
		`Path=C:\Windows\system32`, `SystemRoot=C:\Windows`, `ComSpec=C:\Windows\system32\cmd.exe`, "PATHEXT=.COM;.EXE;.BAT;.CMD",
		`APPDATA=C:\a`, `LOCALAPPDATA=C:\l`, `USERPROFILE=C:\u`, `TEMP=C:\t`, `TMP=C:\t`, `ProgramFiles(x86)=C:\p`, `windir=C:\Windows`,
		"USERNAME=ann", "HOMEDRIVE=C:", `HOMEPATH=\u`, "PROCESSOR_ARCHITECTURE=AMD64", "http_proxy=http://p", "Docker_Host=npipe",
	}
	for name, test := range map[string]struct {
		goos     string
		ours     []string
		declared map[string]gateway.Secret
		path     string
		want     []string
	}{
		"linux": {goos: "linux", ours: basics, want: basics},
		"darwin": {
			goos: "darwin", ours: append(slices.Clone(basics), `APPDATA=C:\a`, "Path=/no", "temp=/no"), want: basics,
		},
		"windows": {goos: "windows", ours: windows, want: windows},
		"another PATH": {
			goos: "linux", ours: []string{"PATH=/bin", "HOME=/h"}, path: "/bin:/opt/bin", want: []string{"HOME=/h", "PATH=/bin:/opt/bin"},
		},
		"a PATH where there was none": {goos: "darwin", path: "/bin", want: []string{"PATH=/bin"}},
		"another Path on windows": {
			goos: "windows", ours: []string{`Path=C:\a`}, path: `C:\a;C:\b`, want: []string{`PATH=C:\a;C:\b`},
		},
		"declared wins": {
			goos: "linux", ours: []string{"LANG=C", "PATH=/bin"}, path: "/usr/bin",
			declared: map[string]gateway.Secret{"PATH": "/mine", "LANG": "ja", "TOKEN": "a=b\nc"},
			want:     []string{"LANG=ja", "PATH=/mine", "TOKEN=a=b\nc"},
		},
		"declared wins, in any case, on windows": {
			goos: "windows", ours: []string{`Path=C:\a`, `TEMP=C:\t`}, path: `C:\a;C:\b`,
			declared: map[string]gateway.Secret{"path": `C:\mine`, "Temp": `D:\t`},
			want:     []string{`Temp=D:\t`, `path=C:\mine`},
		},
		"case tells variables apart elsewhere": {
			goos: "linux", ours: []string{"PATH=/bin"}, declared: map[string]gateway.Secret{"path": "x"}, want: []string{"PATH=/bin", "path=x"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := environment(test.goos, append(slices.Clone(test.ours), secrets...), test.declared, test.path)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(strings.Join(got, "\n"), "canary") {
				t.Error("a secret is passed on")
			}
		})
	}
}
