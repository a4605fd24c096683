package x509

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	mod "brine/modules/x509"
	"brine/modules/x509/pki"
)

// fileArgsV1 are the arguments of file.managed that the older module takes.
var fileArgsV1 = fileArgs[:9]

type privateKeyManagedArgs struct {
	_          string      `arg:"name,required,path" doc:"file to manage"`
	Bits       int64       `arg:"bits" default:"2048" doc:"size of the key"`
	Passphrase value.Value `arg:"passphrase,secret,str" doc:"passphrase of the private key"`
	Cipher     string      `arg:"cipher" default:"aes_128_cbc" doc:"cipher of an encrypted key: aes_128_cbc, aes_192_cbc, aes_256_cbc, des_ede3_cbc or des_cbc"`
	New        bool        `arg:"new" default:"False" doc:"always make a new key"`
	Overwrite  bool        `arg:"overwrite" default:"False" doc:"replace a file that cannot be read as a private key"`
	_          bool        `arg:"verbose" default:"True" doc:"accepted; nothing is printed while the key is made"`
	fileManagedArgs
	_ fun.Kwargs
}

// privateKeyManaged manages a private key. In test mode none is made. Salt:
// states/x509.py private_key_managed. Differences: a key is never part of the
// changes; a file that is not an RSA key is replaced only with overwrite.
func privateKeyManaged(ctx context.Context, c *fun.Call, a *privateKeyManagedArgs) fun.Ret {
	file, _ := split(c, fileArgsV1)
	h := c.Env.Host
	pass := mod.Pass(a.Passphrase)
	keep := false
	if mod.IsFile(h, c.Name) {
		bits, err := keyBits(c, a, pass)
		if err != nil {
			return fun.Raise(err)
		}
		keep = bits == a.Bits && !a.New
	}
	contents := ""
	var err error
	switch {
	case keep:
		contents, err = mod.PEMEntry(h, c.Name, "(?:RSA |ENCRYPTED )?PRIVATE KEY")
	case c.Test:
		contents = "-----BEGIN RSA PRIVATE KEY-----" // only to differ from what exists
	default:
		contents, err = mod.CreateKeyV1(a.Bits, pass, a.Cipher)
	}
	if err != nil {
		return fun.Raise(err)
	}
	file.Set("contents", contents)
	file.Set("show_changes", false)
	if !keep && !value.Truth(file.At("mode")) {
		file.Set("mode", newKeyMode(h, c.Name))
	}
	ret := fileManaged(ctx, c, file, c.Test)
	if !keep && changesOf(ret).Len() > 0 {
		ret.Changes = value.MapOf("new", "New private key generated")
	}
	return ret
}

// newKeyMode returns the mode of a file with a new key, where none is asked for: only
// its owner reads it, and the group where that does already. The umask has no say.
func newKeyMode(h host.Host, path string) string {
	if st, err := h.Stat(path); err == nil {
		return fmt.Sprintf("%04o", st.Perm()&^0o007)
	}
	return "0600"
}

// keyBits returns the size of the RSA key in the file, 0 where there is none. It
// fails for a key that the passphrase does not open, or of another kind, unless
// overwrite says that it may go.
func keyBits(c *fun.Call, a *privateKeyManagedArgs, pass *string) (int64, error) {
	data, err := c.Env.Host.ReadFile(c.Name)
	if err != nil {
		return 0, fun.Errorf("%v", err)
	}
	k, _, err := pki.LoadKey(data, pass)
	if errors.Is(err, pki.ErrUnencrypted) {
		k, _, err = pki.LoadKey(data, nil)
	}
	if err == nil && pki.KeyType(k.Public()) == "rsa" {
		n, _ := pki.KeySize(k.Public())
		return int64(n), nil
	}
	if !pki.HasPrivate(string(data)) || a.Overwrite {
		return 0, nil
	}
	if err == nil {
		return 0, fun.Errorf("%s has a private key that is not RSA. Pass overwrite: true to replace it", c.Name)
	}
	return 0, fun.Errorf("The provided passphrase cannot decrypt the private key.")
}

type csrManagedArgs struct {
	_ string `arg:"name,required,path" doc:"file to manage"`
	mod.RequestArgs
	mod.SignArgs
	mod.SubjectArgs
	mod.OlderSubjectArgs
	mod.ExtArgs
	fileManagedArgs
	_ fun.Kwargs
}

// csrManaged manages a certificate signing request. Salt: states/x509.py
// csr_managed. Difference: a request that is as it would be made stays, whatever
// the signature, which is another each time for some kinds of keys.
func csrManaged(ctx context.Context, c *fun.Call, _ *csrManagedArgs) fun.Ret {
	file, rest := split(c, fileArgsV1)
	h := c.Env.Host
	old := value.Value(c.Name + " is not a valid csr.")
	if m, err := mod.CSRInfoV1(h, c.Name); err == nil {
		old = m
	}
	contents, err := mod.CreateCSRV1(h, rest)
	if err != nil {
		return fun.Raise(err)
	}
	if entry, err := mod.PEMEntry(h, c.Name, "CERTIFICATE REQUEST"); err == nil && sameRequest(entry, contents) {
		contents = entry
	}
	file.Set("contents", contents)
	ret := fileManaged(ctx, c, file, c.Test)
	if changesOf(ret).Len() == 0 {
		return ret
	}
	now, err := mod.CSRInfoV1(h, contents)
	if err != nil {
		return fun.Raise(err)
	}
	if !value.Equal(old, now) {
		ret.Changes = value.MapOf("Old", old, "New", now)
	}
	return ret
}

// sameRequest reports whether two requests differ in nothing but the signature, and
// that of the first is valid.
func sameRequest(a, b string) bool {
	x, _, err1 := pki.LoadCSR([]byte(a))
	y, _, err2 := pki.LoadCSR([]byte(b))
	return err1 == nil && err2 == nil && string(x.RawTBSCertificateRequest) == string(y.RawTBSCertificateRequest) &&
		x.SignatureAlgorithm == y.SignatureAlgorithm && x.CheckSignature() == nil
}

type pemManagedArgs struct {
	_      string      `arg:"name,required,path" doc:"file to manage"`
	Text   value.Value `arg:"text,required,secret" doc:"PEM text, or a file that has it"`
	Backup value.Value `arg:"backup,str|bool" default:"False" doc:"minion: keep a copy of the replaced file"`
	ownFileArgs
	_ fun.Kwargs
}

// pemManaged manages a PEM block. Salt: states/x509.py pem_managed. Difference:
// a private key is not part of the changes.
func pemManaged(ctx context.Context, c *fun.Call, a *pemManagedArgs) fun.Ret {
	file, _ := split(c, fileArgsV1)
	if !value.Truth(a.Backup) {
		file.Delete("backup")
	}
	entry, err := mod.PEMEntry(c.Env.Host, a.Text, "")
	if err != nil {
		return fun.Raise(err)
	}
	return writePEM(ctx, c, file, entry)
}

// A certState is a certificate that the older module manages.
type certState struct {
	c    *fun.Call
	a    *certificateManagedArgs
	name string
	kw   *value.Map
	file *value.Map
}

type certificateManagedArgs struct {
	_             string      `arg:"name,required,path" doc:"file to manage"`
	DaysRemaining int64       `arg:"days_remaining" default:"90" doc:"make it again where fewer days are left; 0: never for that reason"`
	AppendCerts   value.Value `arg:"append_certs" doc:"certificates that follow it: a list of files or PEM texts"`
	_             string      `arg:"ca_server,kw" doc:"machine that signs, by publish.publish"`
	Path          string      `arg:"path,kw,path" doc:"file to manage, instead of name"`
	mod.CertArgs
	mod.SignArgs
	mod.SubjectArgs
	mod.OlderSubjectArgs
	mod.ExtArgs
	fileManagedArgs
	_ fun.Kwargs
}

// certificateManaged manages a certificate. Salt: states/x509.py certificate_managed.
// Difference: test mode tells what would be done, where Salt fails.
func certificateManaged(ctx context.Context, c *fun.Call, a *certificateManagedArgs) fun.Ret {
	file, rest := split(c, fileArgsV1)
	s := &certState{c: c, a: a, name: c.Name, kw: rest, file: file}
	if p := a.Path; p != "" {
		s.name, s.c = p, named(c, p)
	}
	for _, k := range []string{"path", "days_remaining", "append_certs"} {
		rest.Delete(k)
	}
	switch {
	case s.kw.Has("ca_server") && !s.kw.Has("signing_policy"):
		return fun.Raise(value.Raise("salt.exceptions.SaltInvocationError", "signing_policy must be specified if ca_server is."))
	case !s.kw.Has("public_key") && !s.kw.Has("signing_private_key") && !s.kw.Has("csr"):
		return fun.Raise(value.Raise("salt.exceptions.SaltInvocationError", "public_key, signing_private_key, or csr must be specified."))
	}
	reason, current, err := s.check(ctx)
	if err != nil {
		return fun.Raise(err)
	}
	if reason == "" {
		return s.write(ctx)
	}
	if c.Test {
		s.file.Set("contents", "")
		ret := s.write(ctx)
		ret.Result, ret.Comment = fun.WouldChange, "Certificate "+s.name+" will be created"
		changesOf(ret).Set("Status", value.MapOf("Old", reason, "New", "Certificate will be valid and up to date"))
		return ret
	}
	contents, ret := s.contents(ctx)
	if ret != nil {
		return *ret
	}
	s.file.Set("contents", contents)
	out := s.write(ctx)
	if out.Result != fun.OK {
		return out
	}
	info, err := mod.InfoV1(c.Env, s.name)
	if err != nil {
		return fun.Raise(err)
	}
	changes := changesOf(out)
	changes.Set("Certificate", value.MapOf("Old", current, "New", info))
	changes.Set("Status", value.MapOf("Old", reason, "New", "Certificate is valid and up to date"))
	return out
}

// named returns the call under another name.
func named(c *fun.Call, name string) *fun.Call {
	n := *c
	n.Name = name
	return &n
}

// write runs file.managed and reports its changes as those of the certificate.
func (s *certState) write(ctx context.Context) fun.Ret {
	r := fileManaged(ctx, s.c, s.file, s.c.Test)
	if r.Err != nil {
		return r
	}
	ret := fun.Ret{Name: s.name, Result: r.Result, Comment: r.Comment, Changes: value.NewMap(3)}
	if r.Result != fun.Failed {
		ret.Comment = "Certificate " + s.name + " is valid and up to date"
	}
	if r.Result == fun.WouldChange {
		ret.Comment = r.Comment
	}
	if ch := changesOf(r); ch.Len() > 0 {
		ret.Changes.(*value.Map).Set("File", ch)
	}
	return ret
}

// check returns why the certificate has to be made again, "" where it has not, and
// what is in the file.
func (s *certState) check(ctx context.Context) (reason string, current *value.Map, err error) {
	none := value.NewMap(0)
	env := s.c.Env
	if !mod.IsFile(env.Host, s.name) {
		return s.name + " does not exist", none, nil
	}
	current, err = mod.InfoV1(env, s.name)
	if err != nil {
		return s.name + " is not a valid certificate: " + err.Error(), none, nil
	}
	if s.kw.Has("ca_server") {
		return s.checkRemote(current)
	}
	want, err := mod.TestCertV1(ctx, env, s.kw)
	if err != nil {
		if bad := (*fun.InvocationError)(nil); errors.As(err, &bad) {
			return s.name + " is not a valid certificate: " + err.Error(), none, nil
		}
		return "", nil, err
	}
	ok, err := mod.VerifyV1(env.Host, s.name, want.At("Issuer Public Key"), nil)
	if err != nil {
		return "", nil, err
	}
	if !ok {
		if s.kw.Has("signing_private_key") {
			return "Certificate is not signed by private_signing_key", current, nil
		}
		return "Certificate is not signed by the requested issuer", current, nil
	}
	if diff := differs(current, want, s.kw.Has("serial_number")); len(diff) > 0 {
		return "Certificate properties are different: " + strings.Join(diff, ", "), current, nil
	}
	return s.renewal(current), current, nil
}

// checkRemote looks at a certificate of a remote CA as far as that is known here.
func (s *certState) checkRemote(current *value.Map) (string, *value.Map, error) {
	return s.renewal(current), current, nil
}

// renewal returns why a certificate has to be renewed, "" where it has not.
func (s *certState) renewal(current *value.Map) string {
	want := s.a.DaysRemaining
	left := int64(0)
	if t, err := time.Parse(pki.TimeFormat, current.Str("Not After")); err == nil {
		d := t.Sub(s.c.Env.Host.Now())
		left = int64(d / (24 * time.Hour))
		if d < 0 && d%(24*time.Hour) != 0 {
			left--
		}
	}
	if want == 0 || left >= want {
		return ""
	}
	return fmt.Sprintf("Certificate needs renewal: %d days remaining but it needs to be at least %d", left, want)
}

// contents makes the certificate and what follows it in the file.
func (s *certState) contents(ctx context.Context) (string, *fun.Ret) {
	raise := func(err error) (string, *fun.Ret) {
		r := fun.Raise(err)
		return "", &r
	}
	text, err := mod.CertTextV1(ctx, s.c.Env, s.kw)
	if err != nil {
		return raise(err)
	}
	for _, f := range fun.ItemsOf(s.a.AppendCerts) {
		entry, err := mod.PEMEntry(s.c.Env.Host, f, "CERTIFICATE")
		if err != nil {
			r := fun.Ret{Name: s.name, Comment: value.Str(f) + " is not a valid certificate file, cannot append it to the certificate " + s.name + ".\nThe error returned by the x509 module was:\n" + err.Error()}
			return "", &r
		}
		text += entry
	}
	return text, nil
}

// differs returns the properties of a certificate that are not as wanted.
func differs(have, want *value.Map, serial bool) []string {
	var diff []string
	for k, w := range want.All() {
		switch k {
		case "Not Before", "Not After", "SHA1 Finger Print", "SHA-256 Finger Print", "MD5 Finger Print", "Issuer Public Key":
			continue
		case "Serial Number":
			if !serial {
				continue
			}
		case "Subject Hash", "Issuer Hash":
			continue // differs where the name does
		case "X509v3 Extensions":
			h, _ := have.At(k).(*value.Map)
			if h == nil || !value.Equal(comparable(h, serial), comparable(w.(*value.Map), serial)) {
				diff = append(diff, value.Str(k))
			}
			continue
		}
		if !value.Equal(have.At(k), w) {
			diff = append(diff, value.Str(k))
		}
	}
	if have.Has("X509v3 Extensions") && !want.Has("X509v3 Extensions") {
		diff = append(diff, "X509v3 Extensions")
	}
	return diff
}

// comparable returns extensions without what differs between certificates of the
// same arguments.
func comparable(exts *value.Map, serial bool) *value.Map {
	text, ok := exts.At("authorityKeyIdentifier").(string)
	if !ok {
		return exts
	}
	out := exts.Copy()
	text = regexp.MustCompile(`DirName:[^\n]+`).ReplaceAllString(text, "Dirname:--")
	if !serial {
		text = regexp.MustCompile(`serial:(?:[0-9A-F]{2}:)*[0-9A-F]{2}`).ReplaceAllString(text, "serial:--")
	}
	out.Set("authorityKeyIdentifier", text)
	return out
}

type crlManagedArgs struct {
	_                           string        `arg:"name,required,path" doc:"file to manage"`
	SigningPrivateKey           value.Value   `arg:"signing_private_key,required,secret" doc:"private key that signs: a file, PEM text or bytes"`
	SigningPrivateKeyPassphrase value.Value   `arg:"signing_private_key_passphrase,secret,str" doc:"passphrase of the key that signs"`
	SigningCert                 value.Value   `arg:"signing_cert" doc:"certificate of the key that signs; default: the result signs itself"`
	Revoked                     []value.Value `arg:"revoked" doc:"revoked certificates: mappings with certificate or serial_number, and revocation_date, not_after, reason or extensions"`
	DaysValid                   value.Value   `arg:"days_valid,int" default:"100" unit:"days" doc:"days for which the result is valid"`
	Digest                      value.Value   `arg:"digest,str" default:"" doc:"digest of the signature"`
	DaysRemaining               int64         `arg:"days_remaining" default:"30" doc:"make it again where fewer days are left; 0: never for that reason"`
	IncludeExpired              value.Value   `arg:"include_expired,bool" default:"False" doc:"list certificates that have expired"`
	fileManagedArgs
	_ fun.Kwargs
}

// crlManaged manages a revocation list. Salt: states/x509.py crl_managed.
// Difference: an entry without revocation_date keeps the date that it has.
func crlManaged(ctx context.Context, c *fun.Call, a *crlManagedArgs) fun.Ret {
	file, _ := split(c, fileArgsV1)
	h := c.Env.Host
	remaining := a.DaysRemaining
	old := value.Value(c.Name + " does not exist.")
	var current *value.Map
	keep := false
	if mod.IsFile(h, c.Name) {
		old = c.Name + " is not a valid CRL."
		if m, err := mod.CRLInfoV1(h, c.Name); err == nil {
			old, current = m, m
		}
	}
	revoked, err := datesOf(c, a, current)
	if err != nil {
		return fun.Raise(err)
	}
	kw := value.MapOf("signing_private_key", a.SigningPrivateKey, "signing_private_key_passphrase", a.SigningPrivateKeyPassphrase,
		"signing_cert", a.SigningCert, "revoked", revoked, "days_valid", a.DaysValid, "digest", a.Digest, "include_expired", a.IncludeExpired)
	text, err := mod.CreateCRLV1(h, kw)
	if err != nil {
		return fun.Raise(err)
	}
	info, err := mod.CRLInfoV1(h, text)
	if err != nil {
		return fun.Raise(err)
	}
	if current != nil && value.Equal(undated(current), undated(info)) {
		left := -1.0
		if t, err := time.Parse(pki.TimeFormat, current.Str("Next Update")); err == nil {
			left = t.Sub(h.Now()).Hours() / 24
		}
		if left > 0 && (remaining == 0 || int64(left) > remaining) {
			if keep, err = mod.VerifyCRLV1(h, c.Name, a.SigningCert); err != nil {
				return fun.Raise(err)
			}
		}
	}
	if keep {
		if text, err = mod.PEMEntry(h, c.Name, "X509 CRL"); err != nil {
			return fun.Raise(err)
		}
	}
	file.Set("contents", text)
	ret := fileManaged(ctx, c, file, c.Test)
	if !keep && ret.Result != fun.Failed {
		ret.Changes = value.MapOf("Old", old, "New", info)
	}
	return ret
}

func undated(m *value.Map) *value.Map {
	out := m.Copy()
	out.Delete("Last Update")
	out.Delete("Next Update")
	return out
}

// datesOf returns the entries of revoked; one without revocation_date gets that of
// the list in the file.
func datesOf(c *fun.Call, a *crlManagedArgs, current *value.Map) (*value.List, error) {
	dates := map[string]value.Value{}
	if current != nil {
		if l := current.List("Revoked Certificates"); l != nil {
			for _, x := range l.Items {
				m, _ := x.(*value.Map)
				for k, v := range m.All() {
					if one, ok := v.(*value.Map); ok {
						dates[value.Str(k)] = one.At("Revocation Date")
					}
				}
			}
		}
	}
	out := value.NewList()
	for _, x := range a.Revoked {
		m, serial, err := mod.RevokedSerial(c.Env.Host, x)
		if err != nil {
			return nil, err
		}
		if d := dates[serial]; d != nil && !m.Has("revocation_date") {
			m.Set("revocation_date", d)
		}
		out.Append(m)
	}
	return out, nil
}
