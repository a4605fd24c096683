package x509

import (
	"context"
	"crypto/x509"
	"errors"
	"io/fs"
	"strings"
	"time"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
	files "brine/modules/file"
	mod "brine/modules/x509"
	"brine/modules/x509/pki"
)

// A work is what differs between the kinds of files.
type work struct {
	what    string // "certificate"
	correct string // comment where nothing is due
	// look compares the file with what is wanted, and notes what differs.
	look func(data []byte) error
	// make returns the new content.
	make func() ([]byte, error)
	text bool // the new content is PEM
	// private says that a private key is in the new content.
	private bool
	// current says whether the file has something of the kind.
	current func() bool
	force   bool // the file is replaced without a look at it
}

// run does what the states of x509_v2 have in common: it checks the file, compares
// its content, and writes it by file.managed.
func (s *state) run(ctx context.Context, w work) fun.Ret {
	if ret, done := s.plan(ctx, w); done {
		return ret
	}
	h := s.c.Env.Host
	if s.exists && !w.force {
		data, err := h.ReadFile(s.real)
		if err != nil {
			return s.fail(fun.Errorf("%s", host.OSError(err)))
		}
		if err := w.look(data); err != nil {
			return s.fail(err)
		}
	} else if !s.exists {
		s.changes.Set("created", s.c.Name)
	}
	if s.replace || (w.force && s.exists) {
		s.changes.Set("replaced", s.c.Name)
	}
	due := s.changes.Len() > 0
	if !due && s.planned.Result == fun.OK && changesOf(s.planned).Len() == 0 {
		s.add(s.planned)
		return s.ret(fun.OK, w.correct, s.changes)
	}
	verb := "created"
	if due && w.current() {
		verb = "recreated"
	}
	if s.c.Test {
		s.add(s.planned)
		if due {
			return s.ret(fun.WouldChange, "The "+w.what+" would have been "+verb, s.changes)
		}
		return s.ret(fun.OK, w.correct, s.changes)
	}
	return s.act(ctx, w, verb, due)
}

// plan asks file.managed what it would do, and finds the file behind a link.
func (s *state) plan(ctx context.Context, w work) (fun.Ret, bool) {
	args := s.file.Copy()
	args.Set("replace", false)
	s.planned = fileManaged(ctx, s.c, args, true)
	if s.planned.Err != nil {
		return fun.Raise(s.planned.Err), true
	}
	if s.planned.Result == fun.Failed {
		s.add(s.planned)
		return s.ret(fun.Failed, "Problem while testing file.managed changes, see its output", value.NewMap(0)), true
	}
	if strings.Contains(value.Str(s.planned.Comment), "is not present and is not set for creation") {
		s.add(s.planned)
		return s.ret(fun.OK, w.correct, value.NewMap(0)), true
	}
	h := s.c.Env.Host
	if st, err := h.Lstat(s.c.Name); err == nil && st.Mode&fs.ModeSymlink != 0 {
		if follow, ok := s.file.Get("follow_symlinks"); ok && !value.Truth(follow) {
			s.replace = true
			if !s.c.Test {
				if err := h.Remove(s.c.Name); err != nil {
					return s.fail(fun.Errorf("%s", host.OSError(err))), true
				}
			}
			return fun.Ret{}, false
		}
	}
	s.exists = mod.IsFile(h, s.real)
	return fun.Ret{}, false
}

// act writes the content where it changes, and sets owner and mode.
func (s *state) act(ctx context.Context, w work, verb string, due bool) fun.Ret {
	comment := w.correct
	args := s.file.Copy()
	var data []byte
	if due {
		var err error
		if data, err = w.make(); err != nil {
			return s.fail(err)
		}
		comment = "The " + w.what + " has been " + verb
		if w.private && !value.Truth(args.At("mode")) {
			args.Set("mode", newKeyMode(s.c.Env.Host, s.c.Name))
		}
	}
	args.Set("replace", due && w.text)
	if due && w.text {
		args.Set("contents", string(data))
	}
	r := fileManaged(ctx, s.c, args, false)
	if r.Err != nil {
		return fun.Raise(r.Err)
	}
	s.add(r)
	if r.Result == fun.Failed {
		what := "create"
		if w.current() {
			what = "update"
		}
		return s.ret(fun.Failed, "Could not "+what+" file, see file.managed output", value.NewMap(0))
	}
	if due && !w.text {
		if err := s.writeBinary(data); err != nil {
			return s.fail(err)
		}
	}
	return s.ret(fun.OK, comment, s.changes)
}

// writeBinary replaces the content of the file, with a copy of the old one where
// backup says so.
func (s *state) writeBinary(data []byte) error {
	fsys := files.New(s.c.Env, "base", false)
	if mode := s.file.Str("backup"); s.exists && (fsys.BackupMode(mode) == "minion" || fsys.BackupMode(mode) == "both") {
		if err := fsys.Backup(s.real); err != nil {
			return fun.Errorf("%v", err)
		}
	}
	err := s.c.Env.Host.WriteFile(s.real, strings.NewReader(string(data)), host.WriteOptions{FollowLinks: true})
	if err != nil {
		return fun.Errorf("%s", host.OSError(err))
	}
	return nil
}

// compareExts returns what differs between the extensions of a file and those
// wanted; nil where nothing does.
func compareExts(have, want []pki.Extension) *value.Map {
	added, changed, removed := value.NewList(), value.NewList(), value.NewList()
	for _, e := range want {
		old, ok := pki.Find(have, e.ID)
		switch {
		case !ok:
			added.Append(pki.ExtensionLongName(e.ID))
		case old.Critical != e.Critical || string(old.Value) != string(e.Value):
			changed.Append(pki.ExtensionLongName(e.ID))
		}
	}
	for _, e := range have {
		if _, ok := pki.Find(want, e.ID); !ok {
			removed.Append(pki.ExtensionLongName(e.ID))
		}
	}
	if added.Len()+changed.Len()+removed.Len() == 0 {
		return nil
	}
	return value.MapOf("added", added, "changed", changed, "removed", removed)
}

// noteName notes a name that differs.
func (s *state) noteName(key string, have, want []byte) {
	if string(have) == string(want) {
		return
	}
	text := ""
	if n, err := pki.ParseName(want); err == nil {
		text = n.String()
	}
	if old, err := pki.ParseName(have); err == nil && old.SameAs(want) {
		return
	}
	s.changes.Set(key, text)
}

// noteDigest notes a signature that was made with another digest.
func (s *state) noteDigest(der []byte, want string) {
	signed, err := pki.ParseSigned(der)
	if err != nil {
		return
	}
	if have := signed.Digest(); have != "" && !strings.EqualFold(have, want) {
		s.changes.Set("digest", want)
	}
}

func (s *state) noteExts(have, want []pki.Extension) {
	if m := compareExts(have, want); m != nil {
		s.changes.Set("extensions", m)
	}
}

// only reports whether nothing but some keys changes.
func (s *state) only(keys ...string) bool {
	for _, k := range s.changes.Keys() {
		found := false
		for _, want := range keys {
			found = found || k == want
		}
		if !found {
			return false
		}
	}
	return true
}

// certKwargs returns the arguments of the certificate, without those of the state.
func certKwargs(rest *value.Map) *value.Map {
	kw := value.NewMap(rest.Len())
	for k, v := range rest.All() {
		switch k {
		case "days_remaining", "encoding", "append_certs", "pkcs12_passphrase", "pkcs12_encryption_compat", "pkcs12_friendlyname":
		default:
			kw.Set(k, v)
		}
	}
	if alg, ok := kw.Get("algorithm"); ok {
		kw.Delete("algorithm")
		kw.Set("digest", alg)
	}
	mod.Rename(kw)
	if !kw.Has("days_valid") && !kw.Has("not_after") {
		kw.Set("days_valid", int64(365))
	}
	return kw
}

// certificateManagedV2 manages a certificate. Salt: states/x509_v2.py certificate_managed.
// Difference: a new file with a private key in it (pkcs12) is for its owner only.
func certificateManagedV2(ctx context.Context, c *fun.Call) fun.Ret {
	s, rest := begin(c)
	kw := certKwargs(rest)
	h := c.Env.Host
	remaining := c.Int("days_remaining")
	if c.IsNone("days_remaining") {
		remaining = 90
	}
	encoding := c.Str("encoding")
	out := mod.CertOut{Encoding: encoding, Append: c.Value("append_certs"), Pass: mod.Pass(c.Value("pkcs12_passphrase")), Compat: c.Bool("pkcs12_encryption_compat"), FriendlyName: c.Str("pkcs12_friendlyname")}
	var current *pki.Loaded
	var private *pki.Key
	look := func(data []byte) error {
		l, err := pki.LoadCert(data, out.Pass)
		switch {
		case errors.Is(err, pki.ErrBadDecrypt):
			s.changes.Set("pkcs12_passphrase", true)
			return nil
		case err != nil && !pki.HasPEM(data):
			s.replace = true
			return nil
		case err != nil:
			return err
		}
		current = l
		if encoding != l.Encoding {
			s.changes.Set("encoding", encoding)
		} else if encoding == "pkcs12" && l.Bag.FriendlyName != out.FriendlyName {
			s.changes.Set("pkcs12_friendlyname", c.Value("pkcs12_friendlyname"))
		}
		if l.Cert.NotAfter.Before(h.Now().Add(time.Duration(remaining) * 24 * time.Hour)) {
			s.changes.Set("expiration", true)
		}
		same, err := sameChain(h, l.Chain, c.List("append_certs"))
		if err != nil {
			return err
		}
		if !same {
			s.changes.Set("additional_certs", true)
		}
		private, err = s.compareCert(ctx, l.Cert, kw)
		return err
	}
	create := func() ([]byte, error) {
		cert := (*x509.Certificate)(nil)
		if current != nil && s.only("additional_certs", "encoding", "pkcs12_friendlyname") {
			cert = current.Cert
		} else {
			var err error
			if cert, private, err = mod.CreateCert(ctx, c.Env, kw); err != nil {
				return nil, err
			}
		}
		if encoding == "pkcs12" && private == nil {
			return nil, fun.Errorf("Creating a PKCS12-encoded certificate without embedded private key is unsupported")
		}
		return mod.EncodeCert(h, cert, private, out)
	}
	return s.run(ctx, work{
		what: "certificate", correct: "The certificate is in the correct state", look: look, make: create,
		text: strings.HasSuffix(encoding, "pem"), private: encoding == "pkcs12", current: func() bool { return current != nil },
	})
}

func sameChain(h host.Host, have []*x509.Certificate, want []value.Value) (bool, error) {
	if len(have) != len(want) {
		for _, v := range want {
			if _, err := mod.LoadCert(h, v, nil); err != nil {
				return false, err
			}
		}
		return false, nil
	}
	for i, v := range want {
		cert, err := mod.LoadCert(h, v, nil)
		if err != nil {
			return false, err
		}
		if !cert.Equal(have[i]) {
			return false, nil
		}
	}
	return true, nil
}

// compareCert notes what a new certificate would have of its own. It returns the
// private key that was given.
func (s *state) compareCert(ctx context.Context, cert *x509.Certificate, kw *value.Map) (*pki.Key, error) {
	server := ""
	if v := kw.At("ca_server"); v != nil {
		server = value.Str(v)
	}
	policy, err := mod.PolicyFor(ctx, s.c.Env, kw.At("signing_policy"), server)
	if err != nil {
		return nil, err
	}
	final := kw.Copy()
	mod.MergePolicy(policy, final)
	b, err := mod.BuildCert(s.c.Env.Host, final, server != "")
	if err != nil {
		return nil, err
	}
	digest := b.Digest
	s.noteDigest(cert.Raw, digest)
	if v := kw.At("serial_number"); v != nil && b.Template.Serial.Cmp(cert.SerialNumber) != 0 {
		s.changes.Set("serial_number", v)
	}
	if !pki.SamePublic(b.Public, cert.PublicKey) {
		s.changes.Set("private_key", true)
	}
	if b.CA != nil && !mod.Verified(cert, b.CA.PublicKey) {
		s.changes.Set("signing_private_key", true)
	}
	s.noteName("subject_name", cert.RawSubject, b.Template.Subject)
	s.noteName("issuer_name", cert.RawIssuer, b.Template.Issuer)
	s.noteExts(pki.Extensions(cert), b.Template.Exts)
	return b.Private, nil
}

// csrManagedV2 manages a certificate signing request. Salt: states/x509_v2.py csr_managed.
func csrManagedV2(ctx context.Context, c *fun.Call) fun.Ret {
	s, rest := begin(c)
	kw := certKwargs(rest)
	encoding := c.Str("encoding")
	digest := value.Str(kw.At("digest"))
	var current *x509.CertificateRequest
	look := func(data []byte) error {
		csr, have, err := pki.LoadCSR(data)
		if err != nil {
			s.replace = true
			return nil
		}
		current = csr
		if csr.Version != 0 {
			s.changes.Set("invalid_version", true)
			s.replace = true
			return nil
		}
		s.noteDigest(csr.Raw, digest)
		if have != encoding {
			s.changes.Set("encoding", encoding)
		}
		req, key, err := mod.BuildCSR(c.Env.Host, kw)
		if err != nil {
			return err
		}
		if !pki.SamePublic(csr.PublicKey, key.Public()) {
			s.changes.Set("private_key", true)
		}
		s.noteName("subject_name", csr.RawSubject, req.Subject)
		s.noteExts(pki.RequestExtensions(csr), req.Exts)
		return nil
	}
	create := func() ([]byte, error) {
		if current != nil && s.only("encoding") {
			return mod.EncodeCSR(current.Raw, encoding), nil
		}
		der, err := mod.CreateCSR(c.Env.Host, kw)
		return mod.EncodeCSR(der, encoding), err
	}
	return s.run(ctx, work{
		what: "certificate signing request", correct: "The certificate signing request is in the correct state", look: look, make: create,
		text: encoding == "pem", current: func() bool { return current != nil },
	})
}

// pemManagedV2 manages a PEM block. Salt: states/x509_v2.py pem_managed.
func pemManagedV2(ctx context.Context, c *fun.Call) fun.Ret {
	file, _ := split(c, fileArgs)
	if c.Kw.Len() > 0 {
		return fun.Raise(unrecognized(c.Kw))
	}
	entry, err := mod.PEMEntryV2(c.Env.Host, c.Value("text"), "")
	if err != nil {
		return fun.Ret{Name: c.Name, Comment: err.Error()}
	}
	file.Set("show_changes", false)
	return writePEM(ctx, c, file, entry)
}

// writePEM writes a PEM block by file.managed. The difference is not shown where a
// private key is in it. A file that gets one is for its owner only.
func writePEM(ctx context.Context, c *fun.Call, file *value.Map, entry string) fun.Ret {
	file.Set("contents", entry)
	old, err := c.Env.Host.ReadFile(c.Name)
	if pki.HasPrivate(entry) && (err != nil || string(old) != entry) && !value.Truth(file.At("mode")) {
		file.Set("mode", newKeyMode(c.Env.Host, c.Name))
	}
	if pki.HasPrivate(entry) || err == nil && pki.HasPrivate(string(old)) {
		file.Set("show_changes", false)
	}
	return fileManaged(ctx, c, file, c.Test)
}

func unrecognized(rest *value.Map) error {
	return value.Raise("salt.exceptions.SaltInvocationError", "Unrecognized keyword arguments: %s", value.Repr(value.NewList(rest.Keys()...)))
}

// privateKeyManagedV2 manages a private key. Salt: states/x509_v2.py private_key_managed.
func privateKeyManagedV2(ctx context.Context, c *fun.Call) fun.Ret {
	s, _ := begin(c)
	size := c.Value("keysize")
	if bits := c.Value("bits"); bits != nil {
		size = bits
	}
	if c.Kw.Len() > 0 {
		return fun.Raise(unrecognized(c.Kw))
	}
	if !value.Truth(s.file.At("mode")) {
		s.file.Set("mode", "0400")
	}
	algo, encoding, pass := c.Str("algo"), c.Str("encoding"), mod.Pass(c.Value("passphrase"))
	if value.Truth(size) && (algo == "ed25519" || algo == "ed448") {
		return s.fail(fun.Errorf("keysize is an invalid parameter for %s", algo))
	}
	k := &keyState{state: s, algo: algo, encoding: encoding, pass: pass, size: size, overwrite: c.Bool("overwrite")}
	create := func() ([]byte, error) {
		key := k.current
		if key == nil || !s.only("encoding", "passphrase") {
			var err error
			if key, err = mod.GenerateKey(algo, size); err != nil {
				return nil, err
			}
		}
		return mod.EncodeKey(key, encoding, pass, c.Bool("pkcs12_encryption_compat"))
	}
	return s.run(ctx, work{
		what: "private key", correct: "The private key is in the correct state", look: k.look, make: create,
		text: encoding == "pem", current: func() bool { return s.exists }, force: c.Bool("new"),
	})
}

// A keyState compares a private key.
type keyState struct {
	*state
	algo, encoding string
	pass           *string
	size           value.Value
	overwrite      bool
	current        *pki.Key
}

// load reads the key in the file. It fails where the file has to stay.
func (k *keyState) load(data []byte) (encoding string, err error) {
	k.current, encoding, err = pki.LoadKey(data, k.pass)
	refuse := func(text string) error {
		if k.overwrite {
			return nil
		}
		return fun.Errorf("%s Pass overwrite: true to force regeneration%s", text, map[bool]string{true: " without passphrase"}[errors.Is(err, pki.ErrEncrypted)])
	}
	switch {
	case err == nil:
		return encoding, nil
	case errors.Is(err, pki.ErrBadDecrypt):
		k.changes.Set("passphrase", true)
		return "", refuse("The provided passphrase cannot decrypt the private key.")
	case errors.Is(err, pki.ErrEncrypted):
		k.changes.Set("passphrase", true)
		return "", refuse("The existing file is encrypted.")
	case errors.Is(err, pki.ErrUnencrypted):
		k.changes.Set("passphrase", true)
		k.current, encoding, err = pki.LoadKey(data, nil)
		return encoding, err
	case errors.Is(err, pki.ErrKeyPEM) && !k.overwrite:
		return "", err
	}
	return "", refuse("The existing file does not seem to be a private key formatted as DER, PEM or embedded in PKCS12.")
}

func (k *keyState) look(data []byte) error {
	have, err := k.load(data)
	if err != nil {
		k.changes = value.NewMap(0)
		return err
	}
	if k.current == nil {
		k.changes.Set("created", k.c.Name)
		return nil
	}
	kind := pki.KeyType(k.current.Public())
	if kind != k.algo {
		k.changes.Set("algo", k.algo)
	} else if bits, ok := pki.KeySize(k.current.Public()); ok {
		want, _ := value.AsInt(k.size)
		if want == 0 {
			want = map[string]int64{"rsa": 2048, "ec": 256}[k.algo]
		}
		if int64(bits) != want {
			k.changes.Set("keysize", k.size)
		}
	}
	if have != k.encoding {
		k.changes.Set("encoding", k.encoding)
	}
	return nil
}
