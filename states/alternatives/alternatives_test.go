package alternatives_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	alts "brine/modules/alternatives"
	"brine/states/alternatives"
)

// A machine has an update-alternatives that knows the name ed.
type machine struct {
	*host.Fake
	prio  map[string]int
	order []string
	auto  bool
}

func newMachine() *machine {
	m := &machine{Fake: host.NewFake(), prio: map[string]int{"/bin/vi": 10, "/bin/vim": 20}, order: []string{"/bin/vi", "/bin/vim"}, auto: true}
	for _, p := range []string{"/bin/vi", "/bin/vim", "/bin/nano"} {
		m.PutExe(p)
	}
	m.PutLink("/etc/alternatives/ed", "/bin/vim")
	m.HandleCommand("update-alternatives *", m.run)
	return m
}

func (m *machine) run(_ context.Context, c host.Cmd) (host.Output, error) {
	name := c.Argv[2]
	if c.Argv[1] == "--install" {
		name = c.Argv[3]
	}
	if name != "ed" {
		return host.Output{Status: 2, Stderr: []byte("update-alternatives: error: no alternatives for " + name + "\n")}, nil
	}
	switch c.Argv[1] {
	case "--display":
		mode := map[bool]string{true: "auto", false: "manual"}[m.auto]
		text := "ed - " + mode + " mode\n  link best version is /bin/vim\n  link ed is /usr/bin/ed\n"
		for _, p := range m.order {
			text += fmt.Sprintf("%s - priority %d\n  slave ed.1.gz: /x\n", p, m.prio[p])
		}
		return host.Output{Stdout: []byte(text)}, nil
	case "--query":
		return host.Output{Stdout: []byte("Name: ed\nLink: /usr/bin/ed\nStatus: auto\n\nAlternative: /bin/vi\n")}, nil
	case "--install":
		if p := c.Argv[4]; m.prio[p] == 0 {
			if _, err := m.Stat(p); err != nil {
				return host.Output{Status: 2, Stderr: []byte("update-alternatives: error: alternative path " + p + " doesn't exist\n")}, nil
			}
			m.order = append(m.order, p)
		}
		n := 0
		_, _ = fmt.Sscan(c.Argv[5], &n)
		m.prio[c.Argv[4]] = n
	case "--remove":
		delete(m.prio, c.Argv[3])
		m.order = m.order[:1]
	case "--set":
		if m.prio[c.Argv[3]] == 0 {
			return host.Output{Status: 2, Stderr: []byte("update-alternatives: error: alternative " + c.Argv[3] + " for ed not registered; not setting\n")}, nil
		}
		m.auto = false
		m.PutLink("/etc/alternatives/ed", c.Argv[3])
		return host.Output{Stdout: []byte("using " + c.Argv[3] + "\n")}, nil
	case "--auto":
		m.auto = true
	}
	best := ""
	for _, p := range m.order {
		if best == "" || m.prio[p] > m.prio[best] {
			best = p
		}
	}
	if m.auto {
		m.PutLink("/etc/alternatives/ed", best)
	}
	return host.Output{Stdout: []byte("using " + best + "\n")}, nil
}

func env(m *machine) *fun.Env {
	return calltest.Env(m, value.MapOf("os_family", "Debian"),
		fun.Entry{Kind: fun.Exec, Name: "alternatives", Load: alts.Module},
		fun.Entry{Kind: fun.State, Name: "alternatives", Load: alternatives.States})
}

// The comments are those of salt/states/alternatives.py, but where Salt reports
// success for what failed.
func TestStates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fun, args string
		test      bool
		want      string
		acts      string
	}{
		{"install", "{name: ed, link: /usr/bin/ed, path: /bin/vi, priority: 10}", false, "True Alternative /bin/vi for ed is already registered {}", ""},
		{"install", "{name: ed, link: /usr/bin/ed, path: /bin/vi, priority: 30}", true, "None Alternative will be set for ed to /bin/vi with priority 30 {}", ""},
		{
			"install", "{name: ed, link: /usr/bin/ed, path: /bin/vi, priority: 30}", false,
			"True Alternative for ed set to path /bin/vi with priority 30 {'name': 'ed', 'link': '/usr/bin/ed', 'path': '/bin/vi', 'priority': 30}",
			"--install /usr/bin/ed ed /bin/vi 30",
		},
		{
			"install", "{name: ed, link: /usr/bin/ed, path: /bin/nano, priority: '5'}", false,
			"True Alternative /bin/nano for ed registered with priority 5 and not set to default {'name': 'ed', 'link': '/usr/bin/ed', 'path': '/bin/nano', 'priority': 5}",
			"--install /usr/bin/ed ed /bin/nano 5",
		},
		{
			"install", "{name: ed, link: /usr/bin/ed, path: /bin/none, priority: 5}", false,
			"False Alternative for ed not installed: update-alternatives: error: alternative path /bin/none doesn't exist {}", "--install /usr/bin/ed ed /bin/none 5",
		},
		{"install", "{name: -x, link: /usr/bin/ed, path: /bin/none, priority: 5}", false, "False '-x' is not the name of an alternative {}", ""},
		{"remove", "{name: ed, path: /bin/vim}", true, "None Alternative for ed will be removed {}", ""},
		{"remove", "{name: ed, path: /bin/vim}", false, "True Alternative for ed removed. Falling back to path /bin/vi {'path': '/bin/vi'}", "--remove ed /bin/vim"},
		{"remove", "{name: ed, path: /bin/v}", false, "True Alternative for ed is set to it's default path /bin/vim {}", ""},
		{"remove", "{name: none, path: /bin/vi}", false, "False Alternative for none doesn't exist {}", ""},
		{"set", "{name: ed, path: /bin/vim}", false, "True Alternative for ed already set to /bin/vim {}", ""},
		{"set", "{name: ed, path: /bin/vi}", true, "None Alternative for ed will be set to path /bin/vi {}", ""},
		{"set", "{name: ed, path: /bin/vi}", false, "True Alternative for ed set to path /bin/vi {'path': '/bin/vi'}", "--set ed /bin/vi"},
		{"set", "{name: ed, path: /bin/nano}", false, "False Alternative /bin/nano for ed doesn't exist {}", ""},
		{"auto", "{name: ed}", false, "True ed already in auto mode {}", ""},
		{"auto", "{name: none}", false, "False update-alternatives: error: no alternatives for none {}", ""},
	} {
		t.Run(tt.fun+" "+tt.args, func(t *testing.T) {
			t.Parallel()
			m := newMachine()
			if diff := cmp.Diff(tt.want, calltest.State(t, env(m), "alternatives."+tt.fun, tt.args, tt.test)); diff != "" {
				t.Error(diff)
			}
			var acts []string
			for _, c := range m.Calls() {
				if c.Argv[1] != "--display" {
					acts = append(acts, strings.Join(c.Argv[1:], " "))
				}
			}
			if diff := cmp.Diff(tt.acts, strings.Join(acts, "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
	m := newMachine()
	m.auto = false
	e := env(m)
	got := calltest.State(t, e, "alternatives.auto", "{name: ed}", true) + "; " + calltest.State(t, e, "alternatives.auto", "{name: ed}", false)
	if want := "None ed will be put in auto mode {}; True  {'result': 'using /bin/vim'}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ fun, args, want string }{
		{"show_link", "{name: ed}", "'/usr/bin/ed'"},
		{"show_link", "{name: none}", "False"},
		{"show_current", "{name: ed}", "'/bin/vim'"},
		{"show_current", "{name: none}", "False"},
		{"show_current", "{name: ../../etc/passwd}", "error: '../../etc/passwd' is not the name of an alternative"},
		{"check_exists", "{name: ed, path: /bin/vi}", "True"},
		{"check_exists", "{name: ed, path: /bin/v}", "False"},
		{"check_installed", "{name: ed, path: /bin/vim}", "True"},
		{"check_installed", "{name: none, path: /bin/vim}", "False"},
		{"display", "{name: none}", "'update-alternatives: error: no alternatives for none'"},
		{"install", "{name: ed, link: /usr/bin/ed, path: /bin/nano, priority: 40}", "'using /bin/nano'"},
		{"install", "{name: ed, link: --x, path: /bin/nano, priority: 40}", "error: '--x' is not a path"},
		{"set", "{name: ed, path: /bin/none}", "'update-alternatives: error: alternative /bin/none for ed not registered; not setting'"},
		{"remove", "{name: ed, path: /bin/vim}", "'using /bin/vi'"},
		{"auto", "{name: ed}", "'using /bin/vim'"},
	} {
		t.Run(tt.fun+" "+tt.args, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, calltest.Call(t, env(newMachine()), "alternatives."+tt.fun, tt.args)); diff != "" {
				t.Error(diff)
			}
		})
	}
	h := host.NewFake()
	h.PutFile("/var/lib/alternatives/ed", "auto\n/usr/bin/ed\n\n", 0o644)
	h.PutDir("/etc/alternatives", 0o755)
	e := calltest.Env(h, value.MapOf("os_family", "RedHat"), fun.Entry{Kind: fun.Exec, Name: "alternatives", Load: alts.Module})
	if got := calltest.Call(t, e, "alternatives.show_link", "{name: ed}"); got != "'/usr/bin/ed'" {
		t.Error(got)
	}
}
