package assembly

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/runner/exec"
)

// TestPlannedRows runs each state whose row says that it only writes files, or what it
// leaves, on an overlay: it reaches nothing else, and the machine stays as it is.
func TestPlannedRows(t *testing.T) {
	t.Parallel()
	found := 0
	for _, mod := range modules(fun.State) {
		for i := range mod.Specs {
			spec := &mod.Specs[i]
			if !spec.Files && spec.Leaves == nil {
				continue
			}
			found++
			t.Run(mod.Name+"."+spec.Name, func(t *testing.T) {
				t.Parallel()
				fake := fakeHost()
				fake.PutUser(host.Account{Name: "ann", UID: 1001, GID: 1001, Home: "/home/ann"})
				fake.PutDir("/home/ann", 0o755)
				over, err := host.NewOverlay(fake)
				if err != nil {
					t.Fatal(err)
				}
				env, _ := fakeEnv(over)
				low := lowOf(mod, spec, nil)
				if low.Has("user") {
					low.Set("user", "ann")
				}
				c, err := env.Invoker.Bind(mod, spec, fun.Args{Kw: low})
				if err != nil {
					t.Fatal(err)
				}
				c.Low = &fun.Chunk{State: mod.Name, Fun: spec.Name, ID: "thing", Name: "/srv/thing", SLS: "s", SaltEnv: "base", Low: low}
				if spec.Leaves != nil {
					_ = spec.Leaves(t.Context(), c, over) // there may be nobody of the name
				} else {
					spec.State(t.Context(), c)
				}
				if w := fake.Writes(); len(w) > 0 {
					t.Errorf("the machine was written to: %v", w)
				}
				for _, cmd := range fake.Calls() {
					if !cmd.ReadOnly {
						t.Errorf("it runs %v", cmd.Argv)
					}
				}
				if over.Refused() > 0 {
					t.Error("it asks for more than files")
				}
			})
		}
	}
	if found < 25 {
		t.Errorf("%d rows", found)
	}
}

// server is a web server on a machine that has nothing of it.
const server = `
- {state: pkg, fun: installed, name: nginx, __id__: nginx}
- {state: group, fun: present, name: www, __id__: www, gid: 2000}
- {state: user, fun: present, name: web, __id__: web, uid: 2000, gid: www, home: /srv/web}
- {state: user, fun: present, name: deploy, __id__: deploy, groups: [www]}
- {state: group, fun: present, name: www, __id__: www2, gid: 2000}
- {state: ssh_auth, fun: present, name: AAAAB3NzaC1yc2EAAAADAQABAAAAgQC3, __id__: key, user: deploy, enc: ssh-rsa}
- {state: file, fun: directory, name: /srv/www, __id__: root, user: web, group: www, mode: '0755'}
- {state: file, fun: directory, name: /srv/www/a, __id__: a, user: web}
- {state: file, fun: managed, name: /srv/www/index.html, __id__: index, contents: hi, user: web, group: www}
- {state: file, fun: symlink, name: /srv/www/b, target: a, __id__: b}
- {state: file, fun: managed, name: /etc/nginx/conf.d/a.conf, __id__: conf, contents: server, makedirs: true, require: [{pkg: nginx}]}
- {state: file, fun: append, name: /etc/nginx/conf.d/a.conf, text: more, __id__: more}
- {state: file, fun: managed, name: /home/deploy/.profile, __id__: profile, contents: x, user: deploy}
- {state: file, fun: exists, name: /srv/www/index.html, __id__: seen}
- {state: cmd, fun: run, name: build-site, __id__: build}
- {state: cmd, fun: run, name: check-site, __id__: check, onlyif: test -e /srv/www/index.html}
- {state: cmd, fun: run, name: reload, __id__: reload, onchanges: [{file: conf}]}
- {state: service, fun: running, name: nginx, __id__: service, watch: [{file: conf}], require: [{pkg: nginx}]}
- {state: service, fun: running, name: other, __id__: other, require: [{pkg: nginx}]}
- {state: service, fun: running, name: lost, __id__: lost}
`

// TestPlanServer plans the states of a server: all but the commands are known, although
// each needs what those before it make.
func TestPlanServer(t *testing.T) {
	t.Parallel()
	fake := host.NewFake()
	fake.PutDir("/srv", 0o755)
	fake.PutDir("/etc/skel", 0o755)
	fake.PutFile("/etc/skel/.bashrc", "# rc\n", 0o644)
	fake.OnCommand("*", host.Output{Status: 1})
	env, _ := fakeEnv(fake)
	env.Table = env.Table.With([]fun.Entry{
		stub("pkg", "installed", fun.Due("The following packages would be installed: nginx")),
		stub("service", "running", fun.Fail("The named service is not available")),
	})
	env.Invoker = env.NewInvoker(env)
	env.Plan = true
	var chunks []*fun.Chunk
	for _, x := range calltest.YAML(t, server).(*value.List).Items {
		low := x.(*value.Map)
		low.Set("__sls__", "web")
		low.Set("__env__", "base")
		chunks = append(chunks, &fun.Chunk{State: low.Str("state"), Fun: low.Str("fun"), ID: low.Str("__id__"), Name: low.Str("name"), SLS: "web", SaltEnv: "base", Low: low})
	}
	run, err := exec.Run(t.Context(), env, chunks, exec.Options{Test: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range run.Returns.All() {
		ret := v.(*value.Map)
		what := "same"
		switch why := ret.Map(fun.PlanKey).Str(fun.PlanUnsure); {
		case why != "":
			what = "? " + why
		case ret.At("result") == false:
			what = "fails"
		case ret.At("result") == nil || value.Truth(ret.At("changes")):
			what = "changes"
		}
		got = append(got, ret.Str("__id__")+": "+what)
		if ret.At("result") == false && ret.Str("__id__") != "lost" {
			t.Errorf("%s fails: %s", ret.Str("__id__"), ret.Str("comment"))
		}
	}
	want := strings.Split(`nginx: changes
www: changes
web: changes
deploy: changes
www2: same
key: changes
root: changes
a: changes
index: changes
b: changes
conf: changes
more: changes
profile: changes
seen: same
build: changes
check: ? its condition onlyif (test -e /srv/www/index.html) was asked before build changes the machine
reload: changes
service: changes
other: ? it acts unless nginx does that, as packages of many systems do
lost: fails`, "\n")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the plan (-want +got):\n%s", d)
	}
	if w := fake.Writes(); len(w) > 0 {
		t.Errorf("the plan wrote %v", w)
	}
}

// stub is a module of one state function that always returns the same.
func stub(mod, name string, ret fun.Ret) fun.Entry {
	return fun.Entry{Kind: fun.State, Name: mod, Custom: true, Load: func() fun.Module {
		return fun.Module{Name: mod, Kind: fun.State, Watch: func(context.Context, *fun.Call) fun.Ret { return fun.Due("Service is set to be restarted") }, Specs: []fun.Spec{{
			Name: name, Args: []fun.Arg{{Name: "name", Required: true}},
			State: func(context.Context, *fun.Call) fun.Ret { return ret },
		}}}
	}}
}
