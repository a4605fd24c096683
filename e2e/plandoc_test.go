package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"brine/internal/testkit"
	"brine/internal/testkit/sshtest"
)

// TestPlanDocument: plans of many kinds are documents of the schema, fit a comment as
// Markdown, and have the exit status that --detailed-exitcode promises: 0 only where
// all was looked at and nothing would change.
func TestPlanDocument(t *testing.T) {
	t.Parallel()
	s := &site{t: t, sshd: &sshtest.Server{}, dir: t.TempDir()}
	s.home = s.path("home")
	out := s.path("out")
	s.write("out/there", "x\n")
	s.write("master", "id: ctl\nfile_roots: {base: ["+s.path("salt")+"]}\ncachedir: "+s.path("cache")+"\ntimeout: 5\n")
	s.write("roster", `alpine: {connection: local, grains: {os_family: Alpine, os: Alpine}}
web1: {connection: local}
web2: {connection: local}
dead: {host: 127.0.0.1, port: 1, priv: agent-forwarding}
`)
	// A package manager that lists packages and is asked nothing else.
	s.write("bin/apk", "#!/bin/sh\n[ \"$1\" != info ] || echo nginx-1.22.1-r0\n")
	if err := os.Chmod(s.path("bin/apk"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.env = []string{"PATH=" + s.path("bin") + ":" + os.Getenv("PATH")}
	s.write("salt/same.sls", "same: {file.exists: [{name: "+out+"/there}]}\n")
	s.write("salt/new.sls", "new: {file.managed: [{name: "+out+"/{{ grains.id }}}, {contents: '| `x` <b>'}]}\n")
	s.write("salt/packages.sls", `
up: {pkg.installed: [{name: nginx}, {version: 1.24.0-r0}]}
more: {pkg.installed: [{name: curl}]}
`)
	s.write("salt/removed.sls", "gone: {pkg.removed: [{name: nginx}]}\n")
	s.write("salt/unknown.sls", `
make: {cmd.run: [{name: touch `+out+`/made}, {creates: `+out+`/made}]}
late: {file.managed: [{name: `+out+`/late}, {contents: x}, {unless: test -e `+out+`/made}]}
`)
	s.write("salt/waits.sls", "fun: {salt.function: [{name: test.ping}, {tgt: 'web*'}]}\n")
	s.write("salt/fails.sls", "fails: {test.fail_without_changes: []}\n")
	s.write("salt/mended.sls", `
make: {cmd.run: [{name: touch `+out+`/made}]}
seen: {file.exists: [{name: `+out+`/made}]}
`)
	s.write("salt/orch/inner.sls", "in: {salt.state: [{tgt: 'web*'}, {sls: new}]}\n")
	s.write("salt/orch/nested.sls", "same: {salt.state: [{tgt: web1}, {sls: same}]}\ninner: {salt.runner: [{name: state.orchestrate}, {mods: orch.inner}]}\n")
	s.write("salt/orch/nobody.sls", "none: {salt.state: [{tgt: 'nobody*'}, {sls: same}]}\n")
	s.write("salt/orch/same.sls", "same: {salt.state: [{tgt: 'web*'}, {sls: same}]}\n")
	s.write("salt/orch/skipped.sls", "same: {salt.state: [{tgt: 'web*'}, {sls: same}]}\nonfail: {salt.function: [{name: test.ping}, {tgt: web1}, {onfail: [{salt: same}]}]}\n")

	type totals struct {
		Changes, Unknown, Failures, Unreached, Unmatched, Faults, Removals, Steps int
		MayFail                                                                   int `json:"may_fail"`
	}
	for _, tt := range []struct {
		name string
		args string
		exit int
		want totals
		says string // in the Markdown
	}{
		{"nothing to change", "--ssh web* state.apply same", 0, totals{Steps: 1}, "**2 hosts, 0 changes**"},
		{"an orchestration with nothing to change", "orch.same", 0, totals{Steps: 1}, "| 2 | 0 | 0 | 0 | 0 | 2 | 0 |"},
		{"changes", "--ssh web* state.apply new", 2, totals{Steps: 1, Changes: 2}, "+| `x` <b>"},
		{"packages", "--ssh alpine state.apply packages", 2, totals{Steps: 1, Changes: 2}, "upgrade nginx from 1.22.1-r0 to 1.24.0-r0"},
		{"a package is removed", "--ssh alpine state.apply removed", 2, totals{Steps: 1, Changes: 1, Removals: 1}, "### Packages that are removed or become older\n\n- `remove nginx 1.22.1-r0` on `1 host: alpine`"},
		{"unknown states", "--ssh web1 state.apply unknown", 2, totals{Steps: 1, Changes: 1, Unknown: 1}, "### Not known yet\n\n- `1. late (file.managed)` on `1 host: web1`"},
		{"unknown alone", "waits", 2, totals{Steps: 1, Unknown: 1}, "- `1. fun (test.ping)` on `2 hosts: web[1-2]`: `not known until it runs`"},
		{"may fail", "--ssh web1 state.apply mended", 2, totals{Steps: 1, Changes: 1, MayFail: 1}, "### May fail\n"},
		{"fails", "--ssh web1 state.apply fails", 1, totals{Steps: 1, Failures: 1}, "### Would fail\n"},
		{"a step that is skipped", "orch.skipped", 2, totals{Steps: 2, Unknown: 1}, "it runs only if a step of its onfail fails"},
		{"unreachable", "--ssh * state.apply same", 1, totals{Steps: 1, Unreached: 1}, "### Not reached, or without a plan\n\n- `dead` in step"},
		{"nobody", "orch.nobody", 1, totals{Steps: 1, Unmatched: 1}, "`no target matches`"},
		{"an SLS that is not there", "--ssh web1 state.apply nowhere", 1, totals{Steps: 1, Faults: 1}, "- `web1` in step"},
		{"nested", "orch.nested", 2, totals{Steps: 3, Changes: 2}, "| `2.1. in` | 2 | 2 | 0 | 0 | 0 | 0 | 0 |"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"plan"}, strings.Fields(tt.args)...)
			r := s.brine(append(args, "--out=json", "--detailed-exitcode")...)
			if r.exit != tt.exit {
				t.Errorf("exit status %d, want %d\n%s%s", r.exit, tt.exit, r.stdout, r.stderr)
			}
			testkit.CheckSchema(t, "docs/plan.schema.json", []byte(r.stdout))
			var doc struct{ Totals totals }
			if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || doc.Totals != tt.want {
				t.Errorf("totals %+v, want %+v (%v)", doc.Totals, tt.want, err)
			}
			r = s.brine(append(args, "--out=markdown")...)
			if !strings.Contains(r.stdout, tt.says) || len(r.stdout) > 60_000 {
				t.Errorf("no %q in the Markdown:\n%s%s", tt.says, r.stdout, r.stderr)
			}
		})
	}
}
