package pillar_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// TestHostileOnDemand has a target ask for an external pillar of its choosing,
// which is a program or path of the controller, although the configuration
// allows that one on demand.
func TestHostileOnDemand(t *testing.T) {
	for _, ext := range []*value.Map{
		value.MapOf("cmd_json", "touch /mark"), value.MapOf("cmd_yaml", "touch /mark"), value.MapOf("cmd_yamlex", "touch /mark"),
		value.MapOf("file_tree", value.MapOf("root_dir", "/etc")), value.MapOf("stack", value.NewList("/etc/stack.cfg")),
	} {
		r := fake(t, map[string]string{"top.sls": "base: {'*': [s]}\n", "s.sls": "a: 1\n"},
			"on_demand_ext_pillar: [cmd_json, cmd_yaml, cmd_yamlex, file_tree, stack]")
		f := r.env.Host.(*host.Fake)
		f.PutFile("/etc/hosts.d/x", "secret", 0o600)
		m, err := r.comp.Render(t.Context(), fun.PillarRequest{Foreign: true, Ext: ext})
		if err != nil || value.Repr(m) != "{'a': 1}" {
			t.Errorf("%s: %s, %v", value.Repr(ext), value.Repr(m), err)
		}
		if calls := f.Calls(); len(calls) > 0 {
			t.Errorf("%s ran %v", value.Repr(ext), calls)
		}
	}
}

// TestHostileIDs puts ids into the command of an external pillar.
func TestHostileIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"$(touch /mark)", "`touch /mark`", "a;touch /mark", "a b", "a'b", "a\nb", "*", "~root", "web1.example.com", "-n"} {
		for _, cmd := range []string{"printf '{\"id\": \"%s\"}'", "echo %s", "echo \"%s\"", "echo $HOME %s"} {
			r := fake(t, map[string]string{"top.sls": "base: {}\n"}, "ext_pillar: [{cmd_json: "+strconv.Quote(cmd)+"}]")
			r.env.ID = id
			f := r.env.Host.(*host.Fake)
			f.OnCommand("*", host.Output{Stdout: []byte("{}")})
			if _, err := r.comp.Render(t.Context(), fun.PillarRequest{}); err != nil {
				t.Fatal(err)
			}
			for _, c := range f.Calls() {
				line := c.Argv[len(c.Argv)-1]
				// A shell that only prints shows whether the id is one word.
				out, err := exec.Command("sh", "-c", strings.Replace(strings.Replace(line, "echo", "printf '<%s>'", 1), "touch", "echo ran", 1)).Output()
				if err != nil || id != "web1.example.com" && !strings.Contains(string(out), "<"+strings.Replace(id, "touch", "echo ran", 1)+">") {
					t.Errorf("%q in %q became %q, which prints %q, %v", id, cmd, line, out, err)
				}
			}
		}
	}
}
