package sshexec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/core/sshconf"
)

// forever is the time of a connection that does not end by itself.
const forever = -1 * time.Second

// persistOf returns how long the connection to a host may stay when it is not in use.
// ssh_persist decides where it is set; ControlPersist counts only where a master of
// OpenSSH would be made and kept, too.
func (d *Dialer) persistOf(s settings) time.Duration {
	switch {
	case d.o.Keep == nil, strings.EqualFold(s.get("controlpath"), "none"):
		return 0 // none turns off all connections that are held open
	case d.o.Keep.For != nil:
		return *d.o.Keep.For
	case s.none("controlpath"), s.Expanded("controlpath"):
		return 0
	}
	switch strings.ToLower(s.get("controlmaster")) {
	case "auto", "yes", "true":
	default:
		return 0
	}
	switch v := strings.ToLower(s.get("controlpersist")); v {
	case "", "no", "false":
		return 0
	case "yes", "true", "0":
		return forever
	default:
		if n, ok := sshconf.Seconds(v); ok && n > 0 {
			return time.Duration(n) * time.Second
		}
		return forever // 0 in other words
	}
}

// keyParts are all that decides where a connection goes, as whom, and what is believed
// of the other end, apart from the host's own key, which is checked again.
type keyParts struct {
	Name, Host, Alias, User, Family, Bind, Proxy, KnownBy string
	Port                                                  int
	Priv, Agent, Module, Revoked                          string
	Identities, Certificates, Methods, Known              []string
	Files                                                 []string // digests of the key files
	Only, NoKeys, TrustLocal, CheckIP                     bool
	Policy                                                Policy
	Ciphers, MACs, Kexes, HostKeyAlgs, KeyAlgs            []string
	RSASize                                               int
	// Lines are what known_hosts has of a jump host, whose own key is not checked again.
	Lines []string
	Jumps []keyParts
}

// keyLen is the length of the key of a connection, which names its socket.
const keyLen = 32

// keyOf returns the key of the connection to t: that of a connection which is the same
// in all that matters.
func (d *Dialer) keyOf(ctx context.Context, t *dest) (string, error) {
	p, err := d.partsOf(t)
	if err != nil {
		return "", err
	}
	for _, spec := range t.jump {
		h, err := d.hop(ctx, spec)
		if err != nil {
			return "", err
		}
		j, err := d.partsOf(h)
		if err != nil {
			return "", err
		}
		lines, err := d.hosts.open(h.known).of(h.knownAs())
		if err != nil {
			return "", err
		}
		for _, l := range lines {
			j.Lines = append(j.Lines, string(l.Key.Marshal()))
		}
		p.Jumps = append(p.Jumps, j)
	}
	text, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:keyLen], nil
}

func (d *Dialer) partsOf(t *dest) (p keyParts, err error) {
	p = keyParts{
		Name: t.name, Host: t.host, Alias: t.alias, User: t.user, Family: t.family, Bind: t.bind, KnownBy: t.knownBy, Port: t.port,
		Priv: absolute(t.priv), Agent: t.agent, Module: t.module, Revoked: absolute(t.revoked),
		Methods: t.methods, Only: t.identitiesOnly, NoKeys: t.noKeys, TrustLocal: t.trustLocal, CheckIP: t.checkIP, Policy: t.policy,
		Ciphers: t.ciphers, MACs: t.macs, Kexes: t.kexes, HostKeyAlgs: t.hostKeyAlgs, KeyAlgs: t.keyAlgs, RSASize: t.rsaSize,
	}
	if t.proxy != "" {
		if p.Proxy, err = d.proxyLine(t); err != nil {
			return p, err
		}
	}
	keys := slices.Clone(t.identities)
	if t.priv == "" && len(keys) == 0 && !t.noKeys {
		keys = d.defaultKeys()
	}
	for _, l := range []struct {
		from []string
		into *[]string
	}{{keys, &p.Identities}, {t.certificates, &p.Certificates}, {t.known, &p.Known}} {
		for _, path := range l.from {
			*l.into = append(*l.into, absolute(path))
		}
	}
	for _, path := range slices.Concat([]string{p.Priv}, p.Identities, p.Certificates) {
		if path != "" {
			p.Files = append(p.Files, d.fileDigest(path), d.fileDigest(path+".pub"), d.fileDigest(path+"-cert.pub"))
		}
	}
	if p.Revoked != "" {
		p.Files = append(p.Files, d.fileDigest(p.Revoked))
	}
	return p, nil
}

// absolute returns the absolute path of a file; "" stays.
func absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// maxKeyFile is how much of a key file is looked at; larger ones are none.
const maxKeyFile = 1 << 20

// fileDigest returns the digest of a key file, once in a run; "" if it cannot be read.
func (d *Dialer) fileDigest(path string) string {
	if v, ok := d.files.Load(path); ok {
		return v.(string)
	}
	digest := ""
	if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Size() <= maxKeyFile {
		if b, err := d.o.Host.ReadFile(path); err == nil {
			sum := sha256.Sum256(b)
			digest = hex.EncodeToString(sum[:])
		}
	}
	d.files.Store(path, digest)
	return digest
}
