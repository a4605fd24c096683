package sshexec

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"brine/internal/core/host"
	"brine/internal/core/roster"
	"brine/internal/core/sshconf"
	"brine/internal/py/source"
)

// newConfig returns the reader of ssh_config for files; nil are the person's and
// the system's.
func newConfig(o *Options) *sshconf.Reader {
	var files []sshconf.File
	for _, p := range o.Config {
		files = append(files, sshconf.File{Path: p, System: strings.HasPrefix(p, "/etc/ssh/")})
	}
	if o.Config == nil {
		files = []sshconf.File{{Path: filepath.Join(o.Home, ".ssh", "config"), Check: true}, {Path: "/etc/ssh/ssh_config", System: true}}
	}
	m := sshconf.Machine{
		ReadFile: o.Host.ReadFile, ReadDir: o.Host.ReadDir, Unsafe: func(path string) string { return unsafeFile(o.Host, path) },
		Getenv: o.Getenv, Home: o.Home, User: o.Me, UID: o.Host.Geteuid(),
		HomeOf: func(user string) (string, bool) {
			a, err := o.Host.LookupUser(user)
			return a.Home, err == nil
		},
		Exec: func(ctx context.Context, command string) (bool, error) {
			out, err := o.Host.Run(ctx, host.Cmd{Argv: []string{cmp.Or(o.env("SHELL"), "/bin/sh"), "-c", command}, Env: o.Env, Dir: o.Dir, Timeout: time.Minute})
			if err == nil && out.TimedOut {
				err = errors.New("no answer within a minute")
			}
			return out.Status == 0, err
		},
		Resolve: func(ctx context.Context, name string) (string, bool) {
			if addrs, err := net.DefaultResolver.LookupHost(ctx, name); err != nil || len(addrs) == 0 {
				return "", false
			}
			cname, _ := net.DefaultResolver.LookupCNAME(ctx, name)
			return cname, true
		},
	}
	m.Name, _ = o.Host.Hostname()
	if ssh, err := o.Host.LookPath("ssh", ""); err == nil {
		m.Config = func(text string) (string, func(), error) { return configFile(o.Host, text) }
		m.SSH = func(ctx context.Context, args ...string) ([]byte, error) {
			out, err := o.Host.Run(ctx, host.Cmd{Argv: append([]string{ssh, "-G"}, args...), Env: o.Env, Dir: o.Dir, Timeout: time.Minute})
			if err == nil && out.Status != 0 {
				err = fmt.Errorf("ssh -G: %s", strings.TrimSpace(string(out.Stderr)))
			}
			return out.Stdout, err
		}
	}
	return sshconf.New(m, files...)
}

// configFile makes a configuration for ssh -G to read.
func configFile(h host.Host, text string) (path string, remove func(), err error) {
	dir, err := h.MkdirTemp("", "brine-ssh")
	if err != nil {
		return "", nil, err
	}
	path, mode := filepath.Join(dir, "config"), fs.FileMode(0o600)
	if err := h.WriteFile(path, strings.NewReader(text), host.WriteOptions{Mode: &mode}); err != nil {
		_ = h.RemoveAll(dir)
		return "", nil, err
	}
	return path, func() { _ = h.RemoveAll(dir) }, nil
}

// unsafeFile says why a configuration cannot be relied on: others than its owner
// can write it. A group that only its owner is in is allowed, as Debian's ssh does.
func unsafeFile(h host.Host, path string) string {
	st, err := h.Stat(path)
	switch {
	case err != nil:
		return err.Error()
	case st.UID != 0 && st.UID != h.Geteuid():
		return fmt.Sprintf("it belongs to user ID %d", st.UID)
	case st.Perm()&0o002 != 0:
		return fmt.Sprintf("every user can write to it (mode %04o)", st.Perm())
	case st.Perm()&0o020 != 0 && !ownGroup(h, st):
		return fmt.Sprintf("its group can write to it (mode %04o)", st.Perm())
	}
	return ""
}

// ownGroup reports whether nobody but its owner is in the group of a file.
func ownGroup(h host.Host, st host.Stat) bool {
	owner, err := h.LookupUID(st.UID)
	if err != nil {
		return false
	}
	g, err := h.LookupGID(st.GID)
	if err != nil || slices.ContainsFunc(g.Members, func(m string) bool { return m != owner.Name }) {
		return false
	}
	users, err := h.Users()
	return err == nil && !slices.ContainsFunc(users, func(a host.Account) bool { return a.GID == st.GID && a.Name != owner.Name })
}

// env returns a variable of the person's environment.
func (o *Options) env(key string) string {
	v, _ := o.Getenv(key)
	return v
}

// environ looks a variable up in an environment, KEY=value.
func environ(list []string) func(key string) (string, bool) {
	return func(key string) (string, bool) {
		for _, kv := range list {
			if k, v, _ := strings.Cut(kv, "="); k == key {
				return v, true
			}
		}
		return "", false
	}
}

// settings are the values that hold for one host.
type settings struct{ *sshconf.Result }

func (s settings) get(key string) string   { return s.Get(key) }
func (s settings) all(key string) []string { return s.All(key) }

// none reports whether a key is unset, or set to none.
func (s settings) none(key string) bool {
	v := s.Get(key)
	return v == "" || strings.EqualFold(v, "none")
}

// seconds returns a key that is a number of seconds; def where it is not.
func (s settings) seconds(key string, def time.Duration) time.Duration {
	if n, err := strconv.Atoi(s.get(key)); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	return def
}

// lookup returns the settings of a host. options are those of the roster, which
// come first, as ssh's -o does.
func (d *Dialer) lookup(ctx context.Context, q sshconf.Query) (settings, error) {
	if in, ok := strings.CutPrefix(q.Host, "["); ok { // an address as in a URL
		q.Host = strings.TrimSuffix(in, "]")
	}
	res, err := d.config.Lookup(ctx, q)
	return settings{res}, err
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
	module         string // PKCS11Provider; "" is none
	agent          string // socket; "" is none
	forward        string // socket of the agent that the host may use; "" is none
	noKeys         bool   // IdentityFile none: not even the default ones
	methods        []string
	offered        int      // keys that the host is offered
	offeredFrom    []string // where they come from

	known     []string // known_hosts files, the user's first
	revoked   string   // file of keys that no host may have
	hashKnown bool     // names in lines that are added
	checkIP   bool     // the key of the address, too
	// trustLocal says that the key of this machine itself is not checked.
	trustLocal bool
	carry      *carry // how a relay dials it; nil: it is dialled from here
	master     string // socket of a master to try; "" is none
	// persist is how long the connection may stay when it is not in use: 0 is as long as
	// the run alone, forever is without an end.
	persist time.Duration
	// knownBy is the KnownHostsCommand; "" is none.
	knownBy string
	tty     bool // commands get a terminal
	// knownCommand returns the lines that a KnownHostsCommand prints of a key; nil:
	// there is none.
	knownCommand func(key ssh.PublicKey) (*keyDB, error)
	// confirm asks a person whether a key that nobody knows is that of the host; nil:
	// nobody can be asked.
	confirm     func(what, fingerprint string) error
	doubt       *atomic.Pointer[error] // why the host is logged in to without secrets
	tries       int                    // of a password that a person types
	batch       bool                   // nobody is asked
	log         *slog.Logger
	policy      Policy
	ciphers     []string
	macs, kexes []string
	hostKeyAlgs []string
	keyAlgs     []string // to log in with; nil: any
	rsaSize     int      // RequiredRSASize; see strong
	alive       time.Duration
	aliveCount  int
}

func (d *dest) addr() string { return net.JoinHostPort(d.host, strconv.Itoa(d.port)) }

// via is the id of the relay on the way; "" is none.
func (d *dest) via() string {
	if d.carry == nil {
		return ""
	}
	return d.carry.by
}

// knownAs is the name of the host in known_hosts, with its port.
func (d *dest) knownAs() string {
	if d.alias != "" {
		return net.JoinHostPort(d.alias, "22")
	}
	return d.addr()
}

// note logs a step on the way to a host.
func (t *dest) note(what string, attrs ...any) {
	if t.log != nil {
		t.log.Debug(what, attrs...)
	}
}

// noteSettings notes what ssh_config says of a host, once.
func (d *Dialer) noteSettings(s settings, t *dest) {
	if _, told := d.warnings.LoadOrStore("settings of "+t.id+" "+t.name, true); told {
		return
	}
	for _, key := range s.Keys() {
		if at := s.From(key); !at.IsZero() {
			value := strings.Join(s.all(key), " ")
			if strings.HasSuffix(key, "command") {
				value = firstWord(value)
			}
			t.note("setting", "keyword", key, "value", value, "from", at)
		}
	}
}

// dest joins the roster, ssh_config and the defaults for an entry.
func (d *Dialer) dest(ctx context.Context, e *roster.Entry) (*dest, error) {
	s, err := d.lookup(ctx, sshconf.Query{Host: e.Host, User: e.User, Port: e.Port, Options: e.SSHOptions})
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
	t.passwd, t.privPasswd, t.tty = e.Passwd, e.PrivPasswd, e.TTY
	if !t.passwd.IsSet() {
		t.passwd = d.o.Password
	}
	switch {
	case e.Priv == "agent-forwarding":
		t.forward = t.agent
	case e.Priv != "":
		if t.priv, err = d.expand(e.Priv, t); err != nil {
			return nil, err
		}
	}
	// That of ssh_config is left to ssh: a roster is where a machine is named to
	// which the agent's keys are lent.
	if s.SetByOption("forwardagent") {
		if t.forward, err = d.forwardAgent(s.get("forwardagent"), t); err != nil {
			return nil, err
		}
	}
	t.identitiesOnly = t.identitiesOnly || e.IdentitiesOnly
	return t, nil
}

// forwardAgent returns the socket that a ForwardAgent means; "" is none.
func (d *Dialer) forwardAgent(v string, t *dest) (string, error) {
	switch v {
	case "yes":
		return t.agent, nil
	case "no":
		return "", nil
	}
	return d.agentSocket(v, t)
}

// jumpTokens are the tokens of a ProxyJump: those of a ProxyCommand.
const jumpTokens = "hnpr"

// jumpTo fills in the tokens of a jump host of a ProxyJump, which are about t.
func (d *Dialer) jumpTo(spec string, t *dest) (string, error) {
	return d.config.Fill(spec, t.target(), func(token byte, text string) error {
		switch {
		case !strings.ContainsRune(jumpTokens, rune(token)):
			return fmt.Errorf("ProxyJump %s: unknown token %%%c", spec, token)
		case !sshconf.Harmless(text):
			return fmt.Errorf("%q cannot stand in a ProxyJump (%%%c)", text, token)
		}
		return nil
	})
}

// hop is the dest of a jump host, "[user@]host[:port]".
func (d *Dialer) hop(ctx context.Context, spec string) (*dest, error) {
	j, err := sshconf.ParseJump(spec)
	if err != nil {
		return nil, err
	}
	s, err := d.lookup(ctx, sshconf.Query{Host: j.Host, User: j.User, Port: j.Port})
	if err != nil {
		return nil, err
	}
	if j.User == "" && s.get("user") == "" {
		// A jump host is the person's own affair, as it is for ssh.
		j.User = d.o.Me
	}
	return d.fromSettings(dest{id: "jump host " + j.Host, name: j.Host, port: j.Port, user: j.User}, s)
}

// aliveInterval and aliveCount are ServerAliveInterval and ServerAliveCountMax where
// nothing else is asked for.
const (
	aliveInterval = 15 * time.Second
	aliveCount    = 3
)

// defaultTimeout is how long a target has to answer, through to the log-in.
const defaultTimeout = 60 * time.Second

// fromSettings completes a dest of what ssh_config says. It has id and name, and
// port and user where something more than ssh_config says them.
//
// An algorithm list that leaves nothing is an error: to go on with those that
// were not wanted would be none of brine's business.
func (d *Dialer) fromSettings(said dest, s settings) (*dest, error) {
	t := &said
	t.doubt, t.log = new(atomic.Pointer[error]), d.o.Log.With("host", t.id)
	t.host, t.timeout, t.family, t.policy, t.alive, t.aliveCount = s.Host, defaultTimeout, "tcp", d.o.Policy, aliveInterval, aliveCount
	if t.port == 0 {
		t.port = 22
		if p, err := strconv.Atoi(s.get("port")); err == nil && p > 0 && p < 65536 {
			t.port = p
		}
	}
	if t.user == "" {
		t.user = cmp.Or(s.get("user"), "root")
	}
	t.alias = strings.ToLower(s.get("hostkeyalias"))
	t.timeout = s.seconds("connecttimeout", t.timeout)
	t.alive = cmp.Or(d.o.KeepAlive, s.seconds("serveraliveinterval", t.alive))
	if d.o.NoKeepAlive {
		t.alive = 0
	}
	if n, err := strconv.Atoi(s.get("serveralivecountmax")); err == nil && n > 0 {
		t.aliveCount = n
	}
	t.aliveCount = cmp.Or(d.o.KeepAliveCount, t.aliveCount)
	switch s.get("addressfamily") {
	case "inet":
		t.family = "tcp4"
	case "inet6":
		t.family = "tcp6"
	}
	t.bind = s.get("bindaddress")
	t.jumps = s.get("proxyjump")
	if !s.none("proxyjump") {
		for h := range strings.SplitSeq(t.jumps, ",") {
			hop, err := d.jumpTo(strings.TrimSpace(h), t)
			if err != nil {
				return nil, &source.Error{Pos: s.From("proxyjump"), Err: err}
			}
			t.jump = append(t.jump, hop)
		}
	} else if !s.none("proxycommand") {
		t.proxy = s.get("proxycommand")
		if s.get("proxyusefdpass") == "yes" {
			return nil, &source.Error{Pos: s.From("proxyusefdpass"), Err: errors.New("ProxyUseFdpass is not supported; use a ProxyCommand that copies the data, or ProxyJump")}
		}
	}
	if err := d.keysFrom(s, t); err != nil {
		return nil, err
	}
	t.methods, t.tries, t.batch = authMethods(s), 3, s.get("batchmode") == "yes"
	if n, err := strconv.Atoi(s.get("numberofpasswordprompts")); err == nil {
		t.tries = n
		t.batch = t.batch || n == 0
	}
	if n, err := strconv.Atoi(s.get("requiredrsasize")); err == nil {
		t.rsaSize = n
	}
	t.hashKnown = s.get("hashknownhosts") == "yes"
	t.trustLocal = s.get("nohostauthenticationforlocalhost") == "yes"
	t.checkIP = s.get("checkhostip") == "yes"
	if !s.none("knownhostscommand") {
		t.knownBy = s.get("knownhostscommand")
		t.knownCommand = func(key ssh.PublicKey) (*keyDB, error) { return d.knownByCommand(s.get("knownhostscommand"), t, key) }
	}
	d.noteSettings(s, t)
	t.persist = d.persistOf(s)
	err := d.control(s, t)
	if err != nil {
		return nil, err
	}
	if t.known, err = d.knownFiles(s, t); err != nil {
		return nil, err
	}
	if t.policy == "" {
		t.policy = policyOf(s.get("stricthostkeychecking"))
	}
	if !s.none("revokedhostkeys") {
		if t.revoked, err = d.expand(s.get("revokedhostkeys"), t); err != nil {
			return nil, err
		}
	}
	return t, t.algorithms(s)
}

// algorithms sets the algorithms that may be used with a host.
func (t *dest) algorithms(s settings) error {
	def, weak := ssh.SupportedAlgorithms(), ssh.InsecureAlgorithms()
	for _, l := range []struct {
		key       string
		def, weak []string
		into      *[]string
	}{
		{"Ciphers", def.Ciphers, weak.Ciphers, &t.ciphers},
		{"MACs", def.MACs, weak.MACs, &t.macs},
		{"KexAlgorithms", def.KeyExchanges, weak.KeyExchanges, &t.kexes},
		{"HostKeyAlgorithms", def.HostKeys, weak.HostKeys, &t.hostKeyAlgs},
		{"PubkeyAcceptedAlgorithms", slices.Concat(def.PublicKeyAuths, certAlgorithms), weak.PublicKeyAuths, &t.keyAlgs},
	} {
		spec := s.get(strings.ToLower(l.key))
		if spec == "" {
			continue
		}
		have := slices.Concat(l.def, l.weak)
		if *l.into = sshconf.Algorithms(spec, l.def, have); len(*l.into) == 0 {
			err := fmt.Errorf("%s %s leaves none of those that brine has: %s", l.key, spec, strings.Join(have, ","))
			if at := s.From(strings.ToLower(l.key)); !at.IsZero() {
				return &source.Error{Pos: at, Err: err}
			}
			return err
		}
	}
	return nil
}

// certAlgorithms are those of certificates, which the library does not list
// among the ways to log in.
var certAlgorithms = []string{
	ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
	ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01, ssh.CertAlgoSKED25519v01, ssh.CertAlgoSKECDSA256v01,
}

// keysFrom sets what a host may be shown: keys, certificates, an ssh-agent.
func (d *Dialer) keysFrom(s settings, t *dest) error {
	for _, l := range []struct {
		key  string
		into *[]string
	}{{"identityfile", &t.identities}, {"certificatefile", &t.certificates}} {
		for _, p := range s.all(l.key) {
			if strings.EqualFold(p, "none") {
				t.noKeys = t.noKeys || l.key == "identityfile"
				continue
			}
			full, err := d.expand(p, t)
			if err != nil {
				return &source.Error{Pos: s.From(l.key), Err: err}
			}
			*l.into = append(*l.into, full)
		}
	}
	if !s.none("pkcs11provider") {
		t.module = s.get("pkcs11provider")
	}
	t.identitiesOnly = s.get("identitiesonly") == "yes"
	t.agent = d.o.AgentSocket
	v := s.get("identityagent")
	if v == "" {
		return nil
	}
	if s.Expanded("identityagent") && !strings.HasPrefix(v, "$") && v != "none" && v != "SSH_AUTH_SOCK" {
		t.agent = v
		return nil
	}
	var err error
	if t.agent, err = d.agentSocket(v, t); err != nil {
		return &source.Error{Pos: s.From("identityagent"), Err: err}
	}
	return nil
}

// agentSocket returns the socket that an IdentityAgent names, "" for none. An
// unset variable means no agent, as it does for ssh.
func (d *Dialer) agentSocket(v string, t *dest) (string, error) {
	switch {
	case v == "none":
		return "", nil
	case v == "SSH_AUTH_SOCK":
		return d.o.AgentSocket, nil
	case strings.HasPrefix(v, "$") && !strings.HasPrefix(v, "${"):
		return d.o.env(v[1:]), nil
	}
	return d.expand(v, t)
}

// authMethods returns the methods that may be tried, in their order.
func authMethods(s settings) []string {
	var methods []string
	for _, m := range []struct {
		name string
		keys []string
	}{
		{"publickey", []string{"pubkeyauthentication"}},
		{"keyboard-interactive", []string{"kbdinteractiveauthentication"}},
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

// knownFiles returns the known_hosts files of a host, the person's first.
func (d *Dialer) knownFiles(s settings, t *dest) ([]string, error) {
	if len(d.o.KnownHosts) > 0 {
		return d.o.KnownHosts, nil
	}
	var out []string
	for _, l := range []struct {
		key string
		def []string
	}{
		{"userknownhostsfile", []string{"~/.ssh/known_hosts", "~/.ssh/known_hosts2"}},
		{"globalknownhostsfile", []string{"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"}},
	} {
		files := s.all(l.key)
		if len(files) == 0 {
			files = l.def
		}
		for _, p := range files {
			if strings.EqualFold(p, "none") {
				continue
			}
			// Of the system's, ssh takes the names as they are.
			if !s.Expanded(l.key) && l.key == "userknownhostsfile" {
				var err error
				if p, err = d.expand(p, t); err != nil {
					return nil, &source.Error{Pos: s.From(l.key), Err: err}
				}
			}
			out = append(out, p)
		}
	}
	return out, nil
}

// knownByCommand runs a KnownHostsCommand, without a shell, as ssh does.
func (d *Dialer) knownByCommand(command string, t *dest, key ssh.PublicKey) (*keyDB, error) {
	name, err := knownName(t.knownAs())
	if err != nil {
		return nil, err
	}
	argv, err := d.config.Words(command, t.target(), map[byte]string{
		'H': name, 'I': "HOSTNAME", 't': key.Type(), 'f': ssh.FingerprintSHA256(key), 'K': base64.StdEncoding.EncodeToString(key.Marshal()),
	})
	if err != nil {
		return nil, err
	}
	if len(argv) == 0 || !filepath.IsAbs(argv[0]) {
		return nil, fmt.Errorf("%q does not begin with the absolute path of a program", command)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := d.o.Host.Run(ctx, host.Cmd{Argv: argv, Env: d.o.Env, Dir: d.o.Dir})
	if err == nil && out.Status != 0 {
		err = fmt.Errorf("%s: status %d: %s", argv[0], out.Status, strings.TrimSpace(string(out.Stderr)))
	}
	if err != nil {
		return nil, err
	}
	db := newKeyDB()
	db.read(out.Stdout, "KnownHostsCommand")
	return db, nil
}

// target is what the tokens of ssh_config stand for.
func (t *dest) target() sshconf.Target {
	return sshconf.Target{Name: t.name, Host: t.host, Port: strconv.Itoa(t.port), User: t.user, Alias: cmp.Or(t.alias, t.name), Jump: t.jumps}
}

// expand resolves ~, the tokens and the variables of a path.
func (d *Dialer) expand(p string, t *dest) (string, error) { return d.config.Expand(p, t.target()) }
