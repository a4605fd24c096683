package user_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/shacrypt"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/states/user"
)

// machine is a host with the user ann and tools that do what their arguments
// say, as far as the tests need it.
func machine() *host.Fake {
	h := host.NewFake()
	h.PutUser(host.Account{Name: "ann", Passwd: "x", UID: 1000, GID: 1000, Gecos: "Ann A", Home: "/home/ann", Shell: "/bin/sh"})
	h.PutDir("/home/ann", 0o755)
	h.PutGroup(host.Group{Name: "ann", Passwd: "x", GID: 1000})
	h.PutGroup(host.Group{Name: "adm", Passwd: "x", GID: 4, Members: []string{"ann"}})
	h.PutGroup(host.Group{Name: "wheel", Passwd: "x", GID: 10})
	h.PutFile("/etc/shadow", "root:*:19000:0:99999:7:::\nann:!:19000:0:99999:7:::\n", 0o600)
	h.HandleCommand("useradd *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		name := c.Argv[len(c.Argv)-1]
		if name == "bad" {
			return host.Output{Status: 9}, nil
		}
		h.PutUser(host.Account{Name: name, Passwd: "x", UID: 1001, GID: 1001, Home: "/home/" + name, Shell: "/bin/sh"})
		h.PutGroup(host.Group{Name: name, Passwd: "x", GID: 1001})
		h.PutFile("/etc/shadow", h.Text("/etc/shadow")+name+":!:19000:0:99999:7:::\n", 0o600)
		if name == "raced" { // it was somebody else
			return host.Output{Status: 9}, nil
		}
		return host.Output{}, nil
	})
	h.HandleCommand("usermod -c *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		u, _ := h.LookupUser(c.Argv[3])
		u.Gecos = c.Argv[2]
		h.PutUser(u)
		return host.Output{}, nil
	})
	h.HandleCommand("usermod -s *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		u, _ := h.LookupUser(c.Argv[3])
		u.Shell = c.Argv[2]
		h.PutUser(u)
		return host.Output{}, nil
	})
	h.OnCommand("usermod -g none ann", host.Output{Status: 6})
	h.HandleCommand("usermod -G *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		for g := range strings.SplitSeq(c.Argv[2], ",") {
			gr, _ := h.LookupGroup(g)
			gr.Members = append(gr.Members, c.Argv[3])
			h.PutGroup(gr)
		}
		return host.Output{}, nil
	})
	h.HandleCommand("chage -m *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		h.PutFile("/etc/shadow", strings.ReplaceAll(h.Text("/etc/shadow"), c.Argv[3]+":!:19000:0:", c.Argv[3]+":!:19000:"+c.Argv[2]+":"), 0o600)
		return host.Output{}, nil
	})
	h.HandleCommand("userdel *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		name := c.Argv[len(c.Argv)-1]
		h.DropUser(name)
		h.DropGroup(name)
		return host.Output{}, nil
	})
	h.PutFile("/bin/sh", "", 0o755)
	h.PutFile("/bin/zsh", "", 0o755)
	h.HandleCommand("chpasswd -e", func(_ context.Context, c host.Cmd) (host.Output, error) {
		b, _ := io.ReadAll(c.Stdin)
		name, hash, _ := strings.Cut(strings.TrimSpace(string(b)), ":")
		setPassword(h, name, func(string) string { return hash })
		return host.Output{}, nil
	})
	h.HandleCommand("passwd *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		setPassword(h, c.Argv[2], func(old string) string {
			switch c.Argv[1] {
			case "-l":
				return "!" + old
			case "-u":
				if old != "!" { // as passwd(1), which leaves no account without a password
					return strings.TrimPrefix(old, "!")
				}
				return old
			}
			return ""
		})
		return host.Output{}, nil
	})
	return h
}

// setPassword replaces the password field of a user.
func setPassword(h *host.Fake, name string, with func(string) string) {
	var lines []string
	for line := range strings.Lines(h.Text("/etc/shadow")) {
		f := strings.Split(line, ":")
		if f[0] == name {
			f[1] = with(f[1])
		}
		lines = append(lines, strings.Join(f, ":"))
	}
	h.PutFile("/etc/shadow", strings.Join(lines, ""), 0o600)
}

// The comments and changes are those of salt/states/user.py and of the error
// text of salt/exceptions.py CommandExecutionError.
func TestUser(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, fun, args string
		test            bool
		want            string // result, comment, changes
		calls           []string
	}{
		{
			"up to date", "present", "{name: ann, uid: 1000, gid: ann, groups: [adm], home: /home/ann, shell: /bin/sh, fullname: Ann A}", false,
			"{r: true, c: User ann is present and up to date, x: {}}", nil,
		},
		{"test of a new one", "present", "{name: bob}", true, "{r: null, c: User bob set to be added, x: {}}", nil},
		{
			"test of a change", "present", "{name: ann, shell: /bin/zsh, groups: [wheel], password: $6$s$h}", true,
			`{r: null, c: "The following user attributes are set to be changed:\ngroups: ['wheel']\nshell: /bin/zsh\npasswd: XXX-REDACTED-XXX\n", x: {}}`, nil,
		},
		{
			"change", "present", "{name: ann, shell: /bin/zsh, fullname: Ann B, roomnumber: 7, mindays: 2}", false,
			"{r: true, c: Updated user ann, x: {shell: /bin/zsh, fullname: Ann B, roomnumber: '7', min: 2}}",
			[]string{"chage -m 2 ann", "usermod -s /bin/zsh ann", "usermod -c Ann B ann", "usermod -c Ann B,7 ann"},
		},
		{
			"not permitted", "present", "{name: ann, uid: 5, gid: 10}", false,
			`{r: false, c: "Encountered error checking for needed changes. Additional info follows:\n\n- Changing uid (1000 -> 5) not permitted, set allow_uid_change to True to force this change. Note that this will not change file ownership.\n- Changing gid (1000 -> 10) not permitted, set allow_gid_change to True to force this change. Note that this will not change file ownership.", x: {}}`, nil,
		},
		{"comma", "present", "{name: ann, fullname: 'a,b'}", false, `{r: false, c: "Unsupported char ',' in a,b", x: {}}`, nil},
		{"no group", "present", "{name: bob, groups: [adm, x, y]}", false, `{r: false, c: "The following group(s) are not present: x,y", x: {}}`, nil},
		{
			"new", "present", "{name: bob, uid: 1001, gid: 10, groups: [adm], optional_groups: [wheel, none], fullname: Bob, home: /h, createhome: False, system: True, unique: False, nologinit: True, shell: /bin/sh}", false,
			"{r: true, c: New user bob created, x: {gid: 1001, groups: [adm, bob, wheel], home: '', name: bob, passwd: x, shell: /bin/sh, uid: 1001, fullname: Bob, roomnumber: '', workphone: '', homephone: '', other: ''}}",
			[]string{"useradd -s /bin/sh -u 1001 -g 10 -M -l -o -r -d /h bob", "usermod -G adm,wheel bob", "usermod -c Bob bob"},
		},
		{
			"usergroup", "present", "{name: bob, usergroup: False, mindays: 3}", false,
			"{r: true, c: New user bob created, x: {gid: 1001, groups: [bob], home: /home/bob, name: bob, passwd: x, shell: /bin/sh, uid: 1001, fullname: '', roomnumber: '', workphone: '', homephone: '', other: '', mindays: 3}}",
			[]string{"useradd -N -m bob", "chage -m 3 bob"},
		},
		{"made by somebody else", "present", "{name: raced}", false, "{r: true, c: User raced is present and up to date, x: {}}", []string{"useradd -m raced"}},
		{"useradd fails", "present", "{name: bad}", false, "{r: false, c: Failed to create new user bad, x: {}}", []string{"useradd -m bad"}},
		{
			"absent", "absent", "{name: ann, purge: True, force: True}", false, "{r: true, c: Removed user ann, x: {ann group: removed, ann: removed}}",
			[]string{"userdel -r -f ann"},
		},
		{"absent test", "absent", "{name: ann}", true, "{r: null, c: User ann set for removal, x: {}}", nil},
		{"absent already", "absent", "{name: bob}", false, "{r: true, c: User bob is not present, x: {}}", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := machine()
			got := call(t, h, "user."+tt.fun, tt.args, tt.test)
			if diff := cmp.Diff(value.Repr(calltest.YAML(t, tt.want)), got); diff != "" {
				t.Error(diff)
			}
			var calls []string
			for _, c := range h.Calls() {
				calls = append(calls, strings.Join(c.Argv, " "))
			}
			if diff := cmp.Diff(tt.calls, calls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A password is hashed with the salt of the one that is there, so that the
// same password changes nothing.
func TestHashPassword(t *testing.T) {
	t.Parallel()
	h := machine()
	hash, err := shacrypt.Hash("sha512", "secret", "abc")
	if err != nil {
		t.Fatal(err)
	}
	h.PutFile("/etc/shadow", "ann:"+hash+":19000:0:99999:7:::\n", 0o600)
	want := "{'r': True, 'c': 'User ann is present and up to date', 'x': {}}"
	if got := call(t, h, "user.present", "{name: ann, password: secret, hash_password: True}", false); got != want {
		t.Errorf("same password: %s, want %s", got, want)
	}
	if got := call(t, h, "user.present", "{name: ann, password: other, hash_password: True}", true); !strings.Contains(got, "passwd: XXX-REDACTED-XXX") {
		t.Errorf("other password: %s", got)
	}
}

// password and password_lock, dates, and what is refused. Each state is applied
// twice: the second time nothing is left to do. BUGS 28, 29: Salt fails there.
func TestPasswords(t *testing.T) {
	t.Parallel()
	const updated = "{'r': True, 'c': 'Updated user ann', 'x': "
	for _, tt := range []struct {
		name, before, args, want, field string // before and field are those of shadow(5)
	}{
		{"password and lock", "!", "{name: ann, password: $6$s$h, password_lock: True}", updated + "{'passwd': 'XXX-REDACTED-XXX'}}", "!$6$s$h"},
		{"lock", "$6$s$h", "{name: ann, password: $6$s$h, password_lock: True}", updated + "{'passwd': 'XXX-REDACTED-XXX'}}", "!$6$s$h"},
		{"unlock", "!$6$s$h", "{name: ann, password_lock: False}", updated + "{'passwd': 'XXX-REDACTED-XXX'}}", "$6$s$h"},
		{"unlock with a password", "!$6$s$h", "{name: ann, password: $6$s$i, password_lock: False}", updated + "{'passwd': 'XXX-REDACTED-XXX'}}", "$6$s$i"},
		{"a locked one is replaced", "!$6$s$h", "{name: ann, password: $6$s$h}", updated + "{'passwd': 'XXX-REDACTED-XXX'}}", "$6$s$h"},
		{"kept", "$6$s$h", "{name: ann, password: $6$s$i, enforce_password: False}", "", "$6$s$h"},
		{"empty", "$6$s$h", "{name: ann, empty_password: True}", updated + "{'passwd': 'XXX-REDACTED-XXX'}}", ""},
		{"hash with rounds", "$6$rounds=1000$ab$pH9NrVOL0TsWVTwIsERtoDA4KGRST7iElxHdzYlv/7kFsSbdAYpDolZo0lKEk6Fy/6qd4OKBdkihSYcXYWb/E0", "{name: ann, password: a, hash_password: True}", "", "$6$rounds=1000$ab$pH9NrVOL0TsWVTwIsERtoDA4KGRST7iElxHdzYlv/7kFsSbdAYpDolZo0lKEk6Fy/6qd4OKBdkihSYcXYWb/E0"},
		{"quoted numbers", "!", "{name: ann, uid: '1000', gid: '1000', date: '19000', mindays: '0'}", "", "!"},
		{"date", "!", "{name: ann, date: 2022-01-08}", "", "!"},
		{"no date", "!", "{name: ann, expire: soon}", "fails: Invalid expire 'soon': it must be the number of days since 1970-01-01 or a date such as 2030-01-31", "!"},
		{"plain text", "!", "{name: ann, password: secret}", "fails: The password is not a hash of crypt(5). Use its hash, or set hash_password to True if it is in plain text.", "!"},
		{"no group", "!", "{name: ann, gid: none, allow_gid_change: True}", "fails: These values could not be changed: {'gid': 'none', 'groups': ['adm', 'ann']}", "!"},
		{"no password to unlock", "!", "{name: ann, password_lock: False}", "fails: These values could not be changed: {'password_lock': False}", "!"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := machine()
			setPassword(h, "ann", func(string) string { return tt.before })
			want := tt.want
			if why, fails := strings.CutPrefix(want, "fails: "); fails {
				want = value.Repr(value.MapOf("r", false, "c", why, "x", value.NewMap(0)))
			}
			const done = "{'r': True, 'c': 'User ann is present and up to date', 'x': {}}"
			if want == "" {
				want = done
			}
			if got := call(t, h, "user.present", tt.args, false); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if !strings.Contains(h.Text("/etc/shadow"), "\nann:"+tt.field+":") {
				t.Errorf("shadow is %q, want the field %q", h.Text("/etc/shadow"), tt.field)
			}
			if got := call(t, h, "user.present", tt.args, false); !strings.HasPrefix(tt.want, "fails") && got != done {
				t.Errorf("the second time: %s", got)
			}
		})
	}
}

// What Salt accepts in silence has a warning (BUGS 30, 31).
func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, want string }{
		{"{name: ann, shell: /bin/sh, groups: [adm], optional_groups: [ann]}", "None"},
		{"{name: ann, shell: /bin/none}", "['Shell /bin/none does not exist']"},
		{"{name: ann, groups: [adm], optional_groups: [adm, none]}", "['Group adm is in both groups and optional_groups; it is required']"},
		{"{name: ann, home: /home/new}", "['Files in the old home directory /home/ann are not moved to /home/new']"},
	} {
		ret := apply(t, machine(), "user.present", tt.args, true)
		var got value.Value
		if ret.Extra != nil {
			got = ret.Extra.At("warnings")
		}
		if value.Repr(got) != tt.want {
			t.Errorf("warnings of %s = %s, want %s", tt.args, value.Repr(got), tt.want)
		}
	}
}

// The supplementary groups that present wants are those of Salt's _changes.
func TestGroups(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, want string }{
		{"{name: ann}", ""},
		{"{name: ann, groups: []}", "groups: []"},
		{"{name: ann, groups: [adm, wheel]}", "groups: ['adm', 'wheel']"},
		{"{name: ann, groups: [wheel]}", "groups: ['wheel']"},
		{"{name: ann, groups: [wheel], remove_groups: False}", "groups: ['adm', 'wheel']"},
		{"{name: ann, groups: [], remove_groups: False}", ""},
		{"{name: ann, optional_groups: [wheel]}", "groups: ['wheel']"},
		{"{name: ann, optional_groups: [none]}", ""},
		{"{name: ann, groups: [adm, ann]}", ""},
	} {
		got := value.Str(apply(t, machine(), "user.present", tt.args, true).Comment)
		_, got, _ = strings.Cut(got, "changed:\n")
		got, _, _ = strings.Cut(got, "\n")
		if got != tt.want {
			t.Errorf("%s wants %q, want %q", tt.args, got, tt.want)
		}
	}
}

// call calls a state and returns result, comment and changes.
func call(t *testing.T, h host.Host, name, args string, test bool) string {
	t.Helper()
	ret := apply(t, h, name, args, test)
	changes := ret.Changes
	if changes == nil {
		changes = value.NewMap(0)
	}
	return value.Repr(value.MapOf("r", ret.Result.Value(), "c", ret.Comment, "x", changes))
}

func apply(t *testing.T, h host.Host, name, args string, test bool) fun.Ret {
	t.Helper()
	env := &fun.Env{Machine: fun.Machine{Host: h}}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.State, Name: "user", Load: user.States}})
	mod, spec, ok := env.Table.Lookup(fun.State, name)
	if !ok {
		t.Fatalf("no state %s", name)
	}
	c, err := dispatch.New(env).Bind(mod, spec, fun.Args{Kw: calltest.YAML(t, args).(*value.Map)})
	if err != nil {
		t.Fatal(err)
	}
	c.Test = test
	ret := spec.State(t.Context(), c)
	if ret.Err != nil {
		t.Fatal(ret.Err)
	}
	return ret
}
