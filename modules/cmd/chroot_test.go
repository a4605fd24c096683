package cmd_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	cmdmod "brine/modules/cmd"
)

// A mountTable answers the functions of the module mount.
type mountTable struct {
	points []string // what is mounted, in order
	log    []string
	fails  string // mount point that cannot be mounted
}

type mountNameArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required"`
}

type mountArgs struct {
	mountNameArgs
	Device string `arg:"device"`
	_      bool   `arg:"mkmnt"`
	_      string `arg:"fstype"`
	Opts   string `arg:"opts"`
}

func (m *mountTable) module() fun.Module {
	return fun.Module{Name: "mount", Kind: fun.Exec, Specs: []fun.Spec{
		{Name: "is_mounted", Do: func(_ context.Context, _ *fun.Call, a *mountNameArgs) (fun.Result, error) {
			return fun.Value(slices.Contains(m.points, a.Name))
		}},
		{Name: "mount", Do: func(_ context.Context, _ *fun.Call, a *mountArgs) (fun.Result, error) {
			if a.Name == m.fails {
				return fun.Value("mount: no such device")
			}
			m.points = append(m.points, a.Name)
			m.log = append(m.log, strings.TrimSpace("mount "+a.Device+" "+a.Name+" "+a.Opts))
			return fun.Value(true)
		}},
		{Name: "umount", Do: func(_ context.Context, _ *fun.Call, a *mountNameArgs) (fun.Result, error) {
			m.points = slices.DeleteFunc(m.points, func(p string) bool { return p == a.Name })
			m.log = append(m.log, "umount "+a.Name)
			return fun.Value(true)
		}},
	}}
}

func TestRunChroot(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, args, want string
		table            mountTable
		log              []string
	}{
		{
			"a command", "{root: /srv/c, cmd: 'echo a b', binds: [/opt]}",
			"{'pid': 1, 'retcode': 0, 'stdout': 'chroot /srv/c /bin/sh -c echo a b', 'stderr': ''}",
			mountTable{},
			[]string{
				"mount devtmpfs /srv/c/dev", "mount proc /srv/c/proc", "mount sysfs /srv/c/sys", "mount /opt /srv/c/opt defaults,bind",
				"umount /srv/c/opt", "umount /srv/c/sys", "umount /srv/c/proc", "umount /srv/c/dev",
			},
		},
		{
			"what was mounted stays", "{root: /srv/c/, cmd: [id, -u], runas: ann, group: web}",
			"{'pid': 1, 'retcode': 0, 'stdout': 'chroot --userspec ann:web /srv/c /bin/sh -c id -u', 'stderr': ''}",
			mountTable{points: []string{"/srv/c/dev", "/srv/c/proc"}},
			[]string{"mount sysfs /srv/c/sys", "umount /srv/c/sys"},
		},
		{
			"bash is preferred", "{root: /srv/bash, cmd: x}",
			"{'pid': 1, 'retcode': 0, 'stdout': 'chroot /srv/bash /bin/bash -c x', 'stderr': ''}",
			mountTable{points: []string{"/srv/bash/dev", "/srv/bash/proc", "/srv/bash/sys"}},
			nil,
		},
		{
			"a mount of its own that fails", "{root: /srv/c, cmd: x}",
			"{'pid': 1, 'retcode': 0, 'stdout': 'chroot /srv/c /bin/sh -c x', 'stderr': ''}",
			mountTable{fails: "/srv/c/proc"},
			[]string{"mount devtmpfs /srv/c/dev", "mount sysfs /srv/c/sys", "umount /srv/c/sys", "umount /srv/c/dev"},
		},
		{
			"a bind that fails", "{root: /srv/c, cmd: x, binds: [/opt]}", "error: Unable to mount /srv/c/opt: mount: no such device",
			mountTable{fails: "/srv/c/opt", points: []string{"/srv/c/dev", "/srv/c/proc"}},
			[]string{"mount sysfs /srv/c/sys", "umount /srv/c/sys"},
		},
		{"no directory", "{root: /srv/none, cmd: x}", "error: root '/srv/none' is not a directory in which a command can be run", mountTable{}, nil},
		{"the root itself", "{root: //, cmd: x}", "error: root '//' is not a directory in which a command can be run", mountTable{}, nil},
		{"the root itself by a link", "{root: /srv/link, cmd: x}", "error: root '/srv/link' is not a directory in which a command can be run", mountTable{}, nil},
		{"a link to this machine's directory", "{root: /srv/odd, cmd: x}", "error: Unable to mount /srv/odd/dev: it leads to /dev by a link", mountTable{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := host.NewFake()
			h.PutDir("/srv/c", 0o755)
			h.PutFile("/srv/bash/bin/bash", "", 0o755)
			h.PutFile("/bin/sh", "", 0o755)
			h.PutDir("/dev", 0o755)
			h.PutDir("/srv/odd", 0o755)
			h.PutLink("/srv/odd/dev", "/dev")
			h.PutLink("/srv/link", "/")
			h.Handle(func(host.Cmd) bool { return true }, func(_ context.Context, c host.Cmd) (host.Output, error) {
				words := c.Argv
				if len(words) == 3 && words[1] == "-c" { // of the shell
					words = []string{strings.ReplaceAll(words[2], "'", "")}
				}
				return host.Output{PID: 1, Stdout: []byte(strings.Join(words, " "))}, nil
			})
			rig := calltest.New(h,
				fun.Entry{Kind: fun.Exec, Name: "cmd", Load: cmdmod.Module},
				fun.Entry{Kind: fun.Exec, Name: "mount", Load: tt.table.module})
			if got := rig.Fn(t, "cmd.run_chroot", tt.args); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if diff := cmp.Diff(tt.log, tt.table.log); diff != "" {
				t.Errorf("mounts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestShellInfo(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	for _, name := range []string{"bash", "zsh", "perl"} {
		h.PutFile("/usr/bin/"+name, "", 0o755)
	}
	h.OnCommand("*/bash --version", host.Output{Stdout: []byte("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n")})
	h.OnCommand("*/zsh --version", host.Output{Stdout: []byte("odd")})
	h.OnCommand("*/perl -e*", host.Output{TimedOut: true})
	calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "cmd", Load: cmdmod.Module}).Steps(t, []calltest.Step{
		{"call cmd.shell_info [bash]", "{'installed': True, 'path': '/usr/bin/bash', 'version_raw': '5.2.15(1)-release', 'version': '5.2.15'}"},
		{"call cmd.shell_info [zsh]", "{'installed': None, 'path': '/usr/bin/zsh', 'error': 'The version regex pattern for shell zsh, could not find the version string', 'stdout': 'odd'}"},
		{"call cmd.shell_info [ruby]", "{'error': \"Unable to run command 'ruby -v' Reason: [Errno 2] No such file or directory: 'ruby'\", 'installed': False}"},
		{"call cmd.shell_info [perl]", `{'error': 'Unable to run command \'perl -e printf "%vd\\n", $^V;\' Reason: Timed out.', 'installed': False}`},
		{"call cmd.shell_info [fish]", "{'error': 'Salt does not know how to get the version number for fish', 'installed': None}"},
	})
}

func TestTTY(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/dev/tty1", "", 0o620)
	h.PutFile("/dev/pts/3", "", 0o620)
	calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "cmd", Load: cmdmod.Module}).Steps(t, []calltest.Step{
		{"call cmd.tty [tty1, hello]", "{'Success': 'Message was successfully echoed to /dev/tty1'}"},
		{"call cmd.tty [pts3, hello]", "{'Success': 'Message was successfully echoed to /dev/pts/3'}"},
		{"call cmd.tty [tty9, hello]", "{'Error': 'Echoing to /dev/tty9 returned error'}"},
		{"call cmd.tty [tty/../../etc/x, hello]", "{'Error': 'The specified device is not a valid TTY'}"},
		{"call cmd.tty [console]", "{'Error': 'The specified device is not a valid TTY'}"},
	})
	for _, path := range []string{"/dev/tty1", "/dev/pts/3"} {
		if b, err := h.ReadFile(path); err != nil || string(b) != "hello" {
			t.Errorf("%s has %q, %v", path, b, err)
		}
	}
	if _, err := h.Stat("/dev/tty9"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("/dev/tty9: %v", err)
	}
}
