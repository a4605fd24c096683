package nfsexport_test

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/nfs3"
	"brine/states/nfsexport"
)

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "nfs3", Load: nfs3.Module}, fun.Entry{Kind: fun.State, Name: "nfs_export", Load: nfsexport.States})
}

const byHand = "# mine\n/srv/a 10.0.0.1(rw,sync) \\\n  10.0.0.2(ro)\n/srv/b /srv/c host\n\"/srv/d e\" *(ro) # note"

func TestExports(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/etc/exports", byHand, 0o644)
	h.OnCommand("exportfs -r", host.Output{})
	rig(h).Steps(t, []calltest.Step{
		{"call nfs3.list_exports []", "{'/srv/a': [{'hosts': '10.0.0.1', 'options': ['rw', 'sync']}, {'hosts': '10.0.0.2', 'options': ['ro']}], '/srv/b': [{'hosts': 'host', 'options': []}], '/srv/c': [{'hosts': 'host', 'options': []}], '/srv/d e': [{'hosts': '*', 'options': ['ro']}]}"},
		{"test nfs_export.present {name: /srv/a, hosts: 10.0.0.1, options: [rw, sync]}", "None: Export /srv/a would be changed {'new': [{'hosts': '10.0.0.1', 'options': ['rw', 'sync']}], 'old': [{'hosts': '10.0.0.1', 'options': ['rw', 'sync']}, {'hosts': '10.0.0.2', 'options': ['ro']}]}"},
		{"state nfs_export.present {name: /srv/a, hosts: 10.0.0.1, options: 'rw,sync'}", "True:  {'new': [{'hosts': '10.0.0.1', 'options': ['rw', 'sync']}], 'old': [{'hosts': '10.0.0.1', 'options': ['rw', 'sync']}, {'hosts': '10.0.0.2', 'options': ['ro']}]}"},
		{"state nfs_export.present {name: /srv/a, clients: [{hosts: 10.0.0.1, options: [rw, sync]}]}", "True: Export /srv/a already configured {}"},
		{"test nfs_export.present {name: /srv/n, hosts: '*'}", "None: Export /srv/n would be added {'old': None, 'new': [{'hosts': '*', 'options': []}]}"},
		{"state nfs_export.present {name: /srv/n, hosts: '*'}", "True:  {'old': None, 'new': [{'hosts': '*', 'options': []}]}"},
		{"state nfs_export.present {name: /srv/n, hosts: '*'}", "True: Export /srv/n already configured {}"},
		{"state nfs_export.present {name: /srv/n}", "False: Either 'clients' or 'hosts' must be defined {}"},
		{"state nfs_export.present {name: /srv/n, clients: [{hosts: [a]}]}", "False: hosts argument must be a string {}"},
		{"state nfs_export.present {name: /srv/n, hosts: 'a b'}", "False: invalid hosts or options for /srv/n {}"},
		{"call nfs3.add_export {path: srv, hosts: a}", "error: invalid path 'srv': an absolute path is needed"},
		{"call nfs3.del_export {path: /none}", "error: '/none'"},
	})
	if got := h.Text("/etc/exports"); got != "# mine\n/srv/b /srv/c host\n\"/srv/d e\" *(ro) # note\n/srv/a 10.0.0.1(rw,sync)\n/srv/n *()\n" {
		t.Errorf("exports: %q", got)
	}
	h.OnCommand("exportfs -r", host.Output{Stderr: []byte("exportfs: no\n")})
	rig(h).Steps(t, []calltest.Step{
		{"test nfs_export.absent {name: /srv/b}", "None: Export /srv/b would be removed {'/srv/b': [{'hosts': 'host', 'options': []}]}"},
		{"state nfs_export.absent {name: /srv/b}", "False: exportfs: no {'/srv/b': [{'hosts': 'host', 'options': []}]}"},
		{"state nfs_export.absent {name: /srv/b}", "True: Export /srv/b already absent {}"},
		{"state nfs_export.absent {name: /srv/x, exports: /etc/none}", "True: Export /srv/x already absent {}"},
	})
	if got := h.Text("/etc/exports"); got != "# mine\n/srv/c host()\n\"/srv/d e\" *(ro) # note\n/srv/a 10.0.0.1(rw,sync)\n/srv/n *()\n" {
		t.Errorf("exports: %q", got)
	}
}

func FuzzExports(f *testing.F) {
	f.Add(byHand)
	f.Fuzz(func(t *testing.T, text string) {
		h := host.NewFake()
		h.PutFile("/etc/exports", text, 0o644)
		h.OnCommand("exportfs -r", host.Output{})
		r := rig(h)
		r.Fn(t, "nfs3.list_exports", "[]")
		r.State(t, "nfs_export.present", "{name: /srv/a, hosts: h, options: [rw]}", false)
		if got := r.State(t, "nfs_export.present", "{name: /srv/a, hosts: h, options: [rw]}", true); got != "True: Export /srv/a already configured {}" {
			t.Errorf("the second run: %s\n%q", got, h.Text("/etc/exports"))
		}
	})
}
