package sshexec

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/skeema/knownhosts"
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
	mu    sync.Mutex
	dbs   map[string]*keyDB
	added map[string]ssh.PublicKey // by accept-new in this run, by name
}

type keyDB struct {
	db    *knownhosts.HostKeyDB
	err   error
	names map[string]string // path of a mended copy → path of the file itself
}

func (h *hostKeys) open(files []string) *keyDB {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := strings.Join(files, "\x00")
	if db := h.dbs[id]; db != nil {
		return db
	}
	db := &keyDB{names: map[string]string{}}
	var there []string
	for _, f := range files {
		if st, err := os.Stat(f); err == nil && st.Mode().IsRegular() {
			there = append(there, f)
		}
	}
	db.db, db.err = knownhosts.NewDB(there...)
	if db.err != nil {
		db.mend(there)
	}
	if h.dbs == nil {
		h.dbs = map[string]*keyDB{}
	}
	h.dbs[id] = db
	return db
}

// mend reads files again without the lines that make no sense, which ssh
// ignores too. Lines keep their numbers.
func (db *keyDB) mend(files []string) {
	dir, err := os.MkdirTemp("", "brine-known-hosts-")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	var mended []string
	for i, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		lines := strings.Split(string(text), "\n")
		for n, line := range lines {
			if _, _, _, _, _, err := ssh.ParseKnownHosts([]byte(line)); err != nil {
				lines[n] = ""
			}
		}
		p := filepath.Join(dir, fmt.Sprint(i))
		if os.WriteFile(p, []byte(strings.Join(lines, "\n")), 0o600) == nil {
			mended = append(mended, p)
			db.names[p] = f
		}
	}
	db.db, db.err = knownhosts.NewDB(mended...)
}

// place names the line of a known key.
func (db *keyDB) place(k xknownhosts.KnownKey) string {
	name := k.Filename
	if real := db.names[name]; real != "" {
		name = real
	}
	return fmt.Sprintf("%s:%d", name, k.Line)
}

// hostKeyError is why a host's key is not taken, and what to do.
type hostKeyError struct {
	err  error
	hint string
}

func (e *hostKeyError) Error() string { return e.err.Error() }

// verify returns the callback and the algorithms to ask a host for.
func (h *hostKeys) verify(t *dest) (ssh.HostKeyCallback, []string, error) {
	if t.policy == Off {
		return ssh.InsecureIgnoreHostKey(), t.hostKeyAlgs, nil //nolint:gosec // asked for, with a warning
	}
	db := h.open(t.known)
	if db.err != nil {
		return nil, nil, db.err
	}
	name := t.knownAs()
	algs := t.hostKeyAlgs
	if known := db.db.HostKeyAlgorithms(name); len(known) > 0 && algs == nil {
		algs = known
	}
	check := db.db.HostKeyCallback()
	return func(_ string, remote net.Addr, key ssh.PublicKey) error {
		// A connection through a bastion or a command has no address that says
		// anything.
		if _, ok := remote.(*net.TCPAddr); !ok || t.alias != "" {
			remote = &net.TCPAddr{IP: net.IPv4zero}
		}
		err := check(name, remote, key)
		var (
			ke *xknownhosts.KeyError
			re *xknownhosts.RevokedError
		)
		switch {
		case err == nil:
			return nil
		case errors.As(err, &re):
			return &hostKeyError{fmt.Errorf("the host's key is revoked (%s)", db.place(re.Revoked)), "do not log in; ask who runs the host"}
		case errors.As(err, &ke) && len(ke.Want) == 0:
			return h.unknown(t, name, key)
		case errors.As(err, &ke):
			var where []string
			for _, k := range ke.Want {
				where = append(where, db.place(k))
			}
			return &hostKeyError{
				fmt.Errorf("the host's key is not the known one (%s): %s %s", strings.Join(where, ", "), key.Type(), ssh.FingerprintSHA256(key)),
				"someone may stand between; if the host was set up anew, remove that line: ssh-keygen -R " + quoteHost(xknownhosts.Normalize(name)),
			}
		}
		return &hostKeyError{err, ""}
	}, algs, nil
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

// appendKnown adds a line to a known_hosts file.
func appendKnown(path, name string, key ssh.PublicKey) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	line := xknownhosts.Line([]string{name}, key) + "\n"
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
