package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"brine/internal/testkit"
	"brine/internal/testkit/sshtest"
)

// TestPlanLeaves: the JSON of a plan says of each state that would change something what it
// leaves, by a document of the schema; no more than a hundred things each, and no secret. What
// is not known to happen leaves nothing.
func TestPlanLeaves(t *testing.T) {
	t.Parallel()
	s := &site{t: t, sshd: &sshtest.Server{}, dir: t.TempDir()}
	s.home = s.path("home")
	out := s.path("out")
	s.write("master", "id: ctl\nfile_roots: {base: ["+s.path("salt")+"]}\npillar_roots: {base: ["+s.path("pillar")+"]}\ncachedir: "+s.path("cache")+"\n")
	s.write("roster", "alpine: {connection: local, grains: {os_family: Alpine, os: Alpine}}\nother: {connection: local, grains: {os_family: Alpine, os: Alpine}}\n")
	s.write("pillar/top.sls", "base: {'*': [p]}\n")
	s.write("pillar/p.sls", "app: {password: hunter2hunter2}\n")
	s.write("bin/apk", "#!/bin/sh\n[ \"$1\" != info ] || printf 'nginx-1.22.1-r0\\ncurl-8.0.0-r0\\n'\n")
	if err := os.Chmod(s.path("bin/apk"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.env = []string{"PATH=" + s.path("bin") + ":" + os.Getenv("PATH")}
	s.write("out/gone", "x\n")
	s.write("out/app", "own line of one host\n")
	for i := range 120 {
		s.write(fmt.Sprintf("salt/many/f%03d", i), "x\n")
	}
	s.write("salt/web.sls", `
group: {group.present: [{name: brinegroup}]}
user: {user.present: [{name: brineuser}, {gid: brinegroup}, {home: `+out+`/home}, {shell: /bin/false}, {groups: [brinegroup]}]}
dir: {file.directory: [{name: `+out+`/dir}, {mode: '0750'}]}
conf: {file.managed: [{name: `+out+`/dir/conf}, {mode: '0640'}, {contents: 'password {{ pillar.app.password }}'}]}
line: {file.append: [{name: `+out+`/app}, {text: more}]}
link: {file.symlink: [{name: `+out+`/link}, {target: dir}]}
secret: {file.symlink: [{name: `+out+`/{{ pillar.app.password }}}, {target: dir}]}
gone: {file.absent: [{name: `+out+`/gone}]}
pkg: {pkg.installed: [{name: nginx}, {version: 1.24.0-r0}]}
removed: {pkg.removed: [{name: curl}]}
many: {file.recurse: [{name: `+out+`/many}, {source: 'salt://many'}]}
run: {cmd.run: [{name: 'true'}]}
unsure: {file.managed: [{name: `+out+`/unsure}, {contents: x}, {unless: test -e /nowhere}]}
same: {file.exists: [{name: `+out+`/app}]}
`)
	r := s.brine("plan", "--ssh", "*", "state.apply", "web", "--out=json")
	if r.exit != 0 {
		t.Fatalf("%s%s", r.stdout, r.stderr)
	}
	testkit.CheckSchema(t, "docs/plan.schema.json", []byte(r.stdout))
	if strings.Contains(r.stdout, "hunter2") {
		t.Error("a secret is in the plan")
	}
	type thing struct {
		Kind, Name, Hash, Mode, Target, Home, Shell, Version string
		Size                                                 *int64
		Absent                                               bool
		Members                                              []string
	}
	var doc struct {
		Steps []struct {
			Groups []struct{ Hosts []string }
			Leaves map[string][]struct {
				ID     string
				Things []thing
				More   int
			}
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Steps) != 1 || len(doc.Steps[0].Leaves) != 2 || len(doc.Steps[0].Groups) != 1 {
		t.Fatalf("not two hosts in one group of one step: %+v", doc)
	}
	var got []string
	for _, l := range doc.Steps[0].Leaves["alpine"] {
		for i, x := range l.Things {
			if strings.HasPrefix(x.Name, out+"/home/") || l.ID == "many" && i > 0 {
				continue
			}
			text := fmt.Sprintf("%s %s %s", l.ID, x.Kind, strings.TrimPrefix(x.Name, out+"/"))
			for _, more := range []string{x.Mode, x.Target, strings.TrimPrefix(x.Home, out+"/"), x.Shell, x.Version, strings.Join(x.Members, ",")} {
				if more != "" {
					text += " " + more
				}
			}
			if x.Size != nil {
				text += fmt.Sprintf(" %d bytes, hash %d", *x.Size, len(x.Hash))
			}
			if x.Absent {
				text += " absent"
			}
			got = append(got, text)
		}
		if l.ID == "many" && (len(l.Things) != 100 || l.More < 20) || l.ID != "many" && l.More != 0 {
			t.Errorf("%s leaves %d things and %d more", l.ID, len(l.Things), l.More)
		}
	}
	want := []string{
		"group group brinegroup",
		"user directory home 0755", "user group brinegroup brineuser", "user user brineuser home /bin/false",
		"dir directory dir 0750",
		"conf file dir/conf 0640 24 bytes, hash 32",
		"line file app 0600 26 bytes, hash 32",
		"link link link dir",
		"secret link XXX-REDACTED-XXX dir",
		"gone path gone absent",
		"pkg package nginx 1.24.0-r0",
		"removed package curl absent",
		"many directory many 0755",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
