package fleet

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// TestPermit: who may run what on targets. Nothing is run of a job that is refused.
func TestPermit(t *testing.T) {
	t.Parallel()
	acl := value.MapOf("ann", value.NewList("test.*", value.MapOf("web*", value.NewList("state.apply"))), "b.*", value.NewList("test.ping"))
	black := value.MapOf("users", value.Strings("eve", "sudo_mallory"), "modules", value.Strings("cmd", "file.remove", "pkg.*"))
	globs, err := fun.NewLimits(value.MapOf("cmd_blacklist_glob", value.Strings("rm *")))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		p    Permit
		job  fun.Job
		want string // of the error; "" is none
	}{
		{"nothing is set", Permit{User: "ann"}, fun.Job{Fun: "cmd.run"}, ""},
		{"root", Permit{User: "root", Root: true, ACL: acl}, fun.Job{Fun: "cmd.run"}, ""},
		{"root by sudo", Permit{User: "sudo_ann", Root: true, ACL: acl}, fun.Job{Fun: "cmd.run"}, ""},
		{"root by sudo with sudo_acl", Permit{User: "sudo_ann", Root: true, ACL: acl, SudoACL: true}, fun.Job{Fun: "cmd.run"}, "ann may not run cmd.run on targets: the option publisher_acl"},
		{"sudo_acl without an acl", Permit{User: "sudo_ann", Root: true, SudoACL: true}, fun.Job{Fun: "cmd.run"}, ""},
		{"allowed", Permit{User: "ann", ACL: acl}, fun.Job{Fun: "test.ping"}, ""},
		{"allowed by a pattern of users", Permit{User: "bob", ACL: acl}, fun.Job{Fun: "test.ping"}, ""},
		{"another user", Permit{User: "carl", ACL: acl}, fun.Job{Fun: "test.ping"}, "carl may not run test.ping"},
		{"another function", Permit{User: "bob", ACL: acl}, fun.Job{Fun: "test.pings"}, "bob may not run test.pings"},
		{"one of several functions", Permit{User: "ann", ACL: acl}, fun.Job{Fun: "test.ping,cmd.run"}, "ann may not run cmd.run"},
		{"on targets of a rule", Permit{User: "ann", ACL: acl}, fun.Job{Fun: "state.apply", Tgt: "web1"}, ""},
		{"beyond the targets of a rule", Permit{User: "ann", ACL: acl}, fun.Job{Fun: "state.apply"}, "state.apply may not be run on db1: the option publisher_acl"},
		{"a raw command", Permit{User: "ann", ACL: acl}, fun.Job{Shell: "id"}, "ann may not run cmd.run"},
		{"no mapping", Permit{User: "ann", ACL: value.Strings("ann")}, fun.Job{Fun: "test.ping"}, "publisher_acl must be a mapping"},
		{"no list", Permit{User: "ann", ACL: value.MapOf("ann", "test.*")}, fun.Job{Fun: "test.ping"}, "publisher_acl must have a list"},
		{"a user on the blacklist", Permit{User: "eve", Blacklist: black}, fun.Job{Fun: "test.ping"}, "eve may run nothing on targets: the option publisher_acl_blacklist"},
		{"for a user on the blacklist", Permit{User: "root", Root: true, Behalf: "eve", Blacklist: black}, fun.Job{Fun: "test.ping"}, "eve may run nothing"},
		{"root by sudo on the blacklist", Permit{User: "sudo_mallory", Root: true, Blacklist: black}, fun.Job{Fun: "test.ping"}, "sudo_mallory may run nothing"},
		{"a module on the blacklist", Permit{User: "root", Root: true, Blacklist: black}, fun.Job{Fun: "cmd.run_all"}, "cmd.run_all may not be run on targets"},
		{"a function on the blacklist", Permit{User: "root", Root: true, Blacklist: black}, fun.Job{Fun: "file.remove"}, "file.remove may not"},
		{"a glob on the blacklist", Permit{User: "root", Root: true, Blacklist: black}, fun.Job{Fun: "pkg.install"}, "pkg.install may not"},
		{"a raw command with the blacklist", Permit{User: "root", Root: true, Blacklist: black}, fun.Job{Shell: "id"}, "cmd.run may not"},
		{"not on the blacklist", Permit{User: "root", Root: true, Blacklist: black}, fun.Job{Fun: "file.touch"}, ""},
		{"no blacklist", Permit{User: "root", Root: true, Blacklist: value.Strings("cmd")}, fun.Job{Fun: "file.touch"}, "publisher_acl_blacklist must be a mapping"},
		{"a raw command of cmd_blacklist_glob", Permit{User: "root", Root: true, Limits: globs}, fun.Job{Shell: "rm -r x"}, `The shell command "rm -r x" is not permitted`},
		{"a job of another machine", Permit{User: "eve", Blacklist: black}, fun.Job{Fun: "test.ping", Peer: true}, ""},
	} {
		f := fleetOf(&machines{ids: []string{"web1", "db1"}})
		f.Permit = &tt.p
		if tt.job.Tgt == nil {
			tt.job.Tgt = "*"
		}
		ran := 0
		_, err := f.Run(t.Context(), tt.job, func(fun.Return) error { ran++; return nil })
		switch {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		case (ran == 0) != (err != nil):
			t.Errorf("%s: ran on %d machines, %v", tt.name, ran, err)
		}
	}
}
