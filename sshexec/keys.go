package sshexec

import (
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"brine/internal/core/host"
	"brine/internal/core/roster"
)

// keyring holds the keys of a run. Each file is read, and its passphrase asked
// for, once.
type keyring struct {
	files host.Files
	ask   func(prompt string) (roster.Secret, error)

	mu     sync.Mutex
	keys   map[string]*loadedKey
	agents map[string]*agentConn

	agentTimeout time.Duration // with an ssh-agent; 0 is sshAgentTimeout
}

type loadedKey struct {
	mu      sync.Mutex
	loaded  bool
	signers []ssh.Signer // the certificate's first, where there is one
	public  ssh.PublicKey
	err     error
}

type agentConn struct {
	once   sync.Once
	client agent.ExtendedAgent

	mu  sync.Mutex
	err error // of an agent that is not there, or answers nothing
}

// errEncrypted says that a key needs a passphrase that is not known.
var errEncrypted = errors.New("the key is encrypted and its passphrase is not known")

// load returns the signers of a key file: its certificate's and its own. A
// passphrase that is missing is asked for where mayAsk is true.
func (k *keyring) load(path string, pass roster.Secret, certs []string, mayAsk bool) ([]ssh.Signer, ssh.PublicKey, error) {
	k.mu.Lock()
	if k.keys == nil {
		k.keys = map[string]*loadedKey{}
	}
	id := path + "\x00" + pass.Reveal()
	key := k.keys[id]
	if key == nil {
		key = &loadedKey{}
		k.keys[id] = key
	}
	k.mu.Unlock()
	key.mu.Lock()
	defer key.mu.Unlock()
	if !key.loaded || mayAsk && errors.Is(key.err, errEncrypted) {
		key.err, key.loaded = nil, true
		key.read(k, path, pass, mayAsk)
	}
	if key.err != nil {
		return nil, key.public, key.err
	}
	return append(k.certified(key.signers[0], path, certs), key.signers...), key.public, nil
}

func (key *loadedKey) read(k *keyring, path string, pass roster.Secret, mayAsk bool) {
	// The public part alone tells which key of the ssh-agent is meant.
	if pub, err := k.files.ReadFile(path + ".pub"); err == nil {
		key.public, _, _, _, _ = ssh.ParseAuthorizedKey(pub)
	}
	text, err := k.files.ReadFile(path)
	if err != nil {
		key.err = err
		return
	}
	if st, err := k.files.Stat(path); err == nil && tooOpen(st) && !isPublic(text) {
		key.err = &openKeyError{path, st.Perm()}
		return
	}
	if pub, _, _, _, err := ssh.ParseAuthorizedKey(text); err == nil {
		key.public, key.err = pub, fmt.Errorf("key %s: %w", path, errPublic)
		return
	}
	raw, err := k.parse(text, path, pass, mayAsk, &key.public)
	if errors.Is(err, x509.IncorrectPasswordError) {
		err = wrongPassphraseError{}
	}
	if err != nil {
		key.err = fmt.Errorf("key %s: %w", path, err)
		return
	}
	s, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		key.err = fmt.Errorf("key %s: %w", path, err)
		return
	}
	key.signers, key.public = []ssh.Signer{s}, s.PublicKey()
}

// An openKeyError says that others can read a private key.
type openKeyError struct {
	path string
	mode uint32
}

func (e *openKeyError) Error() string {
	return fmt.Sprintf("key %s: others can read the private key (permissions %04o), it is not used: chmod 600 %s", e.path, e.mode, e.path)
}

// tooOpen reports whether others have permissions for a private key of one's own. A
// key of somebody else is his to protect, as for ssh.
func tooOpen(st host.Stat) bool { return st.UID == os.Geteuid() && st.Perm()&0o077 != 0 }

func isPublic(text []byte) bool {
	_, _, _, _, err := ssh.ParseAuthorizedKey(text)
	return err == nil
}

// wrongPassphraseError is x509.IncorrectPasswordError in words for people.
type wrongPassphraseError struct{}

func (wrongPassphraseError) Error() string { return "the passphrase is wrong" }

// Is makes it the error that it stands for.
func (wrongPassphraseError) Is(err error) bool { return errors.Is(err, x509.IncorrectPasswordError) }

// errPublic says that a file names a key that is elsewhere.
var errPublic = errors.New("the file has a public key, and the ssh-agent does not hold its private key")

// parse returns the private key of a file. Where the file tells its public key
// without a passphrase, that is stored in public.
func (k *keyring) parse(text []byte, path string, pass roster.Secret, mayAsk bool, public *ssh.PublicKey) (any, error) {
	if der := encryptedPKCS8(text); der != nil {
		return k.decrypt(path, pass, mayAsk, func(p []byte) (any, error) { return decryptPKCS8(der, p) })
	}
	raw, err := ssh.ParseRawPrivateKey(text)
	missing, ok := errors.AsType[*ssh.PassphraseMissingError](err)
	if !ok {
		return raw, err
	}
	if missing.PublicKey != nil {
		*public = missing.PublicKey
	}
	return k.decrypt(path, pass, mayAsk, func(p []byte) (any, error) { return ssh.ParseRawPrivateKeyWithPassphrase(text, p) })
}

// passphraseTries is how often a passphrase is asked for, as ssh does.
const passphraseTries = 3

// decrypt opens an encrypted key with the passphrase of the roster, else one
// that is asked for.
func (k *keyring) decrypt(path string, pass roster.Secret, mayAsk bool, open func(passphrase []byte) (any, error)) (any, error) {
	if pass.IsSet() {
		return open([]byte(pass.Reveal()))
	}
	if k.ask == nil || !mayAsk {
		return nil, errEncrypted
	}
	for try := 1; ; try++ {
		given, err := k.ask("Passphrase of " + path + ": ")
		if err != nil {
			return nil, err
		}
		if !given.IsSet() {
			return nil, errEncrypted
		}
		raw, err := open([]byte(given.Reveal()))
		if !errors.Is(err, x509.IncorrectPasswordError) || try >= passphraseTries {
			return raw, err
		}
	}
}

// certified returns signers of the certificates that fit a key: those named,
// and KEY-cert.pub.
func (k *keyring) certified(s ssh.Signer, path string, certs []string) []ssh.Signer {
	var out []ssh.Signer
	for _, p := range append([]string{path + "-cert.pub"}, certs...) {
		text, err := k.files.ReadFile(p)
		if err != nil {
			continue
		}
		pub, _, _, _, err := ssh.ParseAuthorizedKey(text)
		if err != nil {
			continue
		}
		cert, ok := pub.(*ssh.Certificate)
		if !ok || string(cert.Key.Marshal()) != string(s.PublicKey().Marshal()) {
			continue
		}
		if cs, err := ssh.NewCertSigner(cert, s); err == nil {
			out = append(out, cs)
		}
	}
	return out
}

// agentSigners returns the keys that the ssh-agent at a socket holds.
func (k *keyring) agentSigners(socket string) ([]ssh.Signer, error) {
	if socket == "" {
		return nil, nil
	}
	k.mu.Lock()
	if k.agents == nil {
		k.agents = map[string]*agentConn{}
	}
	a := k.agents[socket]
	if a == nil {
		a = &agentConn{}
		k.agents[socket] = a
	}
	k.mu.Unlock()
	a.once.Do(func() {
		c, err := net.DialTimeout("unix", socket, 5*time.Second)
		if err != nil {
			a.err = err
			return
		}
		a.client = agent.NewClient(c)
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return nil, a.err
	}
	type held struct {
		signers []ssh.Signer
		err     error
	}
	done := make(chan held, 1)
	go func() {
		signers, err := a.client.Signers()
		done <- held{signers, err}
	}()
	patience := cmp.Or(k.agentTimeout, sshAgentTimeout)
	select {
	case h := <-done:
		return h.signers, h.err
	case <-time.After(patience):
		a.err = fmt.Errorf("no answer within %s", patience)
		return nil, a.err
	}
}

// sshAgentTimeout is how long an ssh-agent has to name its keys.
const sshAgentTimeout = 10 * time.Second

// defaultKeys are the files that are tried where nothing names a key: ssh's,
// and salt-ssh's own.
func (d *Dialer) defaultKeys() []string {
	var out []string
	for _, n := range []string{"id_ed25519", "id_ecdsa", "id_rsa", "id_ed25519_sk", "id_ecdsa_sk"} {
		out = append(out, filepath.Join(d.o.Home, ".ssh", n))
	}
	if d.o.PKIDir != "" {
		out = append(out, filepath.Join(d.o.PKIDir, "ssh", "salt-ssh.rsa"))
	}
	return out
}

// signers returns the keys to offer to a host, in order: the one that the
// roster names, the agent's, those of ssh_config, the default ones. notes say
// why keys were left out.
func (d *Dialer) signers(t *dest, mayAsk bool) (out []ssh.Signer, notes []string, err error) {
	held, agentErr := d.keys.agentSigners(t.agent)
	o := offer{d: d, t: t, mayAsk: mayAsk, held: held}
	if agentErr != nil {
		o.notes = append(o.notes, fmt.Sprintf("the ssh-agent at %s does not answer: %v", t.agent, agentErr))
	}
	if text := d.moduleNote(t, len(held)); text != "" {
		o.notes = append(o.notes, text)
	}
	if t.priv != "" {
		if err := o.file(t.priv); err != nil {
			return nil, o.notes, err
		}
	}
	if t.identitiesOnly || t.priv == "" {
		o.files(t.identities)
	}
	if !t.identitiesOnly {
		o.add("the ssh-agent at "+t.agent, held...)
	}
	if t.priv == "" && len(t.identities) == 0 && !t.noKeys {
		o.files(d.defaultKeys())
	}
	out = t.accepted(o.signers)
	t.offered = len(out)
	for _, s := range out {
		if from := o.from[string(s.PublicKey().Marshal())]; !slices.Contains(t.offeredFrom, from) {
			t.offeredFrom = append(t.offeredFrom, from)
		}
	}
	if !mayAsk { // it is to log in
		out = t.logged(out, o.from)
	}
	return out, o.notes, nil
}

// moduleNote says of a PKCS11Provider why its keys are not tried; "" where there is none,
// or where the ssh-agent has keys, which may be those. held is how many it has.
func (d *Dialer) moduleNote(t *dest, held int) string {
	if t.module == "" {
		return ""
	}
	if filepath.IsAbs(t.module) {
		if _, err := d.o.Host.Stat(t.module); err != nil {
			return fmt.Sprintf("the PKCS11Provider %s cannot be read: %v", t.module, pathReason(err))
		}
	}
	if held > 0 {
		return ""
	}
	return fmt.Sprintf("the keys of the PKCS11Provider %s are used by ssh-agent alone: ssh-add -s %s", t.module, t.module)
}

// pathReason is an error of a file without its name.
func pathReason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// leastRSASize are the bits that ssh requires of an RSA key, whatever
// RequiredRSASize says.
const leastRSASize = 1024

// strong returns an error for an RSA key, of a host or to log in with, that is
// shorter than RequiredRSASize.
func (t *dest) strong(key ssh.PublicKey) error {
	if cert, ok := key.(*ssh.Certificate); ok {
		key = cert.Key
	}
	c, ok := key.(ssh.CryptoPublicKey)
	if !ok {
		return nil
	}
	k, ok := c.CryptoPublicKey().(*rsa.PublicKey)
	if want := max(t.rsaSize, leastRSASize); ok && k.N.BitLen() < want {
		return fmt.Errorf("the RSA key has %d bits, and at least %d are required (RequiredRSASize)", k.N.BitLen(), want)
	}
	return nil
}

// accepted returns the signers that RequiredRSASize and PubkeyAcceptedAlgorithms
// allow, with the algorithms that the latter allows.
func (t *dest) accepted(signers []ssh.Signer) []ssh.Signer {
	signers = slices.DeleteFunc(slices.Clone(signers), func(s ssh.Signer) bool {
		err := t.strong(s.PublicKey())
		if err != nil {
			t.note("key not offered", "key", ssh.FingerprintSHA256(s.PublicKey()), "why", err)
		}
		return err != nil
	})
	if t.keyAlgs == nil {
		return signers
	}
	var out []ssh.Signer
	for _, s := range signers {
		typ := s.PublicKey().Type()
		if typ != ssh.KeyAlgoRSA {
			if typ == ssh.CertAlgoRSAv01 && (slices.Contains(t.keyAlgs, ssh.CertAlgoRSASHA256v01) || slices.Contains(t.keyAlgs, ssh.CertAlgoRSASHA512v01)) || slices.Contains(t.keyAlgs, typ) {
				out = append(out, s)
			}
			continue
		}
		algs := slices.DeleteFunc([]string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSA}, func(a string) bool { return !slices.Contains(t.keyAlgs, a) })
		if as, ok := s.(ssh.AlgorithmSigner); ok && len(algs) > 0 {
			if limited, err := ssh.NewSignerWithAlgorithms(as, algs); err == nil {
				out = append(out, limited)
			}
		}
	}
	return out
}

// An offer is the list of keys that a host is offered, while it is made.
type offer struct {
	d       *Dialer
	t       *dest
	mayAsk  bool         // a user may be asked for the passphrase of a key
	held    []ssh.Signer // by the ssh-agent
	signers []ssh.Signer
	from    map[string]string // where they come from, by the public key
	notes   []string          // files that give no key
}

// add adds what is not in the offer; from is where it comes from.
func (o *offer) add(from string, signers ...ssh.Signer) {
	if o.from == nil {
		o.from = map[string]string{}
	}
	for _, s := range signers {
		if blob := string(s.PublicKey().Marshal()); o.from[blob] == "" {
			o.from[blob] = from
		}
		if !slices.ContainsFunc(o.signers, func(have ssh.Signer) bool { return sameKey(have.PublicKey(), s.PublicKey()) }) {
			o.signers = append(o.signers, s)
		}
	}
}

// file adds the key of a file; one that cannot be read itself may be held by
// the ssh-agent.
func (o *offer) file(path string) error {
	// A key that the ssh-agent holds needs no passphrase.
	signers, pub, err := o.d.keys.load(path, o.t.privPasswd, o.t.certificates, false)
	for _, s := range o.held {
		if err != nil && pub != nil && sameKey(s.PublicKey(), pub) {
			o.add(path+", by the ssh-agent at "+o.t.agent, append(o.d.keys.certified(s, strings.TrimSuffix(path, ".pub"), o.t.certificates), s)...)
			return nil
		}
	}
	if o.mayAsk && errors.Is(err, errEncrypted) {
		signers, _, err = o.d.keys.load(path, o.t.privPasswd, o.t.certificates, true)
	}
	if err == nil {
		o.add(path, signers...)
	}
	return err
}

// files adds the keys of files that may be missing.
func (o *offer) files(paths []string) {
	for _, p := range paths {
		if err := o.file(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			o.notes = append(o.notes, err.Error())
		}
	}
}

func sameKey(a, b ssh.PublicKey) bool { return string(a.Marshal()) == string(b.Marshal()) }

// Prepare loads the keys of entries, and asks for the passphrases that are
// needed, before anything is dialled: nothing asks while many connections are
// under way. Faults show where the entry is dialled.
func (d *Dialer) Prepare(ctx context.Context, entries []*roster.Entry) {
	d.prepare.Lock()
	defer d.prepare.Unlock()
	for _, e := range entries {
		t, err := d.dest(ctx, e)
		if err != nil {
			continue
		}
		if d.keeps(ctx, t) {
			continue
		}
		_, _, _ = d.signers(t, true)
		for _, j := range t.jump {
			if h, err := d.hop(ctx, j); err == nil {
				_, _, _ = d.signers(h, true)
			}
		}
	}
}
