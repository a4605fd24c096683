package zabbix

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

func TestZabbixSender(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	s := returner.Settings{Env: &fun.Env{Machine: fun.Machine{Host: h}, Data: fun.Data{Opts: value.NewMap(0)}}}
	if _, err := open(t.Context(), s); err == nil || !strings.Contains(err.Error(), "no zabbix_sender") {
		t.Errorf("without the program: %v", err)
	}
	h.PutFile("/usr/bin/zabbix_sender", "", 0o755)
	h.PutFile("/etc/zabbix/zabbix_agentd.conf", "", 0o644)
	var ran [][]string
	status := 0
	h.Handle(func(c host.Cmd) bool { return c.Argv[0] == "/usr/bin/zabbix_sender" }, func(_ context.Context, c host.Cmd) (host.Output, error) {
		ran = append(ran, c.Argv)
		return host.Output{Status: status, Stderr: []byte("cannot connect")}, nil
	})
	r, err := open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	state := func(name string, result value.Value, changes *value.Map) *value.Map {
		return value.MapOf("name", name, "comment", "c $(x)", "result", result, "changes", changes)
	}
	none := value.NewMap(0)
	rets := []*value.Map{
		value.MapOf("id", "web1", "fun", "test.ping", "return", true, "success", true, "retcode", int64(0)),
		value.MapOf("id", "web2", "fun", "state.apply", "return", value.MapOf("a", state("a", false, none), "b", state("b", true, value.MapOf("x", "y")), "c", state("c", true, none))),
		value.MapOf("id", "web3", "fun", "cmd.run", "return", "", "success", false, "retcode", int64(1)),
		value.MapOf("id", "web4", "fun", "state.apply", "return", value.MapOf("cmd_|-d_|-d_|-run", value.MapOf("name", "d", "comment", "Command \"d\" run", "result", false,
			"changes", value.MapOf("retcode", int64(3), "stdout", "", "stderr", "disk is on fire")))),
	}
	if err := r.Return(t.Context(), rets); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, argv := range ran {
		got = append(got, strings.Join(argv[1:], "|"))
	}
	const conf = "-c|/etc/zabbix/zabbix_agentd.conf|-s|"
	want := []string{
		conf + "web1|-k|salt.trap.info|-o|SALT web1 OK",
		conf + "web2|-k|salt.trap.high|-o|SALT:\nname: a\ncomment: c $(x)",
		conf + "web2|-k|salt.trap.warning|-o|SALT:\nname: b\ncomment: c $(x)",
		conf + "web3|-k|salt.trap.high|-o|SALT web3: cmd.run failed",
		conf + "web4|-k|salt.trap.high|-o|SALT:\nname: d\ncomment: Command \"d\" run\ncause: exit status 3: disk is on fire",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("ran\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	status = 1
	if err := r.Return(t.Context(), rets[:1]); err == nil || err.Error() != "zabbix_sender ended with status 1: cannot connect" {
		t.Errorf("a sender that fails: %v", err)
	}
}
