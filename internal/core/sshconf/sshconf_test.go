package sshconf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"brine/internal/py/source"
)

// machine is one whose files are a map.
func machine(files map[string]string) Machine {
	return Machine{
		ReadFile: func(p string) ([]byte, error) {
			if text, ok := files[p]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
		ReadDir: func(dir string) (names []string, err error) {
			for _, p := range slices.Sorted(maps.Keys(files)) {
				if path.Dir(p) == dir {
					names = append(names, path.Base(p))
				}
			}
			return names, nil
		},
		Getenv: func(key string) (string, bool) { return "/env", key == "DIR" },
		HomeOf: func(user string) (string, bool) { return "/home/" + user, user != "nobody" },
		Home:   "/h", User: "me", UID: 7, Name: "laptop.example.net",
	}
}

func mine(p string) File { return File{Path: p, Check: true} }

func TestLookup(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, config, host, key, want string
	}{
		{"the first value holds", "Host a\n User x\nHost *\n User y\n", "a", "user", "x"},
		{"quoted host", "Host \"a\" 'b'\n User x\n", "b", "user", "x"},
		{"escaped blank", `IdentityFile a\ b` + "\n", "a", "identityfile", "a b"},
		{"no other host", "Host b\n User x\n", "a", "user", ""},
		{"quoted include", "Include \"/inc dir/*\"\n", "a", "user", "inc"},
		{"relative include", "Include conf.d/x\n", "a", "user", "rel"},
		{"include in a block that does not hold", "Host b\n Include conf.d/x\n", "a", "user", ""},
		{"Match with quotes", "Match host \"a,b\" !user \"x y\"\n User m\n", "a", "user", "m"},
		{"Match of a host name", "Host a\n HostName %h.b\nMatch host a.b originalhost a\n User m\n", "a", "user", "m"},
		{"second pass", "Host a\n HostName n\nMatch final host n\n User m\n", "a", "user", "m"},
		{"tag", "Host a\n Tag t\nMatch tagged t\n User m\n", "a", "user", "m"},
		{"canonical name", "CanonicalizeHostname yes\nCanonicalDomains none.org example.com\nMatch canonical host a.example.com\n User m\n", "a", "user", "m"},
		{"an alias of DNS", "CanonicalizeHostname yes\nCanonicalDomains example.com\nCanonicalizePermittedCNAMEs *.example.com:*.cdn.net\nHost real.cdn.net\n User m\n", "a", "user", "m"},
		{"a jump excludes a command", "ProxyJump j\nProxyCommand x\n", "a", "proxycommand", ""},
		{"the rest of a command", "ProxyCommand = nc \"%h\" # x\n", "a", "proxycommand", `nc "%h" # x`},
		{"a time", "ConnectTimeout 1m30s\n", "a", "connecttimeout", "90"},
		{"option first", "User x\n", "opt", "user", "by-option"},
	} {
		r := New(func() Machine {
			m := machine(map[string]string{"/h/.ssh/config": tt.config, "/inc dir/a": "User inc\n", "/h/.ssh/conf.d/x": "User rel\n"})
			m.Resolve = func(_ context.Context, host string) (string, bool) {
				return "real.cdn.net.", host == "a.example.com."
			}
			return m
		}(), mine("/h/.ssh/config"))
		q := Query{Host: tt.host}
		if tt.host == "opt" {
			q.Options = []string{"-o User=by-option"}
		}
		res, err := r.Lookup(t.Context(), q)
		if err != nil || res.Get(tt.key) != tt.want {
			t.Errorf("%s: %s = %q, %v; want %q", tt.name, tt.key, res.Get(tt.key), err, tt.want)
		}
	}
}

// What cannot be read is refused with its place: nobody goes on as another user
// than the one that the file means.
func TestLookupRefuses(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"Host *\n User \"x\n":             "/c:2: missing closing quote",
		"Host *\n Usr x\n":                `/c:2: unknown keyword Usr (did you mean "User"?); see IgnoreUnknown`,
		"Host b\n Port x\n":               "/c:2: Port x: invalid port: it must be a number from 1 to 65535, or the name of a service",
		"User a b\n":                      "/c:1: User has more than one value",
		"User\n":                          "/c:1: User has no value",
		"Match sometimes\n":               "/c:1: unsupported condition of Match: sometimes",
		"Match user\n":                    "/c:1: Match user has no value",
		"Match host a user b all\n":       "/c:1: all cannot be combined with other conditions of Match",
		"Match exec true\n User x\n":      "/c:1: " + ErrExec.Error(),
		"Include ${DIR}/x\n":              "/c:1: cannot read the tokens of Include ${DIR}/x",
		"Include /loop\n":                 "/loop:1: more than 16 files include each other",
		"Include /bad\n":                  "/bad:1: Port 0: invalid port: it must be a number from 1 to 65535, or the name of a service",
		"IdentityAgent ${NOT}\n":          "/c:1: ${NOT}: the environment variable NOT is not set",
		"IdentityAgent $a-b\n":            "/c:1: IdentityAgent $a-b: invalid name of an environment variable",
		"UserKnownHostsFile none x\n":     "/c:1: UserKnownHostsFile: none must stand alone",
		"ProxyJump a,@b\n":                `/c:1: "@b" is not a jump host`,
		"ConnectTimeout 5x\n":             "/c:1: ConnectTimeout 5x: invalid time: it must be none, or a time such as 90, 30s or 1h30m",
		"StrictHostKeyChecking maybe\n":   "/c:1: StrictHostKeyChecking maybe: invalid value: it must be yes, no, accept-new, ask or off",
		"Host x\n LogLevel foo\n":         "/c:2: LogLevel foo: invalid value: it must be debug, debug1, debug2, debug3, error, fatal, info, quiet or verbose",
		"RekeyLimit 1x\n":                 "/c:1: RekeyLimit 1x: invalid value: it must be default or a size such as 1G or 500M (at least 16 bytes), then none or a time such as 1h where there is a second value",
		"ConnectionAttempts 0\n":          "/c:1: ConnectionAttempts 0: invalid number: it must be a whole number from 1 to 2147483647",
		"Ciphers aes128-ctr,aes128-ctx\n": `/c:1: Ciphers aes128-ctr,aes128-ctx: unknown algorithm "aes128-ctx" (did you mean "aes128-ctr"?); there are ` + strings.Join(strings.Fields(cipherNames), ", "),
		"HostName %x\n":                   "/c:1: %x: unknown token %x",
		"Include /writable\n":             "/writable: bad owner or permissions: every user can write to it; see chmod and chown",
		"CanonicalizeHostname yes\nCanonicalizeFallbackLocal no\nCanonicalDomains x\n": `/c:2: host "a" is in none of the CanonicalDomains`,
	} {
		m := machine(map[string]string{"/c": config, "/loop": "Include /loop\n", "/bad": "Port 0\n", "/writable": "User x\n"})
		m.Unsafe = func(p string) string {
			if p == "/writable" {
				return "every user can write to it"
			}
			return ""
		}
		m.Resolve = func(context.Context, string) (string, bool) { return "", false }
		res, err := New(m, mine("/c")).Lookup(t.Context(), Query{Host: "a"})
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v; want %s", config, res, err, want)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	r := New(machine(nil))
	for _, tt := range []struct{ option, key, want string }{
		{"Port=22", "port", "22"},
		{"ProxyCommand=ssh -W %h:%p bastion -o X=y", "proxycommand", "ssh -W %h:%p bastion -o X=y"},
		{"-oUser=x", "user", "x"},
		{"-o User x", "user", "x"},
		{`UserKnownHostsFile="/a b"`, "userknownhostsfile", "/a b"},
		{"ServerAliveInterval 7", "serveraliveinterval", "7"},
		{"LaterSSHHasThis yes", "laterssshhasthis", ""},
	} {
		res, err := r.Lookup(t.Context(), Query{Host: "h", Options: []string{tt.option}})
		if err != nil || res.Get(tt.key) != tt.want || res.SetByOption(tt.key) != (tt.want != "") {
			t.Errorf("%q: %s = %v, %v; want %q", tt.option, tt.key, res, err, tt.want)
		}
	}
	for option, want := range map[string]string{
		"Usr=x": `ssh option "Usr=x": unknown keyword (did you mean "User"?)`, "": `ssh option "" is not <keyword>=<value>`,
		"User": `ssh option "User" is not <keyword>=<value>`, "Host x": `ssh option "Host x": Host cannot be an option`,
	} {
		if _, err := r.Lookup(t.Context(), Query{Host: "h", Options: []string{option}}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", option, err, want)
		}
	}
}

// A name from a roster reaches no shell by Match exec.
func TestMatchExec(t *testing.T) {
	t.Parallel()
	var ran []string
	m := machine(map[string]string{"/c": "Match exec \"test %n\"\n User x\nMatch user nobody exec never\n User y\n"})
	m.Exec = func(_ context.Context, command string) (bool, error) {
		ran = append(ran, command)
		return true, nil
	}
	r := New(m, mine("/c"))
	for range 2 {
		if res, err := r.Lookup(t.Context(), Query{Host: "web"}); err != nil || res.Get("user") != "x" {
			t.Errorf("%+v, %v", res, err)
		}
	}
	if _, err := r.Lookup(t.Context(), Query{Host: "$(id)"}); err == nil || !strings.Contains(err.Error(), "/c:1: \"$(id)\" cannot stand in Match exec (%n)") {
		t.Error(err)
	}
	if !slices.Equal(ran, []string{"test web"}) {
		t.Errorf("ran %q", ran)
	}
}

// What brine cannot read, ssh is asked for; an answer that is its default is none.
func TestAsk(t *testing.T) {
	t.Parallel()
	asked := 0
	config := ""
	m := machine(map[string]string{"/c": "Include ${DIR}/x\n"})
	m.Config = func(text string) (string, func(), error) {
		config = text
		return "/tmp/x", func() {}, nil
	}
	said := "user deploy\nhostname real\nport 22\nstricthostkeychecking false\nuserknownhostsfile /a /b\n"
	m.SSH = func(_ context.Context, args ...string) ([]byte, error) {
		asked++
		switch {
		case config == "":
			return []byte("user me\nhostname h\nport 22\nstricthostkeychecking ask\nuserknownhostsfile /k\n"), nil
		case strings.Join(args, " ") != "-F /tmp/x -o Port=23 -- h" || !strings.HasPrefix(config, "Include \"/c\"\n"):
			return nil, fmt.Errorf("asked %q of %q", args, config)
		case said == "":
			return nil, errors.New("no")
		case strings.Contains(config, "brine-unset"):
			return []byte("user brine-unset\n"), nil
		}
		return []byte(said), nil
	}
	r := New(m, mine("/c"))
	q := Query{Host: "h", Options: []string{"Port=23"}}
	for range 2 {
		res, err := r.Lookup(t.Context(), q)
		if err != nil || res.Get("user") != "deploy" || res.Host != "real" || res.Get("port") != "23" || res.Get("stricthostkeychecking") != "no" ||
			strings.Join(res.All("userknownhostsfile"), " ") != "/a /b" || !res.Expanded("userknownhostsfile") {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	if asked != 2 {
		t.Errorf("ssh was asked %d times", asked)
	}
	// The person's own account is ssh's default: the files name none.
	said = "user me\nhostname h\n"
	if res, err := New(m, mine("/c")).Lookup(t.Context(), q); err != nil || res.Get("user") != "" {
		t.Errorf("%+v, %v", res, err)
	}
	// Where ssh has no answer either, the place is named.
	said = ""
	if _, err := New(m, mine("/c")).Lookup(t.Context(), q); err == nil || err.Error() != "/c:1: cannot read the tokens of Include ${DIR}/x" {
		t.Errorf("%v", err)
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	r := New(machine(nil))
	to := Target{Name: "web", Host: "10.0.0.1", Port: "22", User: "u", Alias: "web", Jump: "a@x:1,b@gate:2"}
	for p, want := range map[string]string{
		"~/%n": "/h/web", "~root/x": "/home/root/x", "${DIR}/%%${DIR}": "/env/%/env", "%j": "gate", "%d%i": "/h7", "~": "/h",
		"~nobody/x": "!~nobody/x: there is no user nobody", "%": "!% ends within a token", "%Q": "!%Q: unknown token %Q", "${x": "!${x: invalid environment variable",
	} {
		got, err := r.Expand(p, to)
		if err != nil {
			got = "!" + err.Error()
		}
		if got != want {
			t.Errorf("%s is %s, want %s", p, got, want)
		}
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	var got []string
	r := New(machine(map[string]string{"/c": "Host a \"b\" *.x !no\nInclude inc\n", "/h/.ssh/inc": "\n Host d\n"}), mine("/c"))
	if err := r.Hosts(func(name string, at source.Pos) { got = append(got, name+" "+at.String()) }); err != nil {
		t.Error(err)
	}
	if s := strings.Join(got, ", "); s != "a /c:1:6, b /c:1:9, d /h/.ssh/inc:2:7" {
		t.Error(s)
	}
}

func TestAlgorithms(t *testing.T) {
	t.Parallel()
	def, all := []string{"a1", "a2", "b1"}, []string{"a1", "a2", "b1", "old1", "old2"}
	for _, tt := range []struct{ spec, want string }{
		{"", "a1 a2 b1"},
		{"a*", "a1 a2"},
		{"b1,a1", "b1 a1"},
		{"-a*", "b1"},
		{"^b1", "b1 a1 a2"},
		{"+b1", "a1 a2 b1"},
		{"+old2", "a1 a2 b1 old2"},
		{"^old*", "old1 old2 a1 a2 b1"},
		{"zz", ""},
	} {
		if got := strings.Join(Algorithms(tt.spec, def, all), " "); got != tt.want {
			t.Errorf("%q = %q, want %q", tt.spec, got, tt.want)
		}
	}
}

func TestPattern(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pat, s string
		want   bool
	}{{"*", "", true}, {"a*c", "abbc", true}, {"a*c", "abb", false}, {"?", "", false}, {"*a*b", "xaab", true}, {"a", "A", false}} {
		if got := Pattern(tt.pat, tt.s); got != tt.want {
			t.Errorf("%q, %q: %t", tt.pat, tt.s, got)
		}
	}
}

func FuzzLookup(f *testing.F) {
	f.Add("Host *\n User x\nMatch host a exec \"b\" final\n", "-o User=x", "h")
	f.Add("Include *\nCanonicalizeHostname yes\nIdentityFile '~/a'\\", "Port 1 2", "127.1")
	f.Fuzz(func(t *testing.T, text, option, name string) {
		m := machine(map[string]string{"/c": text})
		m.Exec = func(context.Context, string) (bool, error) { return true, nil }
		_, _ = New(m, mine("/c")).Lookup(t.Context(), Query{Host: name, Options: []string{option}})
	})
}
