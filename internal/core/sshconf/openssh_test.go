package sshconf

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/sync/errgroup"
)

// compared are the keywords whose values are compared with those of ssh -G.
var compared = strings.Fields(`hostname user port identityfile certificatefile identitiesonly userknownhostsfile
globalknownhostsfile proxyjump proxycommand hostkeyalias stricthostkeychecking connecttimeout serveraliveinterval
serveralivecountmax identityagent forwardagent hostkeyalgorithms pubkeyacceptedalgorithms ciphers macs kexalgorithms
canonicaldomains canonicalizehostname canonicalizefallbacklocal canonicalizemaxdots canonicalizepermittedcnames addressfamily
bindaddress pubkeyauthentication passwordauthentication kbdinteractiveauthentication preferredauthentications
revokedhostkeys numberofpasswordprompts batchmode hashknownhosts knownhostscommand checkhostip tcpkeepalive controlpath
proxyusefdpass nohostauthenticationforlocalhost`)

// An openSSH compares a Reader with ssh -G.
type openSSH struct {
	program string
	dir     string // of the configurations
	home    string // $HOME
	me      *user.User
	def     map[string][]string
	all     map[string][]string // algorithms that ssh has
}

func newOpenSSH(t *testing.T) *openSSH {
	t.Helper()
	program, err := exec.LookPath("ssh")
	if err != nil {
		t.Skip("there is no ssh")
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	o := &openSSH{program: program, dir: t.TempDir(), home: t.TempDir(), me: me, all: map[string][]string{}}
	for name, text := range map[string]string{".ssh/conf.d/one": "Host r\n  Port 7001\n", ".ssh/conf.d/two": "Host *\n  ServerAliveInterval 7\n"} {
		o.write(t, filepath.Join(o.home, name), text)
	}
	for key, q := range map[string]string{"hostkeyalgorithms": "HostKeyAlgorithms", "pubkeyacceptedalgorithms": "PubkeyAcceptedAlgorithms", "ciphers": "Ciphers", "macs": "MACs", "kexalgorithms": "KexAlgorithms"} {
		out, err := exec.CommandContext(t.Context(), program, "-Q", q).Output()
		if err != nil {
			t.Skipf("ssh -Q %s: %v", q, err)
		}
		o.all[key] = strings.Fields(string(out))
	}
	none := filepath.Join(o.dir, "none")
	o.write(t, none, "")
	o.def, err = o.ask(t.Context(), none, "brine-default")
	if err != nil {
		t.Skip(err)
	}
	return o
}

func (o *openSSH) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (o *openSSH) environ(key string) (string, bool) {
	v, ok := map[string]string{"HOME": o.home, "SSH_AUTH_SOCK": "/tmp/sock", "SET": "value"}[key]
	return v, ok
}

func (o *openSSH) ask(ctx context.Context, file, host string) (map[string][]string, error) {
	c := exec.CommandContext(ctx, o.program, "-G", "-F", file, "--", host)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + o.home, "SSH_AUTH_SOCK=/tmp/sock", "SET=value"}
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.String())
	}
	return ParseG(out), nil
}

func (o *openSSH) reader(file string) *Reader {
	name, _ := os.Hostname()
	return New(Machine{
		ReadFile: os.ReadFile,
		ReadDir: func(dir string) (names []string, err error) {
			list, err := os.ReadDir(dir)
			for _, e := range list {
				names = append(names, e.Name())
			}
			return names, err
		},
		Getenv: o.environ, Home: o.home, User: o.me.Username, Name: name,
		Exec: func(ctx context.Context, command string) (bool, error) {
			return exec.CommandContext(ctx, "/bin/sh", "-c", command).Run() == nil, nil
		},
		Resolve: func(context.Context, string) (string, bool) { return "", false },
	}, File{Path: file})
}

// value returns what brine reads, worded as ssh -G words it.
func (o *openSSH) value(r *Reader, res *Result, key string) ([]string, error) {
	got := res.All(key)
	switch key {
	case "hostname":
		return []string{res.Host}, nil
	case "hostkeyalias":
		for i := range got {
			got[i] = strings.ToLower(got[i])
		}
	case "proxyjump", "proxycommand", "revokedhostkeys", "knownhostscommand", "controlpath":
		if len(got) == 1 && got[0] == "none" {
			return nil, nil
		}
		if key == "proxyjump" && len(got) == 1 {
			// ssh words the last one, which it uses itself, in its own way.
			at := strings.LastIndexByte(got[0], ',') + 1
			j, err := ParseJump(got[0][at:])
			if err != nil {
				return nil, err
			}
			last := j.Host
			if strings.Contains(last, ":") {
				last = "[" + last + "]"
			}
			if j.User != "" {
				last = j.User + "@" + last
			}
			if j.Port != 0 {
				last += fmt.Sprint(":", j.Port)
			}
			got = []string{got[0][:at] + last}
		}
	case "hostkeyalgorithms", "pubkeyacceptedalgorithms", "ciphers", "macs", "kexalgorithms":
		if len(got) == 1 {
			return []string{strings.Join(Algorithms(got[0], strings.Split(o.def[key][0], ","), o.all[key]), ",")}, nil
		}
	}
	switch key {
	case "userknownhostsfile", "identityagent", "controlpath":
		if len(got) == 1 && got[0] == "none" {
			return got, nil
		}
		t := Target{Name: res.name, Host: res.Host, Port: cmp.Or(res.Get("port"), "22"), User: cmp.Or(res.Get("user"), o.me.Username), Jump: res.Get("proxyjump")}
		t.Alias = cmp.Or(strings.ToLower(res.Get("hostkeyalias")), t.Name)
		var out []string
		for _, p := range got {
			x, err := r.Expand(p, t)
			if err != nil {
				return nil, err
			}
			// ssh takes ~ from the accounts and not from $HOME.
			if strings.HasPrefix(p, "~/") {
				x = strings.Replace(x, o.home, o.me.HomeDir, 1)
			}
			if options[key] == kindWords {
				out = append(out, strings.Fields(x)...)
			} else {
				out = append(out, x)
			}
		}
		return out, nil
	case "forwardagent":
		if len(got) == 1 {
			x, err := r.Env(got[0])
			return []string{x}, err
		}
	case "connecttimeout", "serveraliveinterval":
		if len(got) == 1 && got[0] == "none" {
			return nil, nil
		}
	}
	return got, nil
}

// compare reads a configuration with both, and reports what differs.
func (o *openSSH) compare(t *testing.T, file, host string) (refused bool) {
	t.Helper()
	want, werr := o.ask(t.Context(), file, host)
	if werr != nil && strings.Contains(werr.Error(), "Could not resolve hostname") {
		return false // it connects in vain
	}
	r := o.reader(file)
	res, err := r.Lookup(t.Context(), Query{Host: host})
	if err == nil {
		for _, key := range compared {
			got, verr := o.value(r, res, key)
			if verr != nil {
				err = verr
				break
			}
			w := want[key]
			if len(got) == 0 {
				got = o.def[key]
				if key == "hostname" {
					got = []string{host}
				}
			}
			if key == "serveraliveinterval" && res.Get("batchmode") == "yes" {
				continue // Debian has another default there
			}
			if werr == nil && !slices.Equal(got, w) {
				t.Errorf("%s, host %s: %s is %q, of ssh %q", filepath.Base(file), host, key, got, w)
			}
		}
	}
	if (err != nil) != (werr != nil) {
		t.Errorf("%s, host %s: %v, of ssh %v", filepath.Base(file), host, err, werr)
	}
	return werr != nil
}

func TestAsOpenSSHReal(t *testing.T) {
	t.Parallel()
	o := newOpenSSH(t)
	ar, err := txtar.ParseFile(filepath.Join("testdata", "real.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	configs, refused := 0, 0
	for _, f := range ar.Files {
		text := strings.NewReplacer("DIR", o.dir, "ROOTUSER", o.me.Username).Replace(string(f.Data))
		if strings.HasPrefix(f.Name, "34") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		o.write(t, filepath.Join(o.dir, f.Name), text)
	}
	for _, f := range ar.Files {
		first, _, _ := strings.Cut(string(f.Data), "\n")
		hosts, ok := strings.CutPrefix(first, "# hosts: ")
		if !ok {
			continue // it is included
		}
		configs++
		bad := false
		for host := range strings.FieldsSeq(hosts) {
			bad = o.compare(t, filepath.Join(o.dir, f.Name), host) || bad
		}
		if bad {
			refused++
		}
	}
	if configs < 50 || refused > 10 {
		t.Errorf("%d configurations, of which ssh refuses %d", configs, refused)
	}
}

// A maker makes configurations.
type maker struct {
	*rand.Rand
	o     *openSSH
	files map[string]string
	n     int
}

func pick[T any](m *maker, list ...T) T { return list[m.IntN(len(list))] }

// word writes a word in one of the ways that ssh reads.
func (m *maker) word(s string) string {
	switch m.IntN(6) {
	case 0:
		return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
	case 1:
		return `'` + strings.ReplaceAll(s, `'`, `\'`) + `'`
	case 2:
		if i := m.IntN(len(s) + 1); !strings.ContainsAny(s, `"'\`) {
			return s[:i] + `"` + s[i:] + `"`
		}
	}
	return strings.NewReplacer(" ", `\ `, `"`, `\"`, `'`, `\'`).Replace(s)
}

var genHosts = []string{"alpha", "beta", "alpha.example.com", "Gamma", "192.0.2.1"}

// option writes a line of a keyword.
func (m *maker) option() string {
	algs := func(key string) string {
		list := m.o.all[key]
		a := []string{list[m.IntN(len(list))], list[m.IntN(len(list))]}
		op := pick(m, "", "+", "-", "^")
		if op == "-" && m.IntN(2) == 0 {
			return op + a[0][:len(a[0])/2] + "*"
		}
		return op + strings.Join(a[:1+m.IntN(2)], ",")
	}
	path := func() string {
		return pick(m, "~/.ssh/id_x", "/keys/%h", "~/.ssh/a b", "${HOME}/k/%r", "/k/%n-%p", "rel/key", "${SET}/x", "~/%%y", "none", "~/.ssh/it's")
	}
	yes := func() string { return pick(m, "yes", "no", "true", "FALSE") }
	type gen struct {
		key   string
		value func() string
	}
	word := func(f func() string) func() string { return func() string { return m.word(f()) } }
	of := func(list ...string) func() string { return word(func() string { return pick(m, list...) }) }
	g := pick(
		m,
		gen{"HostName", of("192.0.2.9", "%h.example.org", "Host.Example.Net", "2001:DB8::2", "10.1", "x%%y")},
		gen{"User", of("u1", "user two", "o'brien", "U3")},
		gen{"Port", of("22", "2022", "65535", "ssh")},
		gen{"IdentityFile", word(path)},
		gen{"IdentityFile", word(path)},
		gen{"CertificateFile", word(path)},
		gen{"IdentitiesOnly", word(yes)},
		gen{"UserKnownHostsFile", func() string { return m.word(pick(m, "~/kh", "/kh/%n", "${HOME}/kh")) + " " + m.word("/kh2") }},
		gen{"GlobalKnownHostsFile", of("/etc/kh", "none", "/etc/k-h")},
		gen{"ProxyJump", func() string { return pick(m, "none", "j1", "u@j1:22,j2", "[2001:db8::1]:22", "ssh://a@b:2") }},
		gen{"ProxyCommand", func() string { return pick(m, "none", `nc %h %p # x`, `"quoted" 'x'`, "ssh -W [%h]:%p gw") }},
		gen{"HostKeyAlias", of("ALIAS", "other.example")},
		gen{"StrictHostKeyChecking", of("yes", "no", "ask", "off", "accept-new", "Accept-New", "true")},
		gen{"ConnectTimeout", of("5", "1m", "1h2m3s", "none", "2D")},
		gen{"ServerAliveInterval", of("15", "1m", "0")},
		gen{"ServerAliveCountMax", of("1", "7")},
		gen{"IdentityAgent", of("none", "SSH_AUTH_SOCK", "$SSH_AUTH_SOCK", "${HOME}/a", "~/agent.%h")},
		gen{"ForwardAgent", of("yes", "no", "$SSH_AUTH_SOCK", "/a.sock")},
		gen{"HostKeyAlgorithms", func() string { return algs("hostkeyalgorithms") }},
		gen{"PubkeyAcceptedAlgorithms", func() string { return algs("pubkeyacceptedalgorithms") }},
		gen{"PubkeyAcceptedKeyTypes", func() string { return algs("pubkeyacceptedalgorithms") }},
		gen{"Ciphers", func() string { return algs("ciphers") }},
		gen{"MACs", func() string { return algs("macs") }},
		gen{"KexAlgorithms", func() string { return algs("kexalgorithms") }},
		gen{"CanonicalizeHostname", of("yes", "no", "always", "true")},
		gen{"CanonicalDomains", func() string { return pick(m, "invalid", "a.invalid b.invalid") }},
		gen{"CanonicalizeMaxDots", of("0", "1", "3")},
		gen{"CanonicalizeFallbackLocal", of("yes")},
		gen{"CanonicalizePermittedCNAMEs", func() string { return pick(m, "none", "*.a:*.b", "*.a:*.b *.c:d,e") }},
		gen{"AddressFamily", of("any", "inet", "INET6")},
		gen{"PasswordAuthentication", word(yes)},
		gen{"PubkeyAuthentication", of("yes", "no", "unbound", "host-bound", "TRUE")},
		gen{"KbdInteractiveAuthentication", word(yes)},
		gen{"ChallengeResponseAuthentication", word(yes)},
		gen{"PreferredAuthentications", of("publickey", "password,publickey")},
		gen{"NumberOfPasswordPrompts", of("1", "3")},
		gen{"HashKnownHosts", word(yes)},
		gen{"BatchMode", of("no")},
		gen{"TCPKeepAlive", word(yes)},
		gen{"ControlPath", of("none", "~/cm-%r@%h:%p", "/cm/%k-%L-%l-%u")},
		gen{"Compression", of("yes", "no")},
		gen{"SendEnv", func() string { return "LANG LC_*" }},
		gen{"LocalForward", func() string { return "8080 localhost:80" }},
		gen{"LogLevel", of("INFO", "ERROR")},
	)
	key := g.key
	switch m.IntN(4) {
	case 0:
		key = strings.ToLower(key)
	case 1:
		key = strings.ToUpper(key)
	}
	return pick(m, "", "  ", "\t") + key + pick(m, " ", "\t", "=", " = ", "  ") + g.value() + pick(m, "", "", " ", "\t")
}

func (m *maker) block() string {
	pattern := func() string {
		return pick(m, "alpha", "beta", "*", "a*", "*.example.com", "!beta", "gamma", "Gamma", "192.0.2.?", "?eta", "*.invalid", "*.example.org")
	}
	if m.IntN(2) == 0 {
		words := []string{"Host"}
		for range 1 + m.IntN(3) {
			words = append(words, m.word(pattern()))
		}
		return strings.Join(words, " ") + pick(m, "", "", " # comment")
	}
	line := "Match"
	if m.IntN(8) == 0 {
		return line + " all"
	}
	for range 1 + m.IntN(2) {
		c := pick(m, "host", "originalhost", "user", "localuser", "exec", "final", "canonical")
		not := pick(m, "", "", "", "!")
		value := pattern() + pick(m, "", ","+pattern())
		switch c {
		case "user":
			value = pick(m, "u1", "u*", m.o.me.Username, "user two")
		case "localuser":
			value = pick(m, m.o.me.Username, "nobody*")
		case "exec":
			value = pick(m, "true", "false", "test %h = alpha", "test %r = "+m.o.me.Username, "test %p -eq 22")
		case "final", "canonical":
			line += " " + not + c
			continue
		}
		line += " " + not + c + pick(m, " ", "=")
		if strings.Contains(value, " ") || m.IntN(3) == 0 {
			value = `"` + value + `"`
		}
		line += value
	}
	return line
}

// config makes the text of a file; depth is how many files include it.
func (m *maker) config(depth int) string {
	var b strings.Builder
	for range 2 + m.IntN(10) {
		switch n := m.IntN(24); {
		case n < 7:
			b.WriteString(m.block())
		case n < 8 && depth < 2:
			m.n++
			name := fmt.Sprintf("inc %d.conf", m.n)
			m.files[name] = m.config(depth + 1)
			b.WriteString(pick(m, "Include ", "  include=") + `"` + filepath.Join(m.o.dir, "gen", name) + `"`)
		case n < 9:
			b.WriteString(pick(m, "", "# a comment", "   ", "\t# x"))
		default:
			b.WriteString(m.option())
		}
		b.WriteString(pick(m, "\n", "\n", "\n", "\r\n"))
	}
	if m.IntN(60) == 0 {
		b.WriteString(pick(m, "Port 0\n", "Hots x\n", "User \"x\n", "User a b\n", "StrictHostKeyChecking maybe\n", "IdentitiesOnly 1\n", "Match foo bar\n", "IdentityAgent ${NOT_SET}\n", "ProxyJump @x\n", "UserKnownHostsFile none x\n"))
	}
	return b.String()
}

func TestAsOpenSSHGenerated(t *testing.T) {
	t.Parallel()
	o := newOpenSSH(t)
	refused := 0
	for seed := range uint64(genSeeds()) {
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 22)), o: o, files: map[string]string{}}
		text := m.config(0)
		name := filepath.Join(o.dir, "gen", fmt.Sprintf("config-%d", seed))
		o.write(t, name, text)
		for n, text := range m.files {
			o.write(t, filepath.Join(o.dir, "gen", n), text)
		}
		bad := false
		for _, host := range []string{genHosts[seed%5], genHosts[(seed/5)%5]} {
			bad = o.compare(t, name, host) || bad
		}
		if bad {
			refused++
		}
		if t.Failed() {
			for n, text := range m.files {
				t.Logf("%s:\n%s", n, text)
			}
			t.Fatalf("%s:\n%s", name, text)
		}
	}
	t.Logf("ssh refuses %d", refused)
}

// genSeeds is how many configurations are made.
func genSeeds() int {
	var n int
	if _, err := fmt.Sscan(os.Getenv("BRINE_SSHCONF_SEEDS"), &n); err == nil {
		return n
	}
	return 50
}

// wideValues are tried of each keyword where BRINE_SSHCONF_SEEDS asks for much;
// narrowValues are tried always.
var (
	narrowValues = strings.Split("nonsense|yes|none|0|1x|-1|+nonsense|5 6|a:b", "|")
	wideValues   = strings.Split(`no|1|5|99999999999|ask|point-to-point|-nonsense|^nonsense|INFO|any|force|always|autoask|1:2|tunnel|1M|1G 1h|
default none|256|ef|lowdelay throughput|FOO=bar|1024|/x|8080 h:80|8080 8081|auto|session|md5|sha256|AUTH|sig*|session=5m|*=1|interval:10|
none x|a b|0700|0999|true|a=b c=d|*|*:*|^|~|^?|^[|aa|0x10|1h|1h30m|1w2x|yes x|TRUE|Yes|-|+|a,,b|ssh-*|+ssh-rsa|aes*`, "|")
)

// moreValues are lines of single keywords.
const moreValues = `
AddKeysToAgent confirm 1h | AddKeysToAgent ask 1h | AddKeysToAgent 1h 2h | AddressFamily inet6 | CASignatureAlgorithms ^ssh-ed*
CanonicalDomains a..b | CanonicalDomains a.b. | CanonicalDomains .a | CanonicalDomains a_b none | CanonicalizeMaxDots x
Ciphers + | Ciphers aes128-ctr,,aes256-ctr | Ciphers aes* | Ciphers AES128-CTR | Ciphers -aes*,zzz | Ciphers "+aes128-ctr, aes256-ctr"
Compression TRUE | ConnectTimeout 3000000000 | ConnectTimeout 40000d | ConnectionAttempts 3 | ControlMaster autoask | ControlMaster maybe
DynamicForward [::1]:1080 | DynamicForward *:1080 | DynamicForward h:http | EscapeChar ^A | EscapeChar ab | FingerprintHash sha1
HostKeyAlgorithms ssh-* | HostKeyAlgorithms +ssh-rsa,xx* | HostKeyAlgorithms ssh-rsa,,ssh-dss | HostbasedKeyTypes ssh-rsa
IPQoS af11 cs7 | IPQoS 0xff 8 | IPQoS lowdelay 8 9 | IPQoS va1 | KexAlgorithms ^nonsense | KexAlgorithms curve25519-sha256,
LocalForward 8080 h | LocalForward a:8080 h:80 | LocalForward a:8080 h:80 x | LocalForward /sock h:80 | LocalForward 8080 /sock
LocalForward 99999 h:80 | LocalForward [::1]:80 [::1]:80 | LocalForward 80 h/80 | LocalForward 8080 h:http | LocalForward 8080:h:80 x
LogLevel debug3 | LogLevel DEBUG4 | LogVerbose kex.c:*:1000 | MACs +hmac* | MACs ^hmac-md5 | PermitRemoteOpen h:80 i:* | PermitRemoteOpen h
PermitRemoteOpen *:99999 | PermitRemoteOpen any x:1 | Port 70000 | PubkeyAcceptedKeyTypes +ssh-dss | RekeyLimit 16 | RekeyLimit 15
RekeyLimit 1k none | RekeyLimit 5G 1x | RekeyLimit none | RekeyLimit 1T | RekeyLimit 10M 1h x | RekeyLimit default 1h
RemoteForward 8080 h:80 | RemoteForward 0 h:80 | RemoteForward 1080 | RequestTTY FORCE | RequiredRSASize 2147483648 | SendEnv A B=1
ServerAliveInterval 1h1h | SessionType subsystem | SessionType other | SetEnv =x | SetEnv A=1 B=2 | SetEnv A | StreamLocalBindMask 1000
StreamLocalBindMask 0177 | SyslogFacility local7 | SyslogFacility KERN | Tunnel ethernet | TunnelDevice any:any | TunnelDevice x:1
UpdateHostKeys ASK | VerifyHostKeyDNS false | GSSAPIKexAlgorithms gss-gex-sha1-,gss-group14-sha256- | NumberOfPasswordPrompts x
`

// TestValuesAsOpenSSH: what ssh refuses as the value of a keyword is refused,
// with its place, and nothing else is.
func TestValuesAsOpenSSH(t *testing.T) {
	t.Parallel()
	o := newOpenSSH(t)
	var lines []string
	values, share := narrowValues, 4 // each line starts ssh, and make soak has all of them
	if genSeeds() > 200 {
		values, share = slices.Concat(values, wideValues), 1
	}
	n := 0
	for _, k := range Keywords() {
		if k == "Host" || k == "Match" || k == "Include" {
			continue
		}
		for _, v := range values {
			if n++; n%share == 0 {
				lines = append(lines, k+" "+strings.TrimSpace(v))
			}
		}
	}
	for l := range strings.SplitSeq(moreValues, "\n") {
		for part := range strings.SplitSeq(l, " | ") {
			if part != "" {
				lines = append(lines, part)
			}
		}
	}
	// They have no say in what is a value: ssh goes on to do something, has not
	// heard of the keyword, or lacks what it was built without.
	other := []string{"Could not resolve hostname", "Cannot fork into background", "Bad configuration option", "Unsupported option"}
	// The size + is 0 to ssh; a jump host that looks like an option it takes to
	// refuse it later.
	not := []string{"RekeyLimit +", "RekeyLimit -", "ProxyJump -", "ProxyJump -1", "ProxyJump -nonsense"}
	var g errgroup.Group
	g.SetLimit(4)
	refused := new(atomic.Int32)
	for i, line := range lines {
		if slices.Contains(not, line) {
			continue
		}
		g.Go(func() error {
			file := filepath.Join(o.dir, fmt.Sprintf("value-%d", i))
			if err := os.WriteFile(file, []byte("Host *\n  "+line+"\n"), 0o600); err != nil {
				return err
			}
			_, werr := o.ask(t.Context(), file, "brine-value")
			if werr != nil && slices.ContainsFunc(other, func(s string) bool { return strings.Contains(werr.Error(), s) }) {
				return nil
			}
			_, err := o.reader(file).Lookup(t.Context(), Query{Host: "brine-value"})
			switch {
			case (err != nil) != (werr != nil):
				t.Errorf("%s: %v, of ssh %v", line, err, werr)
			case err != nil:
				refused.Add(1)
				if !strings.HasPrefix(err.Error(), file+":2: ") {
					t.Errorf("%s: the error has no place: %v", line, err)
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d lines, of which ssh refuses %d", len(lines), refused.Load())
}
