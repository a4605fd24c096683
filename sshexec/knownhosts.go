package sshexec

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"

	"brine/internal/core/sshconf"
)

// A keyDB is known_hosts files, read once and indexed by name, so that in a
// fleet whose hosts all have lines of their own each host costs a lookup
// instead of a scan. Invalid lines are ignored, as by ssh.
//
// golang.org/x/crypto/ssh/knownhosts compares each host with each line, which
// takes a quarter of a run over ten thousand hosts.
type keyDB struct {
	err     error
	lines   []knownLine
	exact   map[string][]int32 // lines that have plain names only
	general []int32            // lines with wildcards or exceptions
	hashed  []int32            // lines whose name is hashed: each has its own salt
	revoked map[string]xknownhosts.KnownKey
}

// A knownLine is a line of a known_hosts file.
type knownLine struct {
	cert     bool // @cert-authority
	patterns []knownPattern
	salt     []byte // of a hashed name, with hash
	hash     []byte
	typ      string
	blob     []byte
	file     string
	line     int
}

type knownPattern struct {
	text string // host or [host]:port, in lower case
	not  bool
}

// readKnown reads those of the files that exist.
func readKnown(files []string) *keyDB {
	db := newKeyDB()
	for _, f := range files {
		if st, err := os.Stat(f); err != nil || !st.Mode().IsRegular() {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			db.err = err
			return db
		}
		db.read(b, f)
	}
	return db
}

func newKeyDB() *keyDB {
	return &keyDB{exact: map[string][]int32{}, revoked: map[string]xknownhosts.KnownKey{}}
}

// read adds the lines of a file.
func (db *keyDB) read(b []byte, file string) {
	n := 0
	for line := range bytes.Lines(b) {
		n++
		db.add(string(bytes.TrimSpace(line)), file, n)
	}
}

// add takes a line: [marker] names type key [comment].
func (db *keyDB) add(text, file string, n int) {
	if text == "" || text[0] == '#' {
		return
	}
	f := strings.Fields(text)
	marker := ""
	if f[0][0] == '@' {
		marker, f = f[0], f[1:]
	}
	if len(f) < 3 || marker != "" && marker != "@cert-authority" && marker != "@revoked" {
		return
	}
	blob, err := base64.StdEncoding.DecodeString(f[2])
	if err != nil || !bytes.HasPrefix(blob, append([]byte{0, 0, 0, byte(len(f[1]))}, f[1]...)) {
		return
	}
	l := knownLine{cert: marker == "@cert-authority", typ: f[1], blob: blob, file: file, line: n}
	if marker == "@revoked" {
		if k, ok := l.known(); ok {
			db.revoked[plainBlob(k.Key)] = k
		}
		return
	}
	i := int32(len(db.lines))
	if f[0][0] == '|' {
		parts := strings.Split(f[0], "|")
		if len(parts) != 4 || parts[1] != "1" {
			return
		}
		var err1, err2 error
		l.salt, err1 = base64.StdEncoding.DecodeString(parts[2])
		l.hash, err2 = base64.StdEncoding.DecodeString(parts[3])
		if err1 != nil || err2 != nil {
			return
		}
		db.hashed = append(db.hashed, i)
		db.lines = append(db.lines, l)
		return
	}
	plain := true
	for p := range strings.SplitSeq(f[0], ",") {
		if p == "" {
			continue
		}
		kp, ok := parsePattern(p)
		if !ok {
			return
		}
		plain = plain && !kp.not && !strings.ContainsAny(kp.text, "*?")
		l.patterns = append(l.patterns, kp)
	}
	db.lines = append(db.lines, l)
	if !plain {
		db.general = append(db.general, i)
		return
	}
	for _, p := range l.patterns {
		if have := db.exact[p.text]; len(have) == 0 || have[len(have)-1] != i {
			db.exact[p.text] = append(have, i)
		}
	}
}

// parsePattern reads a name: host, [host]:port, either with ! before it.
func parsePattern(p string) (knownPattern, bool) {
	rest, not := strings.CutPrefix(strings.ToLower(p), "!")
	if rest == "" {
		return knownPattern{}, false
	}
	if in, ok := strings.CutPrefix(rest, "["); ok && !strings.ContainsAny(in, "*?") {
		host, port, ok := strings.Cut(in, "]")
		port, has := strings.CutPrefix(port, ":")
		if !ok || host == "" || !has && port != "" {
			return knownPattern{}, false
		}
		if port == "22" || !has {
			rest = host // as ssh writes it
		}
	}
	return knownPattern{rest, not}, true
}

// knownName is how known_hosts names a host: host, or [host]:port where the port
// is not that of SSH.
func knownName(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	if host = strings.ToLower(host); port == "22" {
		return host, nil
	}
	return "[" + host + "]:" + port, nil
}

// match reports whether a line means a name.
func (l *knownLine) match(name string) bool {
	if l.hash != nil {
		return bytes.Equal(hashName(l.salt, name), l.hash)
	}
	hit := false
	for _, p := range l.patterns {
		if !sshconf.Pattern(p.text, name) {
			continue
		}
		if p.not {
			return false
		}
		hit = true
	}
	return hit
}

func hashName(salt []byte, name string) []byte {
	mac := hmac.New(sha1.New, salt)
	mac.Write([]byte(name))
	return mac.Sum(nil)
}

// known returns the key of a line; false where it is none.
func (l *knownLine) known() (xknownhosts.KnownKey, bool) {
	key, err := ssh.ParsePublicKey(l.blob)
	if err != nil || key.Type() != l.typ {
		return xknownhosts.KnownKey{}, false
	}
	return xknownhosts.KnownKey{Key: key, Filename: l.file, Line: l.line}, true
}

// A hostLine is a key that a host may have, or that may sign for it.
type hostLine struct {
	xknownhosts.KnownKey
	cert bool
	any  bool // the line has no port: it confirms a key and does not refute one
}

// of returns the keys of the lines that mean an address host:port, in the order
// of the files. Where no line has the port, those without one are looked at, as
// ssh does.
func (db *keyDB) of(addr string) ([]hostLine, error) {
	name, err := knownName(addr)
	if err != nil {
		return nil, err
	}
	found := db.find(name)
	if host, _, _ := net.SplitHostPort(addr); len(found) == 0 && strings.HasPrefix(name, "[") {
		found = db.find(strings.ToLower(host))
		for i := range found {
			found[i].any = true
		}
	}
	return found, nil
}

func (db *keyDB) find(name string) []hostLine {
	at := slices.Clone(db.exact[name])
	for _, list := range [][]int32{db.general, db.hashed} {
		for _, i := range list {
			if l := &db.lines[i]; l.match(name) {
				at = append(at, i)
			}
		}
	}
	slices.SortFunc(at, cmp.Compare)
	out := make([]hostLine, 0, len(at))
	for _, i := range at {
		if k, ok := db.lines[i].known(); ok {
			out = append(out, hostLine{KnownKey: k, cert: db.lines[i].cert})
		}
	}
	return out
}

// keyAlgorithms are the host key algorithms that the keys allow, each once. An
// authority may sign keys of all types, whatever its own is.
func keyAlgorithms(keys []hostLine) []string {
	var out []string
	add := func(algs ...string) {
		for _, a := range algs {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	for _, k := range keys {
		switch typ := k.Key.Type(); {
		case k.cert:
			add(ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
				ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01, ssh.CertAlgoSKED25519v01, ssh.CertAlgoSKECDSA256v01)
		case typ == ssh.KeyAlgoRSA:
			// The type of the key stands for three ways to sign, of which the one that
			// has its name, with SHA-1, can be forged: as OpenSSH, ask for it only where
			// HostKeyAlgorithms says so.
			add(ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		default:
			add(typ)
		}
	}
	return out
}

// plainBlob is a key, of a certificate the certified one, as bytes.
func plainBlob(key ssh.PublicKey) string {
	if cert, ok := key.(*ssh.Certificate); ok {
		key = cert.Key
	}
	return string(key.Marshal())
}

// check says whether a host whose lines are keys may present key: nil, a
// *xknownhosts.KeyError or *xknownhosts.RevokedError, or what is wrong with a
// certificate.
func (db *keyDB) check(addr string, keys []hostLine, key ssh.PublicKey) error {
	same := func(a, b ssh.PublicKey) bool { return bytes.Equal(a.Marshal(), b.Marshal()) }
	c := ssh.CertChecker{
		IsHostAuthority: func(auth ssh.PublicKey, _ string) bool {
			return slices.ContainsFunc(keys, func(k hostLine) bool { return k.cert && same(k.Key, auth) })
		},
		IsRevoked: func(cert *ssh.Certificate) bool {
			_, own := db.revoked[plainBlob(cert)]
			_, ca := db.revoked[plainBlob(cert.SignatureKey)]
			return own || ca
		},
		HostKeyFallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			if r, ok := db.revoked[plainBlob(key)]; ok {
				return &xknownhosts.RevokedError{Revoked: r}
			}
			e := &xknownhosts.KeyError{}
			for _, k := range keys {
				if !k.cert && same(k.Key, key) {
					return nil
				}
				if !k.any && !k.cert {
					e.Want = append(e.Want, k.KnownKey)
				}
			}
			return e
		},
	}
	// As ssh: the certificate of an authority that is not known counts as the
	// plain key in it.
	if cert, ok := key.(*ssh.Certificate); ok && !c.IsHostAuthority(cert.SignatureKey, addr) && !c.IsRevoked(cert) {
		key = cert.Key
	}
	return c.CheckHostKey(addr, nil, key)
}
