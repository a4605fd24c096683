package shadow_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/shadow"
)

// The shapes of the returns are those of salt/modules/linux_shadow.py; the hash
// is Python's crypt.crypt.
func TestModule(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutUser(host.Account{Name: "ann", UID: 1000, GID: 1000})
	const line = "ann:!:19000:0:99999:7:::\n"
	h.PutFile("/etc/shadow", "root:*:18000:0:99999:7:30:20000:\n"+line+"short:x\n", 0o600)
	set := func(old, with string) {
		h.PutFile("/etc/shadow", strings.ReplaceAll(h.Text("/etc/shadow"), old, with), 0o600)
	}
	h.HandleCommand("chpasswd -e", func(_ context.Context, c host.Cmd) (host.Output, error) {
		b, _ := io.ReadAll(c.Stdin)
		set("ann:!:", strings.TrimSpace(string(b))+":")
		return host.Output{}, nil
	})
	h.HandleCommand("chage -W 9 ann", func(context.Context, host.Cmd) (host.Output, error) {
		set("99999:7:::", "99999:9:::")
		return host.Output{}, nil
	})
	h.OnCommand("chage -M 5 ann", host.Output{Status: 1})
	h.HandleCommand("chage -E 21916 ann", func(context.Context, host.Cmd) (host.Output, error) {
		set("99999:9:::", "99999:9::21916:")
		return host.Output{}, nil
	})
	h.OnCommand("chage -d yesterday ann", host.Output{})
	h.OnCommand("chage -d soon ann", host.Output{Status: 1})
	h.HandleCommand("passwd -l ann", func(context.Context, host.Cmd) (host.Output, error) {
		set("ann:H", "ann:!H")
		return host.Output{}, nil
	})
	h.HandleCommand("passwd -u ann", func(context.Context, host.Cmd) (host.Output, error) {
		set("ann:!H", "ann:H")
		return host.Output{}, nil
	})
	h.HandleCommand("passwd -d ann", func(context.Context, host.Cmd) (host.Output, error) {
		set("ann:H:", "ann::")
		return host.Output{}, nil
	})
	env := &fun.Env{Machine: fun.Machine{Host: h}}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "shadow", Load: shadow.Module}})
	env.Invoker = dispatch.New(env)
	for _, tt := range []struct{ fun, args, want string }{
		{"info", "{name: ann}", "{name: ann, passwd: '!', lstchg: 19000, min: 0, max: 99999, warn: 7, inact: -1, expire: -1}"},
		{"info", "{name: root}", "{name: root, passwd: '*', lstchg: 18000, min: 0, max: 99999, warn: 7, inact: 30, expire: 20000}"},
		{"info", "{name: none}", "{name: '', passwd: '', lstchg: '', min: '', max: '', warn: '', inact: '', expire: ''}"},
		{"list_users", "{}", "[ann, root]"},
		{"default_hash", "{}", "'!'"},
		{"set_password", "{name: ann, password: H}", "true"},
		{"set_password", "{name: none, password: H}", "false"},
		{"set_warndays", "{name: ann, warndays: 9}", "true"},
		{"set_warndays", "{name: ann, warndays: 9}", "true"},
		{"set_maxdays", "{name: ann, maxdays: 5}", "false"},
		{"set_expire", "{name: ann, expire: '2030-01-02'}", "true"},
		{"set_expire", "{name: ann, expire: 21916}", "true"},
		{"set_date", "{name: ann, date: yesterday}", "true"},
		{"set_date", "{name: ann, date: soon}", "false"},
		{"set_mindays", "{name: none, mindays: 1}", "false"},
		{"lock_password", "{name: ann}", "true"},
		{"lock_password", "{name: ann}", "true"},
		{"lock_password", "{name: none}", "false"},
		{"unlock_password", "{name: ann}", "true"},
		{"unlock_password", "{name: ann}", "true"},
		{"del_password", "{name: ann}", "true"},
		{"del_password", "{name: none}", "false"},
		{"gen_password", "{password: secret, crypt_salt: saltstring, algorithm: sha256}", "GEN"},
	} {
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "shadow."+tt.fun, fun.Args{Kw: calltest.YAML(t, tt.args).(*value.Map)})
		want := calltest.YAML(t, tt.want)
		if want == "GEN" {
			want = genWant
		}
		if err != nil || !value.Equal(res.Value, want) {
			t.Errorf("shadow.%s %s = %s, %v, want %s", tt.fun, tt.args, value.Repr(res.Value), err, tt.want)
		}
	}
	for _, args := range []string{"{name: ann, password: 'a:b'}", "{name: ann, password: \"a\\nb\"}", "{name: -x, password: a, root: /r}"} {
		if _, err := env.Invoker.Invoke(t.Context(), fun.Exec, "shadow.set_password", fun.Args{Kw: calltest.YAML(t, args).(*value.Map)}); err == nil {
			t.Errorf("set_password %s is no error", args)
		}
	}
	if _, err := shadow.GenPassword("x", nil, "blowfish"); err == nil {
		t.Error("blowfish is no error")
	}
}

const genWant = "$5$saltstring$C3o4O1TC6aRHF4FI.QSZMXtHbaj2gSXr4sUc/3NcUi."
