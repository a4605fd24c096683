package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/version"
	"brine/internal/testkit/cmdtest"
	"brine/sshexec"
)

// fakeGo is a go that "builds" a program of a version, and notes how it was
// asked.
const fakeGo = `#!/bin/sh
while [ $# -gt 0 ]; do case $1 in -o) out=$2; shift;; -tags) tags=$2; shift;; esac; shift; done
echo "$GOOS/$GOARCH/$GOARM cgo=$CGO_ENABLED amd64=$GOAMD64 tags=$tags in $PWD" >>"$FAKE_GO_LOG"
[ -z "$FAKE_GO_FAILS" ] || { echo "x.go:1: no" >&2; exit 1; }
printf '%s' "$FAKE_GO_STAMP" >"$out"
`

func sourceTree(t *testing.T, stamp string) string {
	t.Helper()
	dir := t.TempDir()
	cmdtest.Write(t, filepath.Join(dir, "go.mod"), "module "+version.Module+"\n\ngo 1.26\n", 0o644)
	cmdtest.Write(t, filepath.Join(dir, "internal/core/version/version.go"), "package version\n\nconst stamp = \""+stamp+"\"\n", 0o644)
	return dir
}

func TestAgentBuild(t *testing.T) {
	t.Parallel()
	bin, conf := t.TempDir(), t.TempDir()
	cmdtest.Write(t, filepath.Join(bin, "go"), fakeGo, 0o755)
	cmdtest.Write(t, filepath.Join(conf, "master"), "cachedir: "+t.TempDir()+"\n", 0o644)
	src := sourceTree(t, version.Stamp())
	other := sourceTree(t, strings.Replace(version.Stamp(), version.Number(), "9.9.9", 1))
	env := func(more ...string) map[string]string {
		m := map[string]string{
			"PATH": bin + ":" + os.Getenv("PATH"), "HOME": t.TempDir(), "PWD": t.TempDir(), "FAKE_GO_LOG": filepath.Join(t.TempDir(), "log"),
			"FAKE_GO_STAMP": "an agent " + version.Stamp(), "GOAMD64": "v3", "GOFLAGS": "", "BRINE_CONFIG_DIR": conf,
		}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	e := env()
	dir := filepath.Join(e["HOME"], ".local/share/brine/agents")
	status, out, errs := cmdtest.Run(t, e, command, "agent", "build", "-c", conf, "--source", src, "linux/arm64", "linux-armv6", "Linux/i686", "linux/arm/v7")
	if status != 0 || !strings.Contains(out, "linux/arm/v6: "+dir+"/brine-linux-armv6") {
		t.Fatalf("%d: %s%s", status, out, errs)
	}
	names, _ := os.ReadDir(dir)
	var got []string
	for _, n := range names {
		got = append(got, n.Name())
	}
	if want := []string{"brine-linux-386", "brine-linux-arm", "brine-linux-arm64", "brine-linux-armv6"}; !slices.Equal(got, want) {
		t.Errorf("built %v, want %v", got, want)
	}
	log, _ := os.ReadFile(e["FAKE_GO_LOG"])
	for _, want := range []string{"linux/arm64/7 cgo=0 amd64=v1 tags=slim,nethttpomithttp2 in " + src, "linux/arm/6 ", "linux/386/", "linux/arm/7 "} {
		if !strings.Contains(string(log), want) {
			t.Errorf("go was not asked for %q: %s", want, log)
		}
	}
	// For a release build they are packed, by the best program that is there.
	zstdOnly := t.TempDir()
	if exe, err := exec.LookPath("zstd"); err == nil {
		if err := os.Symlink(exe, filepath.Join(zstdOnly, "zstd")); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{bin + ":" + os.Getenv("PATH"), bin + ":" + zstdOnly, bin} {
		e, to := env("PATH", path), t.TempDir()
		if status, out, errs := cmdtest.Run(t, e, command, "agent", "build", "-c", conf, "--source", src, "--embed", to, "linux/arm64"); status != 0 {
			t.Fatalf("%d: %s%s", status, out, errs)
		}
		i := sshexec.Images{Embedded: os.DirFS(to)}
		if l := i.List(true); len(l) != 1 || l[0].Err != nil || l[0].Platform != "linux/arm64" {
			t.Errorf("embedded: %+v", l)
		}
	}
	// What was built is what brine ssh would take.
	if status, out, errs = cmdtest.Run(t, e, command, "agent", "list", "-c", conf); status != 0 || !strings.Contains(out, "* linux/arm/v6") || !strings.Contains(out, dir+"/brine-linux-386") {
		t.Errorf("%d: %s%s", status, out, errs)
	}

	empty := t.TempDir()
	for _, tt := range []struct {
		name   string
		env    map[string]string
		args   []string
		status int
		texts  []string
	}{
		{"no platform", env(), nil, 64, []string{"no platform was given", "linux/riscv64"}},
		{"a platform that is none", env(), []string{"linux/arm65"}, 64, []string{`there is no platform "linux/arm65" (did you mean "linux/arm64"?)`}},
		{"another module", env(), []string{"--source", empty, "linux/arm64"}, 1, []string{empty + " is not the source of brine", "get the source of brine " + version.Number(), "--source"}},
		{"another version", env(), []string{"--source", other, "linux/arm64"}, 1, []string{other + " is the source of brine 9.9.9, and this is brine " + version.Number(), "check out version " + version.Number()}},
		{"built as another version", env("FAKE_GO_STAMP", strings.Replace(version.Stamp(), version.Number(), "9.9.8", 1)), []string{"--source", src, "linux/arm64"}, 1, []string{"brine 9.9.8"}},
		{"in the source", env("PWD", filepath.Join(src, "internal", "core", "version")), []string{"linux/arm64"}, 0, []string{"brine-linux-arm64"}},
		{"go fails", env("FAKE_GO_FAILS", "1"), []string{"--source", src, "linux/arm64"}, 1, []string{"go build in " + src + " says", "x.go:1: no", "build the agent for linux/arm64: go build ended with status 1"}},
		{"a directory that cannot be made", env(), []string{"--source", src, "--agent-dir", "/dev/null/x", "linux/arm64"}, 1, []string{"make the directory of agents"}},
		{"no home", env("HOME", ""), []string{"--source", src, "linux/arm64"}, 64, []string{"HOME is not set", "--agent-dir"}},
		{"to a directory", env(), []string{"--source", src, "--agent-dir", filepath.Join(empty, "a"), "linux/arm64"}, 0, []string{empty + "/a/brine-linux-arm64"}},
		{"no such command", env(), []string{"../list"}, 64, []string{"there is no platform"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, out, errs := cmdtest.Run(t, tt.env, command, append([]string{"agent", "build", "-c", conf}, tt.args...)...)
			if status != tt.status {
				t.Errorf("status %d, want %d: %s%s", status, tt.status, out, errs)
			}
			for _, text := range tt.texts {
				if !strings.Contains(out+errs, text) {
					t.Errorf("no %q in %s%s", text, out, errs)
				}
			}
			left, _ := filepath.Glob(filepath.Join(tt.env["HOME"], ".local/share/brine/agents/.new*"))
			if len(left) != 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
	if _, err := os.Stat("/usr/local/go/bin/go"); err != nil {
		status, _, errs := cmdtest.Run(t, env("PATH", empty), command, "agent", "build", "-c", conf, "--source", src, "linux/arm64")
		if status != 1 || !strings.Contains(errs, "there is no Go on this machine") || !strings.Contains(errs, "brine-agents") {
			t.Errorf("%d: %s", status, errs)
		}
	}
}

func TestAgentList(t *testing.T) {
	t.Parallel()
	conf, dir := t.TempDir(), t.TempDir()
	cmdtest.Write(t, filepath.Join(conf, "master"), "cachedir: "+t.TempDir()+"\nssh_agent_dir: "+dir+"\n", 0o644)
	env := map[string]string{"HOME": t.TempDir(), "PWD": dir, "PATH": os.Getenv("PATH")}
	cmdtest.Write(t, filepath.Join(dir, "brine-linux-arm64"), "x "+version.Stamp(), 0o755)
	if status, out, errs := cmdtest.Run(t, env, command, "agent", "list", "-c", conf); status != 0 || !strings.Contains(out, "* linux/arm64") || !strings.Contains(out, "this program") {
		t.Errorf("%d: %s%s", status, out, errs)
	}
	cmdtest.Write(t, filepath.Join(dir, "brine-linux-s390x"), "x "+strings.Replace(version.Stamp(), version.Number(), "0.0.1", 1), 0o755)
	if status, out, _ := cmdtest.Run(t, env, command, "agent", "list", "-c", conf, "--verify"); status != 1 || !strings.Contains(out, "! linux/s390x") || !strings.Contains(out, "is an agent of brine 0.0.1") {
		t.Errorf("%d: %s", status, out)
	}
	for _, args := range [][]string{{"agent", "list", "x"}, {"agent", "lst"}, {"agent", "list", "--verfy"}} {
		if status, _, errs := cmdtest.Run(t, env, command, args...); status != 64 || errs == "" {
			t.Errorf("%v: %d: %s", args, status, errs)
		}
	}
}

func command(a *app.App) *cobra.Command { return New(a, nil) }
