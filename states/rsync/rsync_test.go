package rsync_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	configmod "brine/modules/config"
	cpmod "brine/modules/cp"
	rsyncmod "brine/modules/rsync"
	"brine/states/rsync"
)

const tail = "\n\nsent 100 bytes  received 20 bytes  240.00 bytes/sec\ntotal size is 5  speedup is 0.04\n"

func TestRsync(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutExe("/usr/bin/rsync")
	h.PutDir("/dst", 0o755)
	h.PutFile("/srv/salt/tree/a", "A", 0o644)
	h.PutFile("/srv/salt/one", "1", 0o644)
	var tmp string
	h.HandleCommand("rsync -avz*", func(_ context.Context, c host.Cmd) (host.Output, error) {
		line := strings.Join(c.Argv[2:], " ")
		switch {
		case strings.Contains(line, "/fail"):
			return host.Output{Status: 23, Stderr: []byte("rsync: no such file\n")}, nil
		case strings.Contains(line, "/same"):
			return host.Output{Stdout: []byte("sending incremental file list" + tail)}, nil
		case strings.Contains(line, "brine-rsync-"):
			tmp = c.Argv[len(c.Argv)-2]
			return host.Output{Stdout: []byte(strings.Join(h.Tree("/tmp"), " "))}, nil
		case strings.Contains(line, "/opts"):
			return host.Output{Stdout: []byte(line)}, nil
		}
		return host.Output{Stdout: []byte("sending incremental file list\ndeleting old\nb\na" + tail)}, nil
	})
	h.OnCommand("rsync --version", host.Output{Stdout: []byte("rsync  version 3.2.7  protocol version 31\n")})
	h.PutFile("/etc/rsyncd.conf", "uid = nobody\n", 0o644)
	r := calltest.New(
		h, fun.Entry{Kind: fun.Exec, Name: "rsync", Load: rsyncmod.Module}, fun.Entry{Kind: fun.State, Name: "rsync", Load: rsync.States},
		fun.Entry{Kind: fun.Exec, Name: "cp", Load: cpmod.Module}, fun.Entry{Kind: fun.Exec, Name: "config", Load: configmod.Module},
	)
	const sum = "- sent 100 bytes\n- received 20 bytes\n- 240.00 bytes/sec\n- total size is 5\n- speedup is 0.04"
	r.Steps(t, []calltest.Step{
		{"state rsync.synchronized {name: /none, source: /src}", "False: Destination directory /none was not found. {}"},
		{"test rsync.synchronized {name: /none, source: /src, prepare: true}", "None: " + sum + " {}"},
		{"test rsync.synchronized {name: /dst, source: /same}", "True: " + sum + " {}"},
		{"state rsync.synchronized {name: /dst, source: /src, delete: true}", "True: " + sum + " {'copied': 'a\\nb', 'deleted': 'old'}"},
		{"state rsync.synchronized {name: /dst, source: /same}", "True: " + sum + " {}"},
		{"state rsync.synchronized {name: /dst, source: /src, dryrun: true}", "None: " + sum + " {}"},
		{"state rsync.synchronized {name: /dst, source: /fail}", "False: rsync: no such file {}"},
		{"call rsync.rsync {src: '', dst: /dst}", "error: src and dst cannot be empty"},
		{"call rsync.rsync {src: /opts, dst: -x, delete: true, update: true, exclude: [a, b], passwordfile: /p, rsh: ssh -p 3, dryrun: true, additional_opts: [--chown=a]}", "{'pid': 5007, 'retcode': 0, 'stdout': '--delete --update --rsh=ssh -p 3 --password-file /p --exclude a --exclude b --dry-run --chown=a -- /opts -x', 'stderr': ''}"},
		{"call rsync.rsync {src: /opts, dst: /d, exclude: a, excludefrom: /e}", "{'pid': 5008, 'retcode': 0, 'stdout': '--exclude-from /e -- /opts /d', 'stderr': ''}"},
		{"call rsync.version []", "'3.2.7'"},
		{"call rsync.config []", "'uid = nobody\\n'"},
		{"call rsync.config [/etc]", "error: Unable to read /etc, path is a directory"},
		{"call rsync.config [/none]", "error: /none does not exist"},
		{"call rsync.rsync ['salt://nothing', /dst]", "error: salt://nothing does not exist"},
	})
	for _, src := range []string{"salt://tree", "salt://one"} {
		if got := r.Fn(t, "rsync.rsync", "['"+src+"', /dst]"); !strings.Contains(got, "brine-rsync-") {
			t.Errorf("%s: %s", src, got)
		}
		if _, err := h.Stat(strings.TrimSuffix(tmp, "/")); tmp == "" || err == nil {
			t.Errorf("%s: %q is left", src, tmp)
		}
	}
	if _, err := h.Stat("/none"); err == nil {
		t.Error("test mode made /none")
	}
}
