package etcd_test

import (
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/servertest"
	"brine/modules/http"
	"brine/states/etcd"
)

func rig(t *testing.T, conf string) *fun.Env {
	t.Helper()
	env := calltest.Env(host.NewFake(), value.NewMap(0), fun.Entry{Kind: fun.State, Name: "etcd", Load: etcd.States}, fun.Entry{Kind: fun.Exec, Name: "http", Load: http.Module})
	env.Opts.Update(calltest.YAML(t, conf).(*value.Map))
	return env
}

type state struct{ name, args, want string }

// check runs states in order, those of a want that begins with "None" as dry runs.
func check(t *testing.T, env *fun.Env, states []state) {
	t.Helper()
	for _, tt := range states {
		got := calltest.State(t, env, "etcd."+tt.name, tt.args, strings.HasPrefix(tt.want, "None"))
		if got != tt.want && (!strings.HasPrefix(tt.want, "False ") || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("etcd.%s %s:\n%s, want\n%s", tt.name, tt.args, got, tt.want)
		}
	}
}

const (
	right   = "True Key contains correct value {}"
	missing = "True Key does not exist {}"
)

func TestVersion2(t *testing.T) {
	t.Parallel()
	srv := servertest.Etcd(t, "--enable-v2")
	env := rig(t, fmt.Sprintf("e: {etcd.host: 127.0.0.1, etcd.port: %d}\nclosed: {etcd.port: 1}", srv.Port))
	check(t, env, []state{
		{"set", "{name: /s/a, value: '1', profile: e}", "None Key would be created {'/s/a': '1'}"},
		{"set", "{name: /s/a, value: '1', profile: e}", "True New key created {'/s/a': '1'}"},
		{"set", "{name: /s/a, value: '1', profile: e}", right},
		{"set", "{name: /s/a, value: 2, profile: e}", "None Key value would be updated {'/s/a': 2}"},
		{"set", "{name: /s/a, value: 2, profile: e}", "True Key value updated {'/s/a': 2}"},
		{"set", "{name: /s/a, value: 2, profile: e}", right},
		{"set", "{name: /s/q, value: '', profile: e}", "True New key created {'/s/q': ''}"},
		{"set", "{name: /s/q, value: null, profile: e}", right},
		{"set", "{name: /s/q, value: 'x', ttl: 600, profile: e}", "True Key value updated {'/s/q': 'x'}"},
		{"set", "{name: /s/q, value: 'x', ttl: 600, profile: e}", right},
		{"set", "{name: /s/db_password, value: plugh, profile: e}", "True New key created {'/s/db_password': 'XXX-REDACTED-XXX'}"},
		{"set", fmt.Sprintf("{name: /s/b, value: '1', host: 127.0.0.1, port: %d}", srv.Port), "True New key created {'/s/b': '1'}"},
		{"set", "{name: /s, value: '1', profile: e}", "False /s is a directory, and not a key with a value {}"},
		{"set", "{name: /s/a/b, value: '1', profile: e}", "False /s/a/b: not a directory {}"},
		{"set", "{name: /s/z, value: '1', profile: nope}", "False neither the configuration nor the pillar has a profile \"nope\" {}"},
		{"set", "{name: /s/z, value: '1', profile: closed}", "False http://127.0.0.1:1: "},
		{"set", "{name: /s/z, value: '1', ttl: -1, profile: e}", "False ttl must be a number of seconds, not -1 {}"},
		{"directory", "{name: /sd, profile: e}", "None Directory would be created {'/sd': 'Created'}"},
		{"directory", "{name: /sd, profile: e}", "True New directory created {'/sd': 'Created'}"},
		{"directory", "{name: /sd, profile: e}", "True Directory exists {}"},
		{"directory", "{name: /sd/x, profile: e}", "True New directory created {'/sd/x': 'Created'}"},
		{"directory", "{name: /s/a, profile: e}", "False /s/a is a key with a value, and not a directory {}"},
		{"rm", "{name: /sd/nope, profile: e}", missing},
		{"rm", "{name: /sd, profile: e}", "False Unable to remove key: /sd is a directory, which recurse: True removes {}"},
		{"rm", "{name: /s/a, profile: e}", "None Key would be removed {'/s/a': 'Deleted'}"},
		{"rm", "{name: /s/a, profile: e}", "True Key removed {'/s/a': 'Deleted'}"},
		{"rm", "{name: /s/a, profile: e}", missing},
		{"rm", "{name: /sd, recurse: true, profile: e}", "True Key removed {'/sd': 'Deleted'}"},
		{"rm", "{name: /sd, recurse: true, profile: closed}", "False http://127.0.0.1:1: "},
		{"wait_set", "{name: /w, value: '1', profile: e}", "True  {}"},
		{"wait_rm", "{name: /w, profile: e}", "True  {}"},
		{"rm", "{name: /w, profile: e}", missing},
	})
}

// TestDryRunsOnlyLook: no request of a dry run changes anything.
func TestDryRunsOnlyLook(t *testing.T) {
	t.Parallel()
	var asked []string
	srv := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, req *nethttp.Request) {
		asked = append(asked, req.Method)
		fmt.Fprintf(w, `{"node": {"key": %q, "value": "old", "modifiedIndex": 1}}`, strings.TrimPrefix(req.URL.Path, "/v2/keys"))
	}))
	defer srv.Close()
	u, _ := url.Parse(srv.URL)
	env := rig(t, fmt.Sprintf("e: {etcd.host: %s, etcd.port: %s}", u.Hostname(), u.Port()))
	for _, tt := range []state{
		{"set", "{name: /a, value: new, profile: e}", "None Key value would be updated {'/a': 'new'}"},
		{"set", "{name: /a, value: old, ttl: 5, profile: e}", right},
		{"directory", "{name: /a, profile: e}", "False /a is a key with a value, and not a directory {}"},
		{"rm", "{name: /a, profile: e}", "None Key would be removed {'/a': 'Deleted'}"},
	} {
		if got := calltest.State(t, env, "etcd."+tt.name, tt.args, true); got != tt.want {
			t.Errorf("etcd.%s %s: %s, want %s", tt.name, tt.args, got, tt.want)
		}
	}
	if got := strings.Join(asked, " "); got != "GET GET GET GET" {
		t.Errorf("the dry runs asked by %s", got)
	}
}

func TestVersion3(t *testing.T) {
	t.Parallel()
	srv := servertest.Etcd(t)
	env := rig(t, fmt.Sprintf("e: {etcd.host: 127.0.0.1, etcd.port: %d, etcd.require_v2: false}", srv.Port))
	check(t, env, []state{
		{"set", "{name: /s/a, value: [1, {b: c}], profile: e}", "True New key created {'/s/a': [1, {'b': 'c'}]}"},
		{"set", "{name: /s/a, value: [1, {b: c}], profile: e}", right},
		{"set", "{name: /s/a, value: '1', profile: e, encode_values: false}", "True Key value updated {'/s/a': '1'}"},
		{"set", "{name: /s/a, value: '1', profile: e}", "True Key value updated {'/s/a': '1'}"},
		{"directory", "{name: /sd, profile: e}", "False version 3 of etcd's API has no directories {}"},
		{"directory", "{name: /s/a, profile: e}", "False version 3 of etcd's API has no directories {}"},
		{"rm", "{name: /s, profile: e}", missing},
		{"rm", "{name: /s, recurse: true, profile: e}", "None Key would be removed {'/s': 'Deleted'}"},
		{"rm", "{name: /s, recurse: true, profile: e}", "True Key removed {'/s': 'Deleted'}"},
		{"rm", "{name: /s, recurse: true, profile: e}", missing},
	})
}

func TestModWatch(t *testing.T) {
	t.Parallel()
	srv := servertest.Etcd(t)
	env := rig(t, fmt.Sprintf("e: {etcd.host: 127.0.0.1, etcd.port: %d, etcd.require_v2: false}", srv.Port))
	for _, tt := range []struct{ name, args, want string }{
		{"wait_set", "{name: /w, value: '1', profile: e}", "True New key created"},
		{"wait_rm", "{name: /w, profile: e}", "True Key removed"},
		{"set", "{name: /w, value: '1', profile: e}", "False etcd.set does not work with the watch requisite, please use etcd.wait_set or etcd.wait_rm"},
	} {
		mod, spec, err := env.Find(fun.State, "etcd."+tt.name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := env.Invoker.Bind(mod, spec, fun.Args{Kw: calltest.YAML(t, tt.args).(*value.Map)})
		if err != nil {
			t.Fatal(err)
		}
		c.Low = &fun.Chunk{Low: calltest.YAML(t, tt.args).(*value.Map)}
		ret := mod.Watch(t.Context(), c)
		if got := value.Repr(ret.Result.Value()) + " " + value.Str(ret.Comment); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
