package assembly

import (
	"context"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/runner/exec"
)

// A plannedRun is a run on a machine in memory, and what its plan has to say by ID;
// others are free.
type plannedRun struct {
	name, states string
	effect       map[string]string
}

var plannedRuns = []plannedRun{
	{"jobs of one crontab", `
- {state: cron, fun: present, name: /bin/a, __id__: new, minute: 5}
- {state: cron, fun: present, name: /bin/a, __id__: again, minute: 5}
- {state: cron, fun: present, name: /bin/a, __id__: other, minute: 6}
- {state: cron, fun: present, name: /bin/b, __id__: random, minute: random}
- {state: cron, fun: present, name: /bin/b, __id__: random2, minute: random}
- {state: cron, fun: absent, name: /bin/a, __id__: away}
- {state: cron, fun: absent, name: /bin/a, __id__: away2}
- {state: cron, fun: absent, name: /bin/old, __id__: old}
- {state: cron, fun: present, name: /bin/old, __id__: back}
- {state: cron, fun: env_present, name: PATH, value: /bin, __id__: env}
- {state: cron, fun: env_present, name: PATH, value: /bin, __id__: env2}
- {state: cron, fun: env_absent, name: PATH, __id__: noenv}
- {state: cron, fun: present, name: /bin/a, __id__: ofann, user: ann, minute: 5}
- {state: file, fun: exists, name: /var/spool/cron/crontabs/root, __id__: spool}
`, map[string]string{
		"new": "change", "again": "same", "other": "change", "random": "change", "random2": "same", "away": "change", "away2": "same",
		"old": "change", "back": "change", "env": "change", "env2": "same", "noenv": "change", "ofann": "change", "spool": "?",
	}},
	{"kernel parameters", `
- {state: sysctl, fun: present, name: net.a, value: 1, __id__: new}
- {state: sysctl, fun: present, name: net.a, value: '1', __id__: again}
- {state: sysctl, fun: present, name: net.a, value: 2, __id__: other}
- {state: sysctl, fun: present, name: net.b, value: '1 2', __id__: words}
- {state: sysctl, fun: present, name: net.b, value: "1\t2", __id__: words2}
- {state: sysctl, fun: present, name: net.a, value: 2, config: /etc/sysctl.d/x.conf, __id__: elsewhere}
- {state: file, fun: exists, name: /etc/sysctl.d/x.conf, __id__: there}
- {state: file, fun: append, name: /etc/sysctl.d/x.conf, text: 'net.a = 2', __id__: line}
`, map[string]string{
		"new": "change", "again": "same", "other": "change", "words": "change", "words2": "same", "elsewhere": "change", "there": "same", "line": "same",
	}},
	{"lines of the fstab", `
- {state: mount, fun: fstab_present, name: /dev/x1, fs_file: /mnt/a, fs_vfstype: ext4, mount: false, __id__: new}
- {state: mount, fun: fstab_present, name: /dev/x1, fs_file: /mnt/a, fs_vfstype: ext4, mount: false, __id__: again}
- {state: mount, fun: fstab_present, name: /dev/x1, fs_file: /mnt/a, fs_vfstype: ext4, fs_mntops: ro, mount: false, __id__: other}
- {state: file, fun: append, name: /etc/fstab, text: '# x', __id__: line}
- {state: mount, fun: fstab_absent, name: /dev/x1, fs_file: /mnt/a, __id__: away}
- {state: mount, fun: fstab_absent, name: /dev/x1, fs_file: /mnt/a, __id__: away2}
- {state: mount, fun: mounted, name: /mnt/a, device: /dev/x1, fstype: ext4, mount: false, __id__: kept}
- {state: mount, fun: mounted, name: /mnt/a, device: /dev/x1, fstype: ext4, mount: false, __id__: kept2}
`, map[string]string{
		"new": "change", "again": "same", "other": "change", "line": "change", "away": "change", "away2": "same", "kept": "change", "kept2": "same",
	}},
	{"what is mounted", `
- {state: mount, fun: mounted, name: /mnt/a, device: /dev/x1, fstype: ext4, __id__: mounts}
- {state: file, fun: managed, name: /mnt/a/file, contents: x, __id__: in}
- {state: file, fun: directory, name: /mnt/a, mode: '0700', __id__: root}
- {state: cmd, fun: run, name: touch x, creates: /mnt/a/there, __id__: creates}
- {state: file, fun: managed, name: /mnt/b, contents: x, __id__: beside}
- {state: mount, fun: mounted, name: /mnt/a, device: /dev/x1, fstype: ext4, __id__: again}
- {state: mount, fun: unmounted, name: /mnt/a, __id__: away}
- {state: mount, fun: mounted, name: /mnt/c/d, device: /dev/x2, fstype: ext4, mkmnt: true, __id__: makes}
- {state: file, fun: directory, name: /mnt/c, __id__: made}
- {state: mount, fun: unmounted, name: /mnt/was, __id__: unmounts}
- {state: file, fun: exists, name: /mnt/was/f, __id__: hidden}
`, map[string]string{
		"mounts": "change", "in": "?", "root": "?", "creates": "?", "beside": "change", "again": "?", "away": "?", "makes": "change", "made": "same",
		"unmounts": "change", "hidden": "?",
	}},
	{"what an earlier state changes that no overlay has", `
- {state: things, fun: present, name: one, __id__: first}
- {state: things, fun: present, name: one, __id__: second}
- {state: things, fun: absent, name: one, __id__: third}
- {state: things, fun: present, name: two, __id__: another}
`, map[string]string{"first": "change", "second": "?", "third": "?", "another": "change"}},
}

// TestPlanThenRun plans runs on machines in memory, runs them there, and compares state by
// state: what is said to change does, and what is said not to does not.
func TestPlanThenRun(t *testing.T) {
	t.Parallel()
	for _, p := range plannedRuns {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			fake := workshop()
			said := runOf(t, fake, p.states, true)
			if w := fake.Writes(); len(w) > 0 {
				t.Fatalf("the plan wrote %v", w)
			}
			for id, want := range p.effect {
				if got, _, _ := strings.Cut(said[id], " "); got != want {
					t.Errorf("the plan says %q of %s, want %q", said[id], id, want)
				}
			}
			for id, did := range runOf(t, fake, p.states, false) {
				if got := said[id]; (got == "change" || got == "same") && got != did {
					t.Errorf("the plan says %q of %s, but the run: %q", got, id, did)
				}
			}
		})
	}
}

// workshop is a machine with crontabs, kernel parameters and file systems.
func workshop() *host.Fake {
	h := host.NewFake()
	h.OnCommand("*", host.Output{})
	h.PutDir("/run/systemd/system", 0o755)
	h.PutUser(host.Account{Name: "ann", UID: 1001, GID: 1001, Home: "/home/ann"})
	for _, name := range []string{"crontab", "sysctl", "mount", "umount", "blkid"} {
		h.PutExe("/usr/bin/" + name)
	}
	tabs := map[string]string{"root": "# Lines below here are managed by Salt, do not edit\n# SALT_CRON_IDENTIFIER:/bin/old\n* * * * * /bin/old\n"}
	h.PutDir("/var/spool/cron/crontabs", 0o755)
	h.HandleCommand("crontab *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		user, argv := "root", c.Argv[1:]
		if argv[0] == "-u" {
			user, argv = argv[1], argv[2:]
		}
		if argv[0] != "-l" {
			tabs[user] = h.Text(argv[0])
			h.PutFile("/var/spool/cron/crontabs/"+user, tabs[user], 0o600)
			return host.Output{}, nil
		}
		if text, ok := tabs[user]; ok {
			return host.Output{Stdout: []byte(text)}, nil
		}
		return host.Output{Status: 1, Stderr: []byte("no crontab for " + user + "\n")}, nil
	})
	h.PutFile("/proc/sys/net/a", "0\n", 0o644)
	h.PutFile("/proc/sys/net/b", "0\t0\n", 0o644)
	h.HandleCommand("sysctl -w *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		name, val, _ := strings.Cut(c.Argv[2], "=")
		h.PutFile("/proc/sys/"+strings.ReplaceAll(name, ".", "/"), strings.Join(strings.Fields(val), "\t")+"\n", 0o644)
		return host.Output{Stdout: []byte(name + " = " + val + "\n")}, nil
	})
	const info = "/proc/self/mountinfo"
	h.PutFile("/etc/fstab", "# none\n", 0o644)
	h.PutFile("/mnt/was/f", "x", 0o644)
	h.PutDir("/mnt/a", 0o755)
	mounts := []string{"20 1 8:1 / / rw - ext4 /dev/sda1 rw", "21 20 8:2 / /mnt/was rw - ext4 /dev/sda2 rw"}
	list := func() {
		h.PutFile(info, strings.Join(mounts, "\n")+"\n", 0o444)
		var short []string
		for _, m := range mounts {
			f := strings.Fields(m)
			short = append(short, f[8]+" "+f[4]+" "+f[7]+" rw 0 0\n")
		}
		h.PutFile("/proc/self/mounts", strings.Join(short, ""), 0o444)
	}
	list()
	h.HandleCommand("mount *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		to := c.Argv[len(c.Argv)-1]
		mounts = append(mounts, "30 20 8:3 / "+to+" rw - ext4 "+c.Argv[len(c.Argv)-2]+" rw")
		h.PutFile(to+"/there", "x", 0o644) // what the file system has
		list()
		return host.Output{}, nil
	})
	h.HandleCommand("umount *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		to := c.Argv[len(c.Argv)-1]
		mounts = slices.DeleteFunc(mounts, func(m string) bool { return strings.Contains(m, " "+to+" ") })
		list()
		return host.Output{}, h.RemoveAll(to + "/f")
	})
	return h
}

// things is a module whose states change what no overlay has.
func things() fun.Entry {
	there := false
	set := func(want bool) fun.StateFn {
		return func(_ context.Context, c *fun.Call) fun.Ret {
			if there == want {
				return fun.Ret{Result: fun.OK}
			}
			if c.Test {
				return fun.Due("It would be made so")
			}
			there = want
			return fun.Ret{Result: fun.OK, Changes: value.MapOf("there", want)}
		}
	}
	name := []fun.Arg{{Name: "name", Required: true}}
	return fun.Entry{Kind: fun.State, Name: "things", Custom: true, Load: func() fun.Module {
		return fun.Module{Name: "things", Kind: fun.State, Specs: []fun.Spec{{Name: "absent", Args: name, State: set(false)}, {Name: "present", Args: name, State: set(true)}}}
	}}
}

// runOf runs states, or plans them, and returns what each does, by ID.
func runOf(t *testing.T, h host.Host, states string, plan bool) map[string]string {
	t.Helper()
	env, _ := fakeEnv(h)
	env.Table = env.Table.With([]fun.Entry{things()})
	env.Invoker = env.NewInvoker(env)
	env.Plan = plan
	env.Opts = env.Opts.Copy()
	env.Opts.Set("test", plan)
	var chunks []*fun.Chunk
	for _, x := range calltest.YAML(t, states).(*value.List).Items {
		low := x.(*value.Map)
		low.Set("__sls__", "s")
		low.Set("__env__", "base")
		chunks = append(chunks, &fun.Chunk{State: low.Str("state"), Fun: low.Str("fun"), ID: low.Str("__id__"), Name: low.Str("name"), SLS: "s", SaltEnv: "base", Low: low})
	}
	run, err := exec.Run(t.Context(), env, chunks, exec.Options{Test: plan})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, v := range run.Returns.All() {
		ret := v.(*value.Map)
		what := "same"
		switch why := ret.Map(fun.PlanKey).Str(fun.PlanUnsure); {
		case why != "":
			what = "? " + why
		case ret.At("result") == false:
			what = "fails: " + value.Str(ret.At("comment"))
		case ret.At("result") == nil || value.Truth(ret.At("changes")):
			what = "change"
		}
		out[ret.Str("__id__")] = what
	}
	return out
}
