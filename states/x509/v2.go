package x509

import (
	"context"
	"crypto/x509"
	"errors"
	"io/fs"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
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
	// empty, of lists, says that the file is a list without entries: what follows one
	// is said to be created, as in Salt.
	empty func() bool
	force bool // the file is replaced without a look at it
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
	if due && w.current() && (w.empty == nil || !w.empty()) {
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

type certificateManagedV2Args struct {
	_                      string         `arg:"name,required,path" doc:"file to manage"`
	DaysRemaining          fun.Opt[int64] `arg:"days_remaining" doc:"make it again where fewer days are left; 0: never for that reason"`
	_                      string         `arg:"ca_server" doc:"machine that signs, by publish.publish"`
	_                      string         `arg:"signing_policy" doc:"signing policy that overrides arguments: see docs/modules/x509.md"`
	Encoding               string         `arg:"encoding" default:"pem" doc:"encoding of the result"`
	AppendCerts            value.Value    `arg:"append_certs" doc:"certificates that follow it: a list of files or PEM texts"`
	_                      string         `arg:"copypath,path" doc:"directory for a copy of the certificate, named by its serial number"`
	_                      bool           `arg:"prepend_cn" default:"False" doc:"begin the name of the copy with the common name"`
	_                      string         `arg:"digest" default:"sha256" doc:"digest of the signature"`
	_                      value.Value    `arg:"signing_private_key,secret" doc:"private key that signs: a file, PEM text or bytes"`
	_                      string         `arg:"signing_private_key_passphrase,secret" doc:"passphrase of the key that signs"`
	_                      value.Value    `arg:"signing_cert" doc:"certificate of the key that signs; default: the result signs itself"`
	_                      value.Value    `arg:"public_key" doc:"public key: a file, PEM text or bytes of a key, certificate or request"`
	_                      value.Value    `arg:"private_key,secret" doc:"private key: a file, PEM text or bytes"`
	_                      string         `arg:"private_key_passphrase,secret" doc:"passphrase of the private key"`
	_                      value.Value    `arg:"csr" doc:"certificate signing request: a file, PEM text or bytes"`
	_                      value.Value    `arg:"subject,str|list|dict" doc:"subject, as text of RFC 4514, a list of its parts or a mapping; default: the arguments CN, O, C ..."`
	_                      value.Value    `arg:"serial_number,str|int" doc:"serial number; default: random"`
	_                      value.Value    `arg:"not_before" doc:"begin of validity, as 2024-01-31 12:00:00 in UTC; default: now"`
	_                      value.Value    `arg:"not_after" doc:"end of validity; default: after days_valid"`
	_                      int64          `arg:"days_valid" unit:"days" doc:"days for which the result is valid"`
	Pkcs12Passphrase       value.Value    `arg:"pkcs12_passphrase,secret,str" doc:"passphrase of PKCS #12; default: nothing is encrypted"`
	Pkcs12EncryptionCompat bool           `arg:"pkcs12_encryption_compat" default:"False" doc:"encrypt PKCS #12 with triple DES and SHA-1, for old programs"`
	Pkcs12Friendlyname     value.Value    `arg:"pkcs12_friendlyname,str" doc:"name of the certificate within PKCS #12"`
	_                      string         `arg:"algorithm,kw" doc:"same as digest"`
	mod.SubjectArgs
	mod.OlderSubjectArgs
	mod.ExtArgs
	fileManagedArgs
	moreFileArgs
	_ fun.Kwargs
}

// certificateManagedV2 manages a certificate. Salt: states/x509_v2.py certificate_managed.
// Difference: a new file with a private key in it (pkcs12) is for its owner only.
func certificateManagedV2(ctx context.Context, c *fun.Call, a *certificateManagedV2Args) fun.Ret {
	s, rest := begin(c)
	kw := certKwargs(rest)
	h := c.Env.Host
	remaining := a.DaysRemaining.V
	if !a.DaysRemaining.Given {
		remaining = 90
	}
	encoding := a.Encoding
	out := mod.CertOut{Encoding: encoding, Append: a.AppendCerts, Pass: mod.Pass(a.Pkcs12Passphrase), Compat: a.Pkcs12EncryptionCompat, FriendlyName: fun.TextOf(a.Pkcs12Friendlyname)}
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
			s.changes.Set("pkcs12_friendlyname", a.Pkcs12Friendlyname)
		}
		if l.Cert.NotAfter.Before(h.Now().Add(time.Duration(remaining) * 24 * time.Hour)) {
			s.changes.Set("expiration", true)
		}
		same, err := sameChain(h, l.Chain, fun.ItemsOf(a.AppendCerts))
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

type csrManagedV2Args struct {
	_        string      `arg:"name,required,path" doc:"file to manage"`
	_        value.Value `arg:"private_key,required,secret" doc:"private key: a file, PEM text or bytes"`
	_        string      `arg:"private_key_passphrase,secret" doc:"passphrase of the private key"`
	_        string      `arg:"digest" default:"sha256" doc:"digest of the signature"`
	Encoding string      `arg:"encoding" default:"pem" doc:"encoding of the result"`
	_        value.Value `arg:"subject,str|list|dict" doc:"subject, as text of RFC 4514, a list of its parts or a mapping; default: the arguments CN, O, C ..."`
	mod.MoreRequestArgs
	mod.SubjectArgs
	mod.OlderSubjectArgs
	mod.ExtArgs
	fileManagedArgs
	moreFileArgs
	_ fun.Kwargs
}

// csrManagedV2 manages a certificate signing request. Salt: states/x509_v2.py csr_managed.
func csrManagedV2(ctx context.Context, c *fun.Call, a *csrManagedV2Args) fun.Ret {
	s, rest := begin(c)
	kw := certKwargs(rest)
	encoding := a.Encoding
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

type pemManagedV2Args struct {
	_    string      `arg:"name,required,path" doc:"file to manage"`
	Text value.Value `arg:"text,required,secret" doc:"PEM text, or a file that has it"`
	fileManagedArgs
	moreFileArgs
	Rest fun.Kwargs
}

// pemManagedV2 manages a PEM block. Salt: states/x509_v2.py pem_managed.
func pemManagedV2(ctx context.Context, c *fun.Call, a *pemManagedV2Args) fun.Ret {
	file, _ := split(c, fileArgs)
	if a.Rest.Len() > 0 {
		return fun.Raise(unrecognized(a.Rest.Map))
	}
	entry, err := mod.PEMEntryV2(c.Env.Host, a.Text, "")
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

type privateKeyManagedV2Args struct {
	_                      string      `arg:"name,required,path" doc:"file to manage"`
	Algo                   string      `arg:"algo" default:"rsa" doc:"kind of the key: rsa, ec or ed25519"`
	Keysize                value.Value `arg:"keysize,int" doc:"size of the key: 2048, 3072 or 4096 (rsa), 256, 384 or 521 (ec); default: 2048 and 256"`
	Passphrase             value.Value `arg:"passphrase,secret,str" doc:"passphrase of the private key"`
	Encoding               string      `arg:"encoding" default:"pem" doc:"encoding of the result"`
	New                    bool        `arg:"new" default:"False" doc:"always make a new key"`
	Overwrite              bool        `arg:"overwrite" default:"False" doc:"replace a file that cannot be read as a private key"`
	Pkcs12EncryptionCompat bool        `arg:"pkcs12_encryption_compat" default:"False" doc:"encrypt PKCS #12 with triple DES and SHA-1, for old programs"`
	fileManagedArgs
	moreFileArgs
	Bits value.Value `arg:"bits,kw,int" doc:"same as keysize"`
	_    string      `arg:"cipher,kw" doc:"accepted, has no effect"`
	_    bool        `arg:"verbose,kw" doc:"accepted, has no effect"`
	_    bool        `arg:"text,kw" doc:"accepted, has no effect"`
	Rest fun.Kwargs
}

// privateKeyManagedV2 manages a private key. Salt: states/x509_v2.py private_key_managed.
func privateKeyManagedV2(ctx context.Context, c *fun.Call, a *privateKeyManagedV2Args) fun.Ret {
	s, _ := begin(c)
	size := a.Keysize
	if bits := a.Bits; bits != nil {
		size = bits
	}
	if a.Rest.Len() > 0 {
		return fun.Raise(unrecognized(a.Rest.Map))
	}
	if !value.Truth(s.file.At("mode")) {
		s.file.Set("mode", "0400")
	}
	algo, encoding, pass := a.Algo, a.Encoding, mod.Pass(a.Passphrase)
	if value.Truth(size) && (algo == "ed25519" || algo == "ed448") {
		return s.fail(fun.Errorf("keysize is an invalid parameter for %s", algo))
	}
	k := &keyState{state: s, algo: algo, encoding: encoding, pass: pass, size: size, overwrite: a.Overwrite}
	create := func() ([]byte, error) {
		key := k.current
		if key == nil || !s.only("encoding", "passphrase") {
			var err error
			if key, err = mod.GenerateKey(algo, size); err != nil {
				return nil, err
			}
		}
		return mod.EncodeKey(key, encoding, pass, a.Pkcs12EncryptionCompat)
	}
	return s.run(ctx, work{
		what: "private key", correct: "The private key is in the correct state", look: k.look, make: create,
		text: encoding == "pem", current: func() bool { return s.exists }, force: a.New,
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
