package sshexec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// A Policy says which host keys are taken.
type Policy string

// Policies. "" is what ssh_config says, else Strict.
const (
	Strict    Policy = "strict"     // only those that known_hosts has
	AcceptNew Policy = "accept-new" // also those of hosts that it does not have, which are added
	Off       Policy = "off"        // any: whoever answers is believed
)

// ParsePolicy reads a policy by name.
func ParsePolicy(s string) (Policy, error) {
	switch p := Policy(s); p {
	case "", Strict, AcceptNew, Off:
		return p, nil
	}
	return "", fmt.Errorf("unknown host key policy %q; there are strict, accept-new, off", s)
}

// policyOf translates StrictHostKeyChecking. "ask" is strict: nothing asks
// while many connections are under way.
func policyOf(v string) Policy {
	switch strings.ToLower(v) {
	case "no", "off", "false":
		return Off
	case "accept-new":
		return AcceptNew
	}
	return Strict
}

// hostKeys are the known_hosts files of a run, each list of them read once.
type hostKeys struct {
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

// verify returns the callback and the algorithms to ask a host for.
func (h *hostKeys) verify(t *dest) (ssh.HostKeyCallback, []string, error) {
	barred, err := h.barred(t.revoked)
	if err != nil {
		return nil, nil, err
	}
	algs := t.hostKeyAlgs
	if algs == nil {
		algs = ssh.SupportedAlgorithms().HostKeys // none with SHA-1
	}
	if t.policy == Off {
		return h.unrevoked(t, barred), algs, nil
	}
	db := h.open(t.known)
	if db.err != nil {
		return nil, nil, db.err
	}
	name := t.knownAs()
	keys, err := db.of(name)
	if err != nil {
		return nil, nil, err
	}
	if len(keys) > 0 && t.hostKeyAlgs == nil {
		algs = keyAlgorithms(keys)
	}
	return func(_ string, _ net.Addr, key ssh.PublicKey) error {
		if err := barred(key); err != nil {
			return err
		}
		err := db.check(name, keys, key)
		var (
			ke *xknownhosts.KeyError
			re *xknownhosts.RevokedError
		)
		switch {
		case err == nil:
			return nil
		case errors.As(err, &re):
			return revoked(re)
		case errors.As(err, &ke) && len(ke.Want) == 0:
			return h.unknown(t, name, key)
		case errors.As(err, &ke):
			var where []string
			for _, k := range ke.Want {
				where = append(where, place(k))
			}
			return &hostKeyError{
				fmt.Errorf("the host's key is not the known one (%s): %s %s", strings.Join(where, ", "), key.Type(), ssh.FingerprintSHA256(key)),
				"someone may stand between; if the host was set up anew, remove that line: ssh-keygen -R " + quoteHost(xknownhosts.Normalize(name)),
			}
		}
		return &hostKeyError{err, ""}
	}, algs, nil
}

// unrevoked returns the callback that takes any key but a revoked one.
func (h *hostKeys) unrevoked(t *dest, barred func(ssh.PublicKey) error) ssh.HostKeyCallback {
	db := h.open(t.known)
	return func(_ string, _ net.Addr, key ssh.PublicKey) error {
		for _, k := range signedBy(key) {
			if r, ok := db.revoked[plainBlob(k)]; ok && db.err == nil {
				return revoked(&xknownhosts.RevokedError{Revoked: r})
			}
		}
		return barred(key)
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
			r.err = fmt.Errorf("RevokedHostKeys: %s:%d: this is no public key", file, n)
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
		return &hostKeyError{err, "see Ciphers, MACs, KexAlgorithms and HostKeyAlgorithms in ssh_config"}
	case len(ne.SupportedAlgorithms) > 0 && strings.Contains(ne.SupportedAlgorithms[0], "-cert-"):
		err = fmt.Errorf("the host shows no certificate, only %s; known_hosts has an authority for it, and not its key", strings.Join(ne.RequestedAlgorithms, ", "))
	default:
		err = fmt.Errorf("the host has no key of the kind that known_hosts has for it, only %s", strings.Join(ne.RequestedAlgorithms, ", "))
	}
	return &hostKeyError{err, fmt.Sprintf("compare its key, then add it: ssh-keyscan -p %d %s >> ~/.ssh/known_hosts", t.port, t.host)}
}

func quoteHost(s string) string {
	if strings.HasPrefix(s, "[") {
		return "'" + s + "'"
	}
	return s
}

// unknown decides on the key of a host that known_hosts does not have.
func (h *hostKeys) unknown(t *dest, name string, key ssh.PublicKey) error {
	if t.policy != AcceptNew {
		return &hostKeyError{
			fmt.Errorf("the host's key is not known: %s %s", key.Type(), ssh.FingerprintSHA256(key)),
			fmt.Sprintf("compare it, then add it: ssh-keyscan -p %d %s >> ~/.ssh/known_hosts; or --host-keys accept-new takes keys of new hosts", t.port, t.host),
		}
	}
	if cert, ok := key.(*ssh.Certificate); ok {
		key = cert.Key
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.added[name]; old != nil {
		if string(old.Marshal()) == string(key.Marshal()) {
			return nil
		}
		return &hostKeyError{errors.New("the host's key changed within this run"), "someone may stand between"}
	}
	if len(t.known) > 0 && t.known[0] != os.DevNull {
		if err := appendKnown(t.known[0], name, key); err != nil {
			return &hostKeyError{fmt.Errorf("note the new host's key: %w", err), "make the known_hosts file writable"}
		}
	}
	if h.added == nil {
		h.added = map[string]ssh.PublicKey{}
	}
	h.added[name] = key
	return nil
}

// appendKnown adds a line to a known_hosts file, unless another run has added
// it meanwhile. One that has added another key of the same host is an error.
func appendKnown(path, name string, key ssh.PublicKey) error {
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
	line := xknownhosts.Line([]string{name}, key) + "\n"
	b, err := io.ReadAll(f)
	if err != nil {
		f.Close()
		return err
	}
	for l := range strings.Lines(string(b)) {
		if strings.TrimSpace(l) == strings.TrimSpace(line) {
			return f.Close()
		}
		if rest, ok := strings.CutPrefix(l, xknownhosts.Normalize(name)+" "+key.Type()+" "); ok && strings.TrimSpace(rest) != "" {
			f.Close()
			return errors.New("another run has noted another key of this host: someone may intercept the connection")
		}
	}
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
