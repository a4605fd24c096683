package etcd_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/servertest"
	"brine/modules/etcd"
	"brine/modules/http"
)

func rig(t *testing.T, conf string) *fun.Env {
	t.Helper()
	env := calltest.Env(host.NewFake(), value.NewMap(0), fun.Entry{Kind: fun.Exec, Name: "etcd", Load: etcd.Module}, fun.Entry{Kind: fun.Exec, Name: "http", Load: http.Module})
	env.Opts.Update(calltest.YAML(t, conf).(*value.Map))
	return env
}

type call struct{ name, args, want string }

// check calls functions in order. A want with "error: " at its front is part of an error.
func check(t *testing.T, env *fun.Env, calls []call) {
	t.Helper()
	for _, tt := range calls {
		got := calltest.Call(t, env, "etcd."+tt.name, tt.args)
		if want, ok := strings.CutPrefix(tt.want, "error: "); ok && strings.HasPrefix(got, "error: ") && strings.Contains(got, want) {
			continue
		}
		if got != tt.want {
			t.Errorf("etcd.%s %s:\n%s, want\n%s", tt.name, tt.args, got, tt.want)
		}
	}
}

// What Salt 3006 answers with python-etcd 0.4.5, apart from errors, which it logs.
func TestVersion2(t *testing.T) {
	t.Parallel()
	srv := servertest.Etcd(t, "--enable-v2")
	env := rig(t, fmt.Sprintf("e: {etcd.host: 127.0.0.1, etcd.port: %d}\nclosed: {etcd.port: 1}", srv.Port))
	env.Pillar = calltest.YAML(t, fmt.Sprintf("{p: {etcd.host: 127.0.0.1, etcd.port: %d}}", srv.Port)).(*value.Map)
	check(t, env, []call{
		{"get", "{key: /a, profile: e}", "None"},
		{"set", "{key: /a, value: '1', profile: e}", "'1'"},
		{"set", "{key: /a, value: 2, profile: p}", "'2'"},
		{"get", fmt.Sprintf("{key: /a, host: 127.0.0.1, port: %d}", srv.Port), "'2'"},
		{"set", "{key: /n, value: true, profile: e}", "'True'"},
		{"set", "{key: /n, value: null, profile: e}", "''"},
		{"get", "{key: /n, profile: e}", "''"},
		{"set", "{key: /l, value: [1, 2], profile: e}", "'[1, 2]'"},
		{"set", "{key: /d/x, value: '1', profile: e}", "'1'"},
		{"set", "{key: /d/y/z, value: umläut, profile: e}", "'umläut'"},
		{"set", "{key: /d, value: x, profile: e}", "error: /d: not a file"},
		{"set", "{key: /e, value: null, directory: true, profile: e}", "True"},
		{"set", "{key: /e, value: null, directory: true, profile: e}", "True"},
		{"set", "{key: /a, value: null, directory: true, profile: e}", "error: /a is a key with a value, and not a directory"},
		{"set", "{key: /t, value: x, ttl: 600, profile: e}", "'x'"},
		{"set", "{key: /t, value: x, ttl: soon, profile: e}", "error: ttl must be"},
		{"get", "{key: /d, profile: e}", "None"},
		{"get", "{key: /d, recurse: true, profile: e}", "{'x': '1', 'y': {'z': 'umläut'}}"},
		{"get", "{key: /t, recurse: true, profile: e}", "{'t': 'x'}"},
		{"get", "{key: /nope, recurse: true, profile: e}", "None"},
		{"ls", "{path: /d, profile: e}", "{'/d': {'/d/x': '1', '/d/y/': {}}}"},
		{"ls", "{path: /d/, profile: e}", "{'/d/': {'/d/x': '1', '/d/y/': {}}}"},
		{"ls", "{profile: e}", "{'/': {'/a': '2', '/d/': {}, '/e/': {}, '/l': '[1, 2]', '/n': '', '/t': 'x'}}"},
		{"ls", "{path: /t, profile: e}", "{'/t': {'/t': 'x'}}"},
		{"ls", "{path: /nope, profile: e}", "{}"},
		{"ls", "{path: /e, profile: e}", "{'/e': {}}"},
		{"tree", "{profile: e}", "{'a': '2', 'd': {'x': '1', 'y': {'z': 'umläut'}}, 'e': {}, 'l': '[1, 2]', 'n': '', 't': 'x'}"},
		{"tree", "{path: d, profile: e}", "{'x': '1', 'y': {'z': 'umläut'}}"},
		{"tree", "{path: /e, profile: e}", "{}"},
		{"tree", "{path: /nope, profile: e}", "None"},
		{"update", "{fields: {/u/1: a, u2: {b: {c: d}, e: {}}}, profile: e}", "{'/u/1': 'a', '/u2/b/c': 'd', '/u2/e': True}"},
		{"update", "{fields: {x: y, z: {w: 5}}, path: /some/root/, profile: e}", "{'/some/root/x': 'y', '/some/root/z/w': '5'}"},
		{"update", "{fields: {}, profile: e}", "error: fields is empty"},
		{"update", "{fields: {zz: '1', u2: x}, profile: e}", "error: /u2: not a file; written before: /zz"},
		{"watch", "{key: /a, timeout: 1, index: 1, profile: e}", "{'key': '/a', 'value': '2', 'changed': True, 'mIndex': 5, 'dir': False}"},
		{"watch", "{key: /nope, timeout: 1, profile: e}", "{'key': '/nope', 'value': None, 'changed': False, 'mIndex': 0, 'dir': False}"},
		{"rm", "{key: /nope, profile: e}", "None"},
		{"rm", "{key: /d, profile: e}", "error: /d: not a file"},
		{"rm", "{key: /d, recurse: true, profile: e}", "True"},
		{"rm", "{key: /a, profile: e}", "True"},
		{"get", "{key: /a, profile: nope}", `error: neither the configuration nor the pillar has a profile "nope"`},
		{"get", "{key: /a, profile: closed}", "error: "},
		{"get", "{key: /a/../b, profile: e}", `error: the key "/a/../b" cannot be part of a URL`},
		{"get", "{key: /a, port: x}", `error: "x" is not a port`},
		{"get", "{key: /a, username: u}", "error: etcd.username is set, and etcd.password is not"},
	})
}

func TestVersion3(t *testing.T) {
	t.Parallel()
	srv := servertest.Etcd(t)
	env := rig(t, fmt.Sprintf("e: {etcd.host: 127.0.0.1, etcd.port: %d, etcd.require_v2: false}\nw: {etcd.host: 127.0.0.1, etcd.port: %d}", srv.Port, srv.Port))
	check(t, env, []call{
		{"get", "{key: /a, profile: e}", "None"},
		{"set", "{key: /a, value: {n: [1, x]}, profile: e}", "{'n': [1, 'x']}"},
		{"get", "{key: /a, profile: e}", "{'n': [1, 'x']}"},
		{"set", "{key: /p, value: 5, encode_values: false, profile: e}", "'5'"},
		{"get", "{key: /p, encode_values: false, profile: e}", "'5'"},
		{"get", "{key: /p, profile: e}", "53"}, // as Salt: what is MessagePack by chance is read as that
		{"set", "{key: /p, value: text, encode_values: false, profile: e}", "'text'"},
		{"get", "{key: /p, profile: e}", "error: the value of /p is not MessagePack"},
		{"rm", "{key: /p, profile: e}", "True"},
		{"set", "{key: /d/x, value: '1', profile: e}", "'1'"},
		{"set", "{key: /d/y/z, value: null, profile: e}", "None"},
		{"set", "{key: /dd, value: '2', ttl: 600, profile: e}", "'2'"},
		{"set", "{key: /e, value: null, directory: true, profile: e}", "error: version 3 of etcd's API has no directories"},
		{"ls", "{path: /d, profile: e}", "{'/d': {'/d/x': '1', '/d/y/': {}}}"},
		{"ls", "{profile: e}", "{'/': {'/a/': {}, '/d/': {}, '/dd': '2'}}"},
		{"ls", "{path: /nope, profile: e}", "{}"},
		{"tree", "{path: /d, profile: e}", "{'x': '1', 'y': {'z': None}}"},
		{"tree", "{path: /dd, profile: e}", "{'dd': '2'}"},
		{"tree", "{path: /nope, profile: e}", "None"},
		{"rm", "{key: /nope, profile: e}", "None"},
		{"rm", "{key: /d, profile: e}", "None"},
		{"rm", "{key: /d, recurse: true, profile: e}", "True"},
		{"tree", "{profile: e}", "{'a': {'n': [1, 'x']}, 'dd': '2'}"}, // not /dd, as Salt would
		{"watch", "{key: /dd, timeout: 1, profile: e, index: 1}", "{'key': '/dd', 'value': '2', 'changed': True, 'mIndex': 8, 'dir': False}"},
		{"get", "{key: /a, profile: w}", "error: has no API of version 2; etcd.require_v2: False is for version 3"},
	})
}

func TestWatch(t *testing.T) {
	t.Parallel()
	srv := servertest.Etcd(t)
	env := rig(t, fmt.Sprintf("e: {etcd.host: 127.0.0.1, etcd.port: %d, etcd.require_v2: false}", srv.Port))
	check(t, env, []call{{"set", "{key: /w/a, value: old, profile: e}", "'old'"}})
	for _, tt := range []struct{ does, args, want string }{
		{"set", "{key: /w/a, value: new, profile: e}", "'value': 'new', 'changed': True"},
		{"set", "{key: /w/b, value: more, profile: e}", "'key': '/w/b', 'value': 'more', 'changed': True"},
		{"rm", "{key: /w/a, profile: e}", "'key': '/w/a', 'value': None, 'changed': True"},
	} {
		done := make(chan string)
		go func() {
			done <- calltest.Call(t, env, "etcd.watch", "{key: /w, recurse: true, timeout: 60, profile: e}")
		}()
		time.Sleep(200 * time.Millisecond)
		if got := calltest.Call(t, rig(t, fmt.Sprintf("e: {etcd.host: 127.0.0.1, etcd.port: %d, etcd.require_v2: false}", srv.Port)), "etcd."+tt.does, tt.args); strings.HasPrefix(got, "error") {
			t.Fatal(got)
		}
		if got := <-done; !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %s, want %s", tt.does, tt.args, got, tt.want)
		}
	}
}

// Positions are those of Salt's functions.
func TestPositions(t *testing.T) {
	t.Parallel()
	table := fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "etcd", Load: etcd.Module}})
	for name, want := range map[string]string{
		"get": "key recurse profile", "set": "key value profile ttl directory", "update": "fields path profile",
		"watch": "key recurse profile timeout index", "ls": "path profile", "rm": "key recurse profile", "tree": "path profile",
	} {
		var got []string
		for _, a := range table.Spec(fun.Exec, "etcd."+name).Args {
			if !a.KwOnly {
				got = append(got, a.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("etcd.%s has %s, want %s", name, got, want)
		}
	}
}

func TestSecretsHidden(t *testing.T) {
	t.Parallel()
	spec := fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "etcd", Load: etcd.Module}}).Spec(fun.Exec, "etcd.get")
	got := value.Repr(redact.Args(spec.ArgNames(), nil, value.MapOf("key", "/a", "password", "plugh"), spec.SecretArgs()...))
	if strings.Contains(got, "plugh") || !strings.Contains(got, "/a") {
		t.Errorf("recorded as %s", got)
	}
}
