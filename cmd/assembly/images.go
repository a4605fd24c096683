//go:build !slim

package assembly

import (
	"os"
	"path/filepath"
	"strings"

	"brine/internal/core/agents"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/sshexec"
)

// Images returns the agents that can be placed on targets.
func Images(o EnvOptions, getenv func(string) string, opts *value.Map) *sshexec.Images {
	dir, named := AgentDir(opts, getenv)
	return &sshexec.Images{
		Exe: running(o.Exe), Dir: dir, Named: named, Embedded: agents.FS(), Shared: sharedAgents(o.Exe),
		Cache: filepath.Join(o.Config.CacheDir, "ssh"),
	}
}

// running is a path of the running program, which is the same program also after its file was
// replaced by an upgrade.
func running(exe string) string {
	const own = "/proc/self/exe"
	if self, err := host.Executable(); err != nil || exe != self {
		return exe
	}
	if _, err := os.Stat(own); err != nil {
		return exe
	}
	return own
}

// sharedAgents returns where packages install the agents of other platforms:
// share/brine/agents beside the directory of the program, and brine-agents in it.
func sharedAgents(exe string) []string {
	if exe == "" {
		return nil
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	bin := filepath.Dir(exe)
	return []string{filepath.Join(bin, "brine-agents"), filepath.Join(filepath.Dir(bin), "share", "brine", "agents")}
}

// AgentDir returns the directory of agents that a person built, and whether the
// configuration names it; "" where there is no home to have one in.
func AgentDir(opts *value.Map, getenv func(string) string) (dir string, named bool) {
	home := getenv("HOME")
	if d := opts.Str("ssh_agent_dir"); d != "" {
		if rest, ok := strings.CutPrefix(d, "~/"); ok && home != "" {
			d = filepath.Join(home, rest)
		}
		return d, true
	}
	if d := getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "brine", "agents"), false
	}
	if home == "" {
		return "", false
	}
	return filepath.Join(home, ".local", "share", "brine", "agents"), false
}
