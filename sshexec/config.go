package sshexec

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // of %C, as ssh has it
	"encoding/hex"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kevinburke/ssh_config"

	"brine/internal/host"
	"brine/internal/proc"
	"brine/internal/roster"
	"brine/internal/source"
)

// sshConfig answers what ssh_config says of a host: the user's file, then the
// system's. Files with Match blocks are asked of ssh -G, which knows all of
// them, where ssh is there.
type sshConfig struct {
	host  host.Host
	home  string
	files []*configFile

	mu  sync.Mutex
	ask map[string]map[string][]string // what ssh -G answered
}

type configFile struct {
	path    string
	cfg     *ssh_config.Config
	byssh   bool  // only ssh -G can read it
	problem error // why it cannot be read
}

// loadConfig reads the files; those that are missing are left out.
func loadConfig(h host.Host, home string, paths []string) *sshConfig {
	c := &sshConfig{host: h, home: home, ask: map[string]map[string][]string{}}
	for _, p := range paths {
		text, err := h.ReadFile(p)
		if err != nil {
			continue
		}
		f := &configFile{path: p}
		f.cfg, f.problem = decodeConfig(text)
		f.byssh = f.problem != nil || c.hasMatch(text, filepath.Dir(p), 0)
		c.files = append(c.files, f)
	}
	return c
}

// decodeConfig parses a file; a panic of the parser is an error.
func decodeConfig(text []byte) (cfg *ssh_config.Config, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return ssh_config.DecodeBytes(text)
}

// hasMatch reports whether a file, or one that it includes, has Match blocks
// other than "Match all". dir is where the names of includes begin.
func (c *sshConfig) hasMatch(text []byte, dir string, depth int) bool {
	for line := range bytes.Lines(text) {
		words := strings.Fields(strings.Replace(string(line), "=", " ", 1))
		if len(words) < 2 {
			continue
		}
		switch strings.ToLower(words[0]) {
		case "match":
			if !strings.EqualFold(words[1], "all") {
				return true
			}
		case "include":
			for _, w := range words[1:] {
				if c.includesMatch(strings.Trim(w, `"`), dir, depth+1) {
					return true
				}
			}
		}
	}
	return false
}

// maxInclude is how deep ssh reads includes.
const maxInclude = 16

func (c *sshConfig) includesMatch(pattern, dir string, depth int) bool {
	if depth > maxInclude {
		return false
	}
	switch {
	case strings.HasPrefix(pattern, "~/"):
		pattern = filepath.Join(c.home, pattern[2:])
	case !filepath.IsAbs(pattern):
		pattern = filepath.Join(dir, pattern)
	}
	names, _ := filepath.Glob(pattern)
	for _, n := range names {
		if text, err := c.host.ReadFile(n); err == nil && c.hasMatch(text, dir, depth) {
			return true
		}
	}
	return false
}

// settings are the values that hold for one host, the first one winning.
type settings struct {
	explicit map[string][]string // of the roster's ssh_options
	layers   []func(key string) []string
}

// get returns the first value of a key, in lower case.
func (s *settings) get(key string) string {
	if all := s.all(key); len(all) > 0 {
		return all[0]
	}
	return ""
}

// all returns the values of a key from all layers.
func (s *settings) all(key string) []string {
	out := append([]string(nil), s.explicit[key]...)
	for _, l := range s.layers {
		out = append(out, l(key)...)
	}
	return out
}

// seconds returns a key that is a number of seconds; def where it is not.
func (s *settings) seconds(key string, def time.Duration) time.Duration {
	v := s.get(key)
	if n, err := strconv.Atoi(v); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	if d, err := time.ParseDuration(v); err == nil && d > 0 {
		return d
	}
	return def
}

// lookup returns the settings of a host. options are "Key=value" or "Key
// value" of the roster, which come first, as ssh's -o does.
func (c *sshConfig) lookup(ctx context.Context, alias, user string, options []string) (*settings, error) {
	s := &settings{explicit: map[string][]string{}}
	for _, o := range options {
		o = strings.TrimPrefix(strings.TrimSpace(o), "-o")
		key, v, ok := strings.Cut(strings.TrimSpace(o), "=")
		if k, w, blank := strings.Cut(key, " "); blank || !ok {
			if key, v = k, w; ok {
				v = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(o), k))
			}
		}
		v = strings.Trim(strings.TrimSpace(v), `"`)
		if key == "" || v == "" {
			return nil, fmt.Errorf("ssh option %q is not <keyword>=<value>", o)
		}
		if err := checkKeyword(key); err != nil {
			return nil, err
		}
		key = strings.ToLower(key)
		s.explicit[key] = append(s.explicit[key], v)
	}
	for _, f := range c.files {
		if f.byssh {
			if m, err := c.sshG(ctx, f.path, alias, user); err == nil {
				s.layers = append(s.layers, func(key string) []string { return m[key] })
				continue
			} else if f.problem != nil {
				return nil, &source.Error{Pos: source.Pos{File: f.path}, Err: fmt.Errorf("%w, and ssh -G cannot be asked: %w", f.problem, err)}
			}
		}
		s.layers = append(s.layers, func(key string) []string {
			all, _ := f.cfg.GetAll(alias, key)
			return all
		})
	}
	return s, nil
}

// sshG asks ssh what a file says of a host. What it says for a host that no
// line concerns is ssh's default and is left out.
func (c *sshConfig) sshG(ctx context.Context, file, alias, user string) (map[string][]string, error) {
	def, err := c.runG(ctx, "/dev/null", alias, user)
	if err != nil {
		return nil, err
	}
	got, err := c.runG(ctx, file, alias, user)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for k, v := range got {
		if strings.Join(v, "\n") != strings.Join(def[k], "\n") {
			out[k] = v
		}
	}
	return out, nil
}

func (c *sshConfig) runG(ctx context.Context, file, alias, user string) (map[string][]string, error) {
	key := file + "\x00" + alias + "\x00" + user
	c.mu.Lock()
	m := c.ask[key]
	c.mu.Unlock()
	if m != nil {
		return m, nil
	}
	argv := []string{"ssh", "-G", "-F", file}
	if user != "" {
		argv = append(argv, "-l", user)
	}
	out, err := c.host.Run(ctx, host.Cmd{Argv: append(argv, "--", alias), Timeout: 10 * time.Second})
	if err != nil {
		return nil, err
	}
	if out.Status != 0 {
		return nil, fmt.Errorf("ssh -G: %s", strings.TrimSpace(string(out.Stderr)))
	}
	m = map[string][]string{}
	for line := range strings.Lines(string(out.Stdout)) {
		k, v, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok {
			m[k] = append(m[k], v)
		}
	}
	c.mu.Lock()
	c.ask[key] = m
	c.mu.Unlock()
	return m, nil
}

// A dest is a host with everything needed to reach it.
type dest struct {
	id      string // what messages call it
	name    string // as the roster and ssh_config have it
	host    string // what is dialled
	port    int
	user    string
	alias   string // the name that known_hosts has it by
	timeout time.Duration
	jump    []string // hosts on the way, first one first
	jumps   string   // the same, as it was written
	proxy   string   // command that is the way
	family  string   // tcp, tcp4, tcp6
	bind    string

	passwd         roster.Secret
	priv           string
	privPasswd     roster.Secret
	identities     []string
	certificates   []string
	identitiesOnly bool
	agent          string // socket; "" is none
	forward        string // socket of the agent that the host may use; "" is none
	methods        []string

	known       []string // known_hosts files, the user's first
	revoked     string   // file of keys that no host may have
	policy      Policy
	ciphers     []string
	macs, kexes []string
	hostKeyAlgs []string
	alive       time.Duration
	aliveCount  int
}

func (d *dest) addr() string { return net.JoinHostPort(d.host, strconv.Itoa(d.port)) }

// knownAs is the name of the host in known_hosts, with its port.
func (d *dest) knownAs() string {
	if d.alias != "" {
		return net.JoinHostPort(d.alias, "22")
	}
	return d.addr()
}

// dest joins the roster, ssh_config and the defaults for an entry.
func (d *Dialer) dest(ctx context.Context, e *roster.Entry) (*dest, error) {
	s, err := d.config.lookup(ctx, e.Host, e.User, e.SSHOptions)
	if err != nil {
		return nil, err
	}
	t, err := d.fromSettings(dest{id: e.ID, name: e.Host, port: e.Port, user: e.User}, s)
	if err != nil {
		return nil, err
	}
	if e.Timeout > 0 {
		t.timeout = e.Timeout
	}
	t.passwd, t.privPasswd = e.Passwd, e.PrivPasswd
	if !t.passwd.IsSet() {
		t.passwd = d.o.Password
	}
	switch {
	case e.Priv == "agent-forwarding":
		t.forward = t.agent
	case e.Priv != "":
		t.priv = d.expand(e.Priv, t)
	}
	// That of ssh_config is left to ssh: a roster is where a machine is named to
	// which the agent's keys are lent.
	if v := s.explicit["forwardagent"]; len(v) > 0 && strings.EqualFold(v[0], "yes") {
		t.forward = t.agent
	}
	t.identitiesOnly = t.identitiesOnly || e.IdentitiesOnly
	return t, nil
}

// hop is the dest of a jump host, "[user@]host[:port]".
func (d *Dialer) hop(ctx context.Context, spec string) (*dest, error) {
	user, rest, ok := strings.Cut(strings.TrimPrefix(spec, "ssh://"), "@")
	if !ok {
		user, rest = "", user
	}
	name, port := rest, 0
	if h, p, err := net.SplitHostPort(rest); err == nil {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 || n > 65535 {
			return nil, fmt.Errorf("%q is no port of a jump host", p)
		}
		name, port = h, n
	}
	name = strings.Trim(name, "[]")
	if name == "" || strings.HasPrefix(name, "-") {
		return nil, fmt.Errorf("%q is no jump host", spec)
	}
	s, err := d.config.lookup(ctx, name, user, nil)
	if err != nil {
		return nil, err
	}
	if user == "" && s.get("user") == "" {
		// A jump host is the person's own affair, as it is for ssh.
		user = d.o.Me
	}
	return d.fromSettings(dest{id: "jump host " + name, name: name, port: port, user: user}, s)
}

// defaultTimeout is how long a target has to answer, through to the log-in.
const defaultTimeout = 60 * time.Second

// fromSettings completes a dest of what ssh_config says. It has id and name, and
// port and user where something more than ssh_config says them.
//
// An algorithm list that leaves nothing is an error: to go on with those that
// were not wanted would be none of brine's business.
func (d *Dialer) fromSettings(said dest, s *settings) (*dest, error) {
	t := &said
	t.host, t.timeout, t.family, t.policy, t.alive, t.aliveCount = t.name, defaultTimeout, "tcp", d.o.Policy, d.keepAlive(), 3
	if h := s.get("hostname"); h != "" {
		t.host = strings.NewReplacer("%h", t.name, "%%", "%").Replace(h)
	}
	// An IPv6 address may be written as in a URL.
	if in, ok := strings.CutPrefix(t.host, "["); ok && strings.Contains(in, ":") {
		t.host = strings.TrimSuffix(in, "]")
	}
	if t.port == 0 {
		t.port = 22
		if p, err := strconv.Atoi(s.get("port")); err == nil && p > 0 && p < 65536 {
			t.port = p
		}
	}
	if t.user == "" {
		t.user = cmp.Or(s.get("user"), "root")
	}
	t.alias = s.get("hostkeyalias")
	t.timeout = s.seconds("connecttimeout", t.timeout)
	t.alive = s.seconds("serveraliveinterval", t.alive)
	if n, err := strconv.Atoi(s.get("serveralivecountmax")); err == nil && n > 0 {
		t.aliveCount = n
	}
	switch s.get("addressfamily") {
	case "inet":
		t.family = "tcp4"
	case "inet6":
		t.family = "tcp6"
	}
	t.bind = s.get("bindaddress")
	t.jumps = s.get("proxyjump")
	if j := t.jumps; j != "" && j != "none" {
		for h := range strings.SplitSeq(j, ",") {
			t.jump = append(t.jump, strings.TrimSpace(h))
		}
	} else if p := s.get("proxycommand"); j == "" && p != "" && p != "none" {
		t.proxy = p
	}
	d.keysFrom(s, t)
	t.methods = authMethods(s)
	t.known = d.knownFiles(s, t)
	if t.policy == "" {
		t.policy = policyOf(s.get("stricthostkeychecking"))
	}
	if p := s.get("revokedhostkeys"); p != "" && p != "none" {
		t.revoked = d.expand(p, t)
	}
	have := supported()
	for _, l := range []struct {
		key  string
		have []string
		into *[]string
	}{
		{"Ciphers", have.Ciphers, &t.ciphers},
		{"MACs", have.MACs, &t.macs},
		{"KexAlgorithms", have.KeyExchanges, &t.kexes},
		{"HostKeyAlgorithms", have.HostKeys, &t.hostKeyAlgs},
	} {
		spec := s.get(strings.ToLower(l.key))
		if *l.into = algorithms(spec, l.have); spec != "" && len(*l.into) == 0 {
			return nil, fmt.Errorf("%s %s leaves none of those that brine has: %s", l.key, spec, strings.Join(l.have, ","))
		}
	}
	return t, nil
}

// keysFrom sets what a host may be shown: keys, certificates, an ssh-agent.
func (d *Dialer) keysFrom(s *settings, t *dest) {
	for _, p := range s.all("identityfile") {
		if p != "none" {
			t.identities = append(t.identities, d.expand(p, t))
		}
	}
	for _, p := range s.all("certificatefile") {
		t.certificates = append(t.certificates, d.expand(p, t))
	}
	t.identitiesOnly = s.get("identitiesonly") == "yes"
	t.agent = d.o.AgentSocket
	switch a := s.get("identityagent"); a {
	case "none":
		t.agent = ""
	case "SSH_AUTH_SOCK", "":
	default:
		t.agent = d.expand(a, t)
	}
}

// authMethods returns the methods that may be tried, in their order.
func authMethods(s *settings) []string {
	var methods []string
	for _, m := range []struct {
		name string
		keys []string
	}{
		{"publickey", []string{"pubkeyauthentication"}},
		{"keyboard-interactive", []string{"kbdinteractiveauthentication", "challengeresponseauthentication"}},
		{"password", []string{"passwordauthentication"}},
	} {
		if !slices.ContainsFunc(m.keys, func(k string) bool { return s.get(k) == "no" }) {
			methods = append(methods, m.name)
		}
	}
	if p := s.get("preferredauthentications"); p != "" {
		return preferred(p, methods)
	}
	return methods
}

// preferred orders the methods that are allowed by a comma list.
func preferred(list string, allowed []string) (out []string) {
	for m := range strings.SplitSeq(list, ",") {
		for _, a := range allowed {
			if strings.TrimSpace(m) == a {
				out = append(out, a)
			}
		}
	}
	return out
}

func (d *Dialer) knownFiles(s *settings, t *dest) []string {
	if len(d.o.KnownHosts) > 0 {
		return d.o.KnownHosts
	}
	user, system := s.get("userknownhostsfile"), s.get("globalknownhostsfile")
	if user == "" {
		user = "~/.ssh/known_hosts ~/.ssh/known_hosts2"
	}
	if system == "" {
		system = "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"
	}
	var out []string
	for _, list := range []string{user, system} {
		words, err := proc.Split(list)
		if err != nil {
			words = strings.Fields(list)
		}
		for _, w := range words {
			if w != "none" {
				out = append(out, d.expand(w, t))
			}
		}
	}
	return out
}

// expand resolves ~ and the tokens of a path.
func (d *Dialer) expand(p string, t *dest) string {
	if strings.Contains(p, "%") {
		var pairs []string
		for _, k := range d.tokens(t) {
			pairs = append(pairs, k.mark, k.text)
		}
		p = strings.NewReplacer(append(pairs, "%%", "%", "%d", d.o.Home)...).Replace(p)
	}
	if p == "~" || strings.HasPrefix(p, "~/") {
		return filepath.Join(d.o.Home, p[1:])
	}
	return p
}

// A mark is a token of ssh_config and what stands for it.
type mark struct{ mark, what, text string }

// tokens are the marks that name a host and who connects to it. See TOKENS in
// ssh_config(5).
func (d *Dialer) tokens(t *dest) []mark {
	local, _ := d.o.Host.Hostname()
	short, _, _ := strings.Cut(local, ".")
	port := strconv.Itoa(t.port)
	sum := sha1.Sum([]byte(local + t.host + port + t.user + t.jumps))
	return []mark{
		{"%C", "hash", hex.EncodeToString(sum[:])},
		{"%h", "host", t.host},
		{"%i", "user id", strconv.Itoa(d.o.Host.Geteuid())},
		{"%j", "jump host", t.jumps},
		{"%k", "host key alias", cmp.Or(t.alias, t.name)},
		{"%L", "name of this machine", short},
		{"%l", "name of this machine", local},
		{"%n", "host", t.name},
		{"%p", "port", port},
		{"%r", "user", t.user},
		{"%u", "account", d.o.Me},
	}
}

// algorithms applies a list of ssh_config to those that brine has: "+a,b" adds,
// "-a*" removes, "^a" prefers, "a,b" are the only ones. nil is the default.
func algorithms(spec string, have []string) []string {
	if spec == "" {
		return nil
	}
	op := spec[0]
	if strings.IndexByte("+-^", op) >= 0 {
		spec = spec[1:]
	}
	pick := func(match bool, from []string) (out []string) {
		for _, a := range from {
			if matchesAny(spec, a) == match {
				out = append(out, a)
			}
		}
		return out
	}
	switch op {
	case '-':
		return pick(false, have)
	case '^':
		return append(pick(true, have), pick(false, have)...)
	case '+':
		return append(pick(false, have), pick(true, have)...)
	}
	var out []string
	for p := range strings.SplitSeq(spec, ",") {
		for _, a := range have {
			if matchesAny(p, a) {
				out = append(out, a)
			}
		}
	}
	return out
}

func matchesAny(patterns, name string) bool {
	for p := range strings.SplitSeq(patterns, ",") {
		if ok, _ := filepath.Match(strings.TrimSpace(p), name); ok {
			return true
		}
	}
	return false
}
