package launch

import (
	"slices"
	"strings"
	"testing"
)

// Which commands run containers, what their users call these, and where our
// own options go.
func TestParseContainerRun(t *testing.T) {
	for line, want := range map[string]struct {
		name   string
		remove bool
		with   string // the line with "+" where options are put; empty for no container
	}{
		"docker run image":                                      {with: "docker run + image"},
		"docker run -i --rm image":                              {remove: true, with: "docker run + -i --rm image"},
		"/usr/local/bin/docker run image":                       {with: "/usr/local/bin/docker run + image"},
		"podman run --rm=false image":                           {with: "podman run + --rm=false image"},
		"podman --connection lab container run --replace image": {with: "podman --connection lab container run + --replace image"},
		"docker --context lab -D run image":                     {with: "docker --context lab -D run + image"},
		"docker -H=ssh://lab run image":                         {with: "docker -H=ssh://lab run + image"},
		"docker run --name mine -i image":                       {name: "mine", with: "docker run + --name mine -i image"},
		"docker run -i --name=mine image":                       {name: "mine", with: "docker run + -i --name=mine image"},
		"docker run -ie KEY --name mine image":                  {name: "mine", with: "docker run + -ie KEY --name mine image"},
		"docker run -eKEY=1 -p8080:80 -v /a:/b --rm image":      {remove: true, with: "docker run + -eKEY=1 -p8080:80 -v /a:/b --rm image"},
		"docker run --env KEY --mount type=bind --rm image":     {remove: true, with: "docker run + --env KEY --mount type=bind --rm image"},
		"docker run --cidfile f image":                          {with: "docker run + --cidfile f image"},
		// What follows the image is said to the server.
		"docker run image --name hers --rm":       {with: "docker run + image --name hers --rm"},
		"docker run -i --init image --name hers":  {with: "docker run + -i --init image --name hers"},
		"docker run -e --name image --name hers":  {with: "docker run + -e --name image --name hers"},
		"docker run --rm -- image --name hers":    {remove: true, with: "docker run + --rm -- image --name hers"},
		"docker run --name":                       {with: "docker run + --name"},
		"docker run -w /src --rm image run --rm":  {remove: true, with: "docker run + -w /src --rm image run --rm"},
		"docker compose run web":                  {},
		"docker exec -i box server":               {},
		"docker mcp gateway run":                  {},
		"docker --context run":                    {},
		"docker":                                  {},
		"dockerd run image":                       {},
		"sh -c docker run image":                  {},
		"C:\\docker.exe run image on another box": {},
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			run, ok := parseContainerRun("linux", args[0], args[1:])
			if ok != (want.with != "") {
				t.Fatalf("a container: %v", ok)
			}
			if !ok {
				return
			}
			if got := args[0] + " " + strings.Join(run.with(args[1:], "+"), " "); got != want.with || run.name != want.name || run.remove != want.remove {
				t.Errorf("got %q, name %q, remove %v", got, run.name, run.remove)
			}
			if tool := run.tool("rm", "x"); !strings.HasPrefix(line, args[0]+" "+strings.Join(tool[:len(tool)-2], " ")) {
				t.Errorf("it is removed with %q", tool)
			}
		})
	}
	for command, want := range map[string]bool{
		`C:\Program Files\Docker\docker.exe`: true, "Docker.EXE": true, "podman": true, "docker.cmd": true, "docker-compose.exe": false,
	} {
		if _, ok := parseContainerRun("windows", command, []string{"run", "image"}); ok != want {
			t.Errorf("%s on Windows: %v", command, ok)
		}
	}
	args := slices.Clip([]string{"run", "image"})
	run, _ := parseContainerRun("linux", "docker", args)
	if run.with(args, "+"); !slices.Equal(args, []string{"run", "image"}) {
		t.Error("the arguments of the configuration were changed")
	}
}
