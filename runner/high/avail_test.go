package high

import "testing"

func TestHintsOfNames(t *testing.T) {
	t.Parallel()
	names := []string{"orch", "orch.deploy", "web", "web.certs", "db.certs", "a.one", "a.two", "b.1", "b.2", "b.3", "b.4", "b.5", "b.6"}
	for _, tt := range []struct{ path, want string }{
		{"orch/deploy.sls", "orch.deploy"},
		{"salt/orch/deploy.sls", "orch.deploy"},
		{"/srv/salt/web/init.sls", "web"},
		{"./web/certs", "web.certs"},
		{"orch.deploy.sls", "orch.deploy"},
		{"nowhere/at/all.sls", ""},
		{"orch.deploy", ""}, // no path: it is there, or it is not
	} {
		if got := asPath(tt.path, names); got != tt.want {
			t.Errorf("asPath(%q) = %q, want %q", tt.path, got, tt.want)
		}
	}
	for _, tt := range []struct{ sls, want string }{
		{"deploy", `did you mean "orch.deploy"?`},
		{"certs", "there are web.certs, db.certs"},
		{"a", "there are a.one, a.two"},
		{"b.", "there are b.1, b.2, b.3, b.4, b.5 and 1 more"},
		{"ploy", ""},
		{".", ""},
	} {
		if got := related(tt.sls, names); got != tt.want {
			t.Errorf("related(%q) = %q, want %q", tt.sls, got, tt.want)
		}
	}
}
