package sshexec

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"

	"brine/internal/py/proc"
)

// A Policy says which host keys are taken.
type Policy string

// Policies. "" is what ssh_config says, else Ask.
const (
	Strict    Policy = "strict"     // only those that known_hosts has
	Ask       Policy = "ask"        // also those that a person takes for the host's, which are added
	AcceptNew Policy = "accept-new" // also those of hosts that it does not have, which are added
	Off       Policy = "off"        // any: whoever answers is believed
)

// ParsePolicy reads a policy by name.
func ParsePolicy(s string) (Policy, error) {
	switch p := Policy(s); p {
	case "", Strict, Ask, AcceptNew, Off:
		return p, nil
	}
	return "", fmt.Errorf("unknown host key policy %q; there are strict, ask, accept-new, off", s)
}

// policyOf translates StrictHostKeyChecking.
func policyOf(v string) Policy {
	switch strings.ToLower(v) {
	case "no", "off", "false":
		return Off
	case "accept-new":
		return AcceptNew
	case "", "ask":
		return Ask
	}
	return Strict
}

// hostKeys are the known_hosts files of a run, each list of them read once.
type hostKeys struct {
	asking  sync.Mutex // held while a person is asked about a key
	mu      sync.Mutex
	dbs     map[string]*keyDB
	added   map[string]ssh.PublicKey // by accept-new in this run, by name
	revoked map[string]*revokedKeys  // files of RevokedHostKeys
}

func (h *hostKeys) open(files []string) *keyDB {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := strings.Join(files, "\x00")
	if db := h.dbs[id]; db != nil {
		return db
	}
	db := readKnown(files)
	if h.dbs == nil {
		h.dbs = map[string]*keyDB{}
	}
	h.dbs[id] = db
	return db
}

// place names the line of a known key.
func place(k xknownhosts.KnownKey) string { return fmt.Sprintf("%s:%d", k.Filename, k.Line) }

// hostKeyError is why a host's key is not taken, and what to do.
type hostKeyError struct {
	err  error
	hint string
}

func (e *hostKeyError) Error() string { return e.err.Error() }

// hostKeyOrder is the order in which algorithms are asked for, that of OpenSSH:
// certificates first, then ed25519.
var hostKeyOrder = []string{
	ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
	ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01,
	ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256,
}

// defaultHostKeys are the algorithms of host keys, none with SHA-1.
func defaultHostKeys() []string {
	have := ssh.SupportedAlgorithms().HostKeys
	out := slices.DeleteFunc(slices.Clone(hostKeyOrder), func(a string) bool { return !slices.Contains(have, a) })
	for _, a := range have {
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// verify returns the callback and the algorithms to ask a host for.
func (h *hostKeys) verify(t *dest) (ssh.HostKeyCallback, []string, error) {
	revokedKeys, err := h.barred(t.revoked)
	if err != nil {
		return nil, nil, err
	}
	barred := func(key ssh.PublicKey) error {
		if err := t.strong(key); err != nil {
			return &hostKeyError{err, "give the host a longer key or one of another kind, such as ed25519"}
		}
		return revokedKeys(key)
	}
	algs := t.hostKeyAlgs
	if algs == nil {
		algs = defaultHostKeys()
	}
	name := t.knownAs()
	db := h.open(t.known)
	if t.policy == Off {
		return h.unrevoked(t, db, name, barred), algs, nil
	}
	if db.err != nil {
		return nil, nil, db.err
	}
	keys, err := db.of(name)
	if err != nil {
		return nil, nil, err
	}
	if len(keys) > 0 && t.hostKeyAlgs == nil {
		own := keyAlgorithms(keys)
		if keys[0].any { // the lines have no port: this sshd may have other keys
			own = append(own, slices.DeleteFunc(algs, func(a string) bool { return slices.Contains(own, a) })...)
		}
		algs = own
	}
	return func(_ string, remote net.Addr, key ssh.PublicKey) error {
		if err := barred(key); err != nil || t.local(remote) {
			return err
		}
		err := t.judge(db, name, keys, key)
		var (
			ke *xknownhosts.KeyError
			re *xknownhosts.RevokedError
		)
		switch {
		case err == nil:
			return h.address(t, db, remote, key)
		case errors.As(err, &re):
			return revoked(re)
		case errors.As(err, &ke) && len(ke.Want) == 0:
			return h.unknown(t, name, key)
		case errors.As(err, &ke):
			return &hostKeyError{changed(ke, key), "someone may intercept the connection; if the host was reinstalled, remove that line: " + removeHint(ke.Want[0].Filename, name)}
		}
		return &hostKeyError{err, ""}
	}, algs, nil
}

// local reports whether the host is this machine, whose key is not checked where
// NoHostAuthenticationForLocalhost says so.
func (t *dest) local(remote net.Addr) bool {
	tcp, ok := remote.(*net.TCPAddr)
	return ok && t.trustLocal && tcp.IP.IsLoopback() && t.alias == "" && t.proxy == "" && len(t.jump) == 0
}

// address checks the key of a host whose name is known by its address, too, where
// CheckHostIP says so. As ssh: not where the name is the address, for addresses
// of this machine, and where somebody else makes the connection.
func (h *hostKeys) address(t *dest, db *keyDB, remote net.Addr, key ssh.PublicKey) error {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok || !t.checkIP || t.alias != "" || t.proxy != "" || len(t.jump) > 0 || tcp.IP.IsLoopback() || tcp.IP.String() == t.host {
		return nil
	}
	name := net.JoinHostPort(tcp.IP.String(), strconv.Itoa(t.port))
	keys, err := db.of(name)
	if err != nil {
		return err
	}
	ke, bad := errors.AsType[*xknownhosts.KeyError](db.check(name, keys, key))
	switch {
	case !bad:
		return nil
	case len(ke.Want) > 0:
		return &hostKeyError{
			fmt.Errorf("the key is the known one of %s, and not that of its address %s: %w", t.host, tcp.IP, changed(ke, key)),
			"someone may intercept the connection; if the address moved to this host, remove that line: " + removeHint(ke.Want[0].Filename, name),
		}
	case t.policy == AcceptNew:
		return h.unknown(t, name, key)
	}
	t.note("the address of the host is not in known_hosts", "address", tcp.IP)
	return nil
}

// judge checks a key against the lines of the files, and those that a
// KnownHostsCommand prints.
func (t *dest) judge(db *keyDB, name string, keys []hostLine, key ssh.PublicKey) error {
	err := db.check(name, keys, key)
	if err == nil {
		for _, k := range keys {
			if string(k.Key.Marshal()) == plainBlob(key) {
				t.note("host key accepted", "key", ssh.FingerprintSHA256(key), "type", key.Type(), "line", place(k.KnownKey))
				return nil
			}
		}
		t.note("host key accepted, signed by a known authority", "key", ssh.FingerprintSHA256(key), "type", key.Type())
		return nil
	}
	if _, bad := errors.AsType[*xknownhosts.RevokedError](err); bad || t.knownCommand == nil {
		t.note("host key not accepted by known_hosts", "key", ssh.FingerprintSHA256(key), "type", key.Type(), "why", err)
		return err
	}
	more, cerr := t.knownCommand(key)
	if cerr != nil {
		return fmt.Errorf("KnownHostsCommand: %w", cerr)
	}
	found, cerr := more.of(name)
	if cerr != nil {
		return cerr
	}
	for blob, k := range more.revoked {
		if blob == plainBlob(key) {
			return &xknownhosts.RevokedError{Revoked: k}
		}
	}
	err = db.check(name, append(slices.Clone(keys), found...), key)
	t.note("KnownHostsCommand", "lines", len(more.lines), "key", ssh.FingerprintSHA256(key), "accepted", err == nil)
	return err
}

// changed words that a key is not the known one.
func changed(ke *xknownhosts.KeyError, key ssh.PublicKey) error {
	var where []string
	for _, k := range ke.Want {
		where = append(where, place(k))
	}
	return fmt.Errorf("the host's key is not the known one (%s): %s %s", strings.Join(where, ", "), key.Type(), ssh.FingerprintSHA256(key))
}

// removeHint is the command that removes the lines of a host from a file.
func removeHint(file, addr string) string {
	name, err := knownName(addr)
	if err != nil {
		name = addr
	}
	return "ssh-keygen -f " + proc.Quote(file) + " -R " + quoteHost(name)
}

// unrevoked returns the callback that takes any key but a revoked one. One that
// is not the known one makes the host doubtful: see dest.doubt.
func (h *hostKeys) unrevoked(t *dest, db *keyDB, name string, barred func(ssh.PublicKey) error) ssh.HostKeyCallback {
	return func(_ string, _ net.Addr, key ssh.PublicKey) error {
		if err := barred(key); err != nil {
			return err
		}
		if db.err != nil {
			return nil
		}
		for _, k := range signedBy(key) {
			if r, ok := db.revoked[plainBlob(k)]; ok {
				return revoked(&xknownhosts.RevokedError{Revoked: r})
			}
		}
		keys, err := db.of(name)
		if err != nil {
			return nil // a name without lines
		}
		err = t.judge(db, name, keys, key)
		if ke, ok := errors.AsType[*xknownhosts.KeyError](err); ok && len(ke.Want) > 0 {
			var why error = &hostKeyError{changed(ke, key), "if the host was reinstalled, remove that line: " + removeHint(ke.Want[0].Filename, name)}
			t.doubt.Store(&why)
		} else if ok {
			h.addNew(t, name, key)
		}
		return nil
	}
}

// addNew adds the key of a host that is not in known_hosts, if keys are not
// checked: ssh does so too, so that a changed key is noticed later. Failing to
// add it is not the fault of the host.
func (h *hostKeys) addNew(t *dest, name string, key ssh.PublicKey) {
	if err := h.add(t, name, key); err != nil {
		t.note("host key not added", "key", ssh.FingerprintSHA256(key), "why", err)
	}
}

// barred returns a func that refuses the keys of a RevokedHostKeys file; "" is
// no file. Where the file cannot be read, no host can be trusted.
func (h *hostKeys) barred(file string) (func(ssh.PublicKey) error, error) {
	if file == "" {
		return func(ssh.PublicKey) error { return nil }, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.revoked[file]
	if r == nil {
		r = readRevoked(file)
		if h.revoked == nil {
			h.revoked = map[string]*revokedKeys{}
		}
		h.revoked[file] = r
	}
	if r.err != nil {
		return nil, r.err
	}
	return func(key ssh.PublicKey) error {
		for _, k := range signedBy(key) {
			if line, ok := r.lines[plainBlob(k)]; ok {
				return revoked(&xknownhosts.RevokedError{Revoked: xknownhosts.KnownKey{Key: key, Filename: file, Line: line}})
			}
		}
		return nil
	}, nil
}

// signedBy returns a key, and of a certificate its authority's too.
func signedBy(key ssh.PublicKey) []ssh.PublicKey {
	if cert, ok := key.(*ssh.Certificate); ok {
		return []ssh.PublicKey{key, cert.SignatureKey}
	}
	return []ssh.PublicKey{key}
}

// revokedKeys are the keys of a RevokedHostKeys file and their lines.
type revokedKeys struct {
	lines map[string]int
	err   error
}

// readRevoked reads a file with a public key a line.
func readRevoked(file string) *revokedKeys {
	r := &revokedKeys{lines: map[string]int{}}
	b, err := os.ReadFile(file)
	if err != nil {
		r.err = fmt.Errorf("RevokedHostKeys: %w", err)
		return r
	}
	if bytes.HasPrefix(b, []byte("SSHKRL\n\x00")) {
		r.err = fmt.Errorf("RevokedHostKeys: %s is a binary list (KRL); brine reads one with a public key a line", file)
		return r
	}
	n := 0
	for line := range bytes.Lines(b) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		key, _, _, _, err := ssh.ParseAuthorizedKey(line)
		if err != nil {
			r.err = fmt.Errorf("RevokedHostKeys: %s:%d: this is not a public key", file, n)
			return r
		}
		r.lines[plainBlob(key)] = n
	}
	return r
}

func revoked(e *xknownhosts.RevokedError) error {
	return &hostKeyError{fmt.Errorf("the host's key is revoked (%s)", place(e.Revoked)), "do not log in; ask who runs the host"}
}

// disagreed words that a host and brine have nothing in common; nil where err is
// another one. Of host keys, brine asks for those that known_hosts has.
func disagreed(t *dest, err error) *hostKeyError {
	var ne *ssh.AlgorithmNegotiationError
	switch {
	case !errors.As(err, &ne):
		return nil
	case ne.What != "host key" || len(t.hostKeyAlgs) > 0:
		return t.unlike(ne)
	case len(ne.SupportedAlgorithms) > 0 && strings.Contains(ne.SupportedAlgorithms[0], "-cert-"):
		err = fmt.Errorf("the host shows no certificate, only %s; known_hosts has an authority for it, and not its key", strings.Join(ne.RequestedAlgorithms, ", "))
	default:
		err = fmt.Errorf("the host has no key of the kind that known_hosts has for it, only %s", strings.Join(ne.RequestedAlgorithms, ", "))
	}
	return &hostKeyError{err, "compare its key, then add it: " + t.scanHint()}
}

// unlike words that brine and a host have no algorithm of a kind in common, and which
// setting on which side decides about it.
func (t *dest) unlike(ne *ssh.AlgorithmNegotiationError) *hostKeyError {
	setting, said, have := "", []string(nil), []string(nil)
	all, weak := ssh.SupportedAlgorithms(), ssh.InsecureAlgorithms()
	switch {
	case ne.What == "key exchange":
		setting, said, have = "KexAlgorithms", t.kexes, slices.Concat(all.KeyExchanges, weak.KeyExchanges)
	case ne.What == "host key":
		setting, said, have = "HostKeyAlgorithms", t.hostKeyAlgs, slices.Concat(all.HostKeys, weak.HostKeys)
	case strings.HasSuffix(ne.What, "cipher"):
		setting, said, have = "Ciphers", t.ciphers, slices.Concat(all.Ciphers, weak.Ciphers)
	case strings.HasSuffix(ne.What, "MAC"):
		setting, said, have = "MACs", t.macs, slices.Concat(all.MACs, weak.MACs)
	default:
		return &hostKeyError{ne, "see Compression in the host's sshd_config"}
	}
	// Some names only mark what a side can do beside.
	offered := slices.DeleteFunc(slices.Clone(ne.RequestedAlgorithms), func(a string) bool {
		return strings.HasPrefix(a, "ext-info-") || strings.HasPrefix(a, "kex-strict-")
	})
	err := fmt.Errorf("the host offers no %s that brine has or may use, only %s", ne.What, strings.Join(offered, ","))
	if both := slices.DeleteFunc(slices.Clone(offered), func(a string) bool { return !slices.Contains(have, a) }); len(both) > 0 {
		if len(said) > 0 {
			return &hostKeyError{err, fmt.Sprintf("%s in ssh_config leaves out %s", setting, strings.Join(both, ","))}
		}
		return &hostKeyError{err, fmt.Sprintf("these are weak and have to be asked for: %s +%s in ssh_config", setting, strings.Join(both, ","))}
	}
	if len(said) == 0 {
		said = slices.DeleteFunc(slices.Clone(ne.SupportedAlgorithms), func(a string) bool { return strings.HasPrefix(a, "ext-info-") || strings.HasPrefix(a, "kex-strict-") })
	}
	return &hostKeyError{err, fmt.Sprintf("add one of these to %s in the host's sshd_config: %s", setting, strings.Join(said, ","))}
}

// scanHint is the command that adds the keys of a host to the file where they are
// looked for, by the name that they are looked for.
func (t *dest) scanHint() string {
	scan := fmt.Sprintf("ssh-keyscan -p %d %s", t.port, t.host)
	if n := len(t.jump); n > 0 {
		scan = "ssh " + t.jump[n-1] + " " + scan
	} else if t.proxy != "" {
		scan += " (by its ProxyCommand)"
	}
	hint := scan
	if len(t.known) > 0 && t.known[0] != os.DevNull {
		hint += " >> " + proc.Quote(t.known[0])
	}
	if t.alias != "" {
		hint += ", with the name " + t.alias + " (HostKeyAlias) in place of the host's"
	}
	return hint
}

func quoteHost(s string) string {
	if strings.HasPrefix(s, "[") {
		return "'" + s + "'"
	}
	return s
}

// unknown decides on the key of a host that known_hosts does not have.
func (h *hostKeys) unknown(t *dest, name string, key ssh.PublicKey) error {
	if cert, ok := key.(*ssh.Certificate); ok {
		key = cert.Key
	}
	if done, err := h.taken(name, key); done {
		return err
	}
	if t.policy == Ask && t.confirm != nil {
		// Another connection to the host may be asking the same.
		h.asking.Lock()
		defer h.asking.Unlock()
		if done, err := h.taken(name, key); done {
			return err
		}
	}
	if ok, why := t.takes(key); !ok {
		return &hostKeyError{
			&unknownKeyError{key, why, t.known},
			"compare it, then add it: " + t.scanHint() + "; or --host-keys accept-new takes keys of new hosts",
		}
	}
	return h.add(t, name, key)
}

// An unknownKeyError is the key of a host that known_hosts does not have.
type unknownKeyError struct {
	key   ssh.PublicKey
	why   string // why it is not taken
	known []string
}

func (e *unknownKeyError) Error() string {
	return fmt.Sprintf("the host's key is not known: %s %s%s", e.key.Type(), ssh.FingerprintSHA256(e.key), e.why)
}

// Alike is for a fleet of new hosts, each of which has another key.
func (e *unknownKeyError) Alike() string {
	file := ""
	if len(e.known) > 0 && e.known[0] != os.DevNull {
		file = " to " + e.known[0]
	}
	return "the host's key is not known" + e.why + "; compare the keys (--group=never shows each), then add them" + file + ": ssh-keyscan HOST ...; or --host-keys accept-new takes keys of new hosts"
}

// add adds the key of a new host to the file of the person.
func (h *hostKeys) add(t *dest, name string, key ssh.PublicKey) error {
	if cert, ok := key.(*ssh.Certificate); ok {
		key = cert.Key
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if done, err := h.was(name, key); done {
		return err
	}
	if len(t.known) > 0 && t.known[0] != os.DevNull {
		if err := appendKnown(t.known[0], name, key, t.hashKnown); err != nil {
			return &hostKeyError{fmt.Errorf("note the new host's key: %w", err), "make the known_hosts file writable"}
		}
	}
	t.note("host key added", "key", ssh.FingerprintSHA256(key), "type", key.Type(), "file", t.known)
	if h.added == nil {
		h.added = map[string]ssh.PublicKey{}
	}
	h.added[name] = key
	return nil
}

// taken reports whether the key of a host was decided on in this run: an error
// where it was another one.
func (h *hostKeys) taken(name string, key ssh.PublicKey) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.was(name, key)
}

// was is taken where mu is held.
func (h *hostKeys) was(name string, key ssh.PublicKey) (bool, error) {
	switch old := h.added[name]; {
	case old == nil:
		return false, nil
	case string(old.Marshal()) == string(key.Marshal()):
		return true, nil
	}
	return true, &hostKeyError{errors.New("the host's key changed within this run"), "someone may intercept the connection"}
}

// takes reports whether a key that nobody knows is taken for that of the host.
// why is put behind the words that it is not known.
func (t *dest) takes(key ssh.PublicKey) (ok bool, why string) {
	if t.policy != Ask || t.confirm == nil {
		return t.policy == AcceptNew, ""
	}
	kind := strings.ToUpper(strings.TrimPrefix(key.Type(), "ssh-"))
	if rest, ok := strings.CutPrefix(key.Type(), "ecdsa-sha2-"); ok {
		kind = "ECDSA (" + rest + ")"
	}
	fingerprint := ssh.FingerprintSHA256(key)
	err := t.confirm(fmt.Sprintf("The authenticity of host '%s (%s)' can't be established.\n%s key fingerprint is %s.", t.name, t.addr(), kind, fingerprint), fingerprint)
	t.note("asked for the host key", "key", fingerprint, "accepted", err == nil)
	if err != nil {
		return false, ", and " + err.Error()
	}
	return true, ""
}

// appendKnown adds a line to a known_hosts file, unless another run has added
// it meanwhile. One that has added another key of the same host is an error.
func appendKnown(path, name string, key ssh.PublicKey, hashed bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	// Runs that begin at once take turns; the lock goes with the file.
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		f.Close()
		return err
	}
	// What another run has added since the file was read, hashed or not.
	db := newKeyDB()
	db.read(b, path)
	host, err := knownName(name)
	if err != nil {
		f.Close()
		return err
	}
	for _, k := range db.find(host) {
		switch {
		case k.cert:
		case string(k.Key.Marshal()) == string(key.Marshal()):
			return f.Close()
		case k.Key.Type() == key.Type():
			f.Close()
			return fmt.Errorf("another run has noted another key of this host (%s): someone may intercept the connection", place(k.KnownKey))
		}
	}
	if hashed {
		host = xknownhosts.HashHostname(host)
	}
	line := host + " " + key.Type() + " " + base64.StdEncoding.EncodeToString(key.Marshal()) + "\n"
	// A file that ends within a line would swallow ours.
	if st, err := f.Stat(); err == nil && st.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, st.Size()-1); err == nil && last[0] != '\n' {
			line = "\n" + line
		}
	}
	if _, err := f.WriteString(line); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
