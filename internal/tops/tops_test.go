package tops_test

import (
	"strings"
	"testing"

	"brine/internal/host"
	"brine/internal/testkit/pillartest"
	"brine/internal/tops"
	"brine/internal/value"
	"brine/internal/yamlsalt"
)

func TestExtNodes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		conf, out, want, err string
		status               int
	}{
		{conf: "{ext_nodes: /nodes --of 'x y'}", out: "classes: [web, db]", want: "{'base': ['web', 'db']}"},
		{conf: "{ext_nodes: /nodes --of 'x y'}", out: "environment: dev\nclasses: {web: {port: 80}}", want: "{'dev': ['web']}"},
		{conf: "{ext_nodes: /nodes --of 'x y'}", out: "parameters: {}", want: "{}"},
		{conf: "{ext_nodes: /nodes --of 'x y'}", out: "", want: "{}"},
		{conf: "{ext_nodes: /nodes --of 'x y'}", out: "[1]", err: "/nodes printed a list instead of a mapping"},
		{conf: "{ext_nodes: /nodes --of 'x y'}", out: "classes: web", err: "classes of /nodes is not a list or a mapping but a str"},
		{conf: "{ext_nodes: /nodes --of 'x y'}", out: "{", err: "what /nodes printed is not YAML"},
		{conf: "{ext_nodes: /nodes --of 'x y'}", status: 2, err: "master_tops ext_nodes: /nodes ended with status 2: no such node"},
		{conf: "{ext_nodes: [x]}", err: "it needs the command of a program, not ['x']"},
		{conf: "{ext_node: x}", err: `it is neither part of brine nor in salt://_tops (did you mean "ext_nodes"?)`},
		{conf: "{}", want: "{}"},
	} {
		h := host.NewFake()
		h.OnCommand("/nodes --of x y minion1", host.Output{Stdout: []byte(tt.out), Status: tt.status, Stderr: []byte("no such node")})
		v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "/etc/salt/master"}, []byte("file_roots: {base: [/srv/salt]}\nmaster_tops: "+tt.conf))
		if err != nil {
			t.Fatal(err)
		}
		e, _ := pillartest.Env(t, h, v.(*value.Map), value.NewMap(0))
		got, err := tops.Of(t.Context(), e)
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.HasPrefix(err.Error(), "/etc/salt/master:2:") {
				t.Errorf("%s, %q: %v, want %q", tt.conf, tt.out, err, tt.err)
			}
		case err != nil || value.Repr(got) != tt.want:
			t.Errorf("%s, %q: %v, %v; want %s", tt.conf, tt.out, value.Repr(got), err, tt.want)
		}
	}
}
