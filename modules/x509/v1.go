package x509

import (
	"context"
	"crypto/sha1"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"path"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/x509/pki"
)

// subjectNames are the names of parts of a subject, in the order of the alphabet
// in which a certificate has them; csrNames those in the order of a request. Each
// points at Salt's short name.
var (
	subjectNames = []string{"C", "CN", "Email", "GN", "L", "O", "OU", "SN", "SP", "ST", "commonName", "emailAddress", "givenName", "localityName", "organizationName", "organizationUnitName", "serialNumber", "stateOrProvinceName", "surname"}
	csrNames     = []string{"C", "SP", "ST", "stateOrProvinceName", "L", "localityName", "O", "organizationName", "OU", "organizationUnitName", "CN", "commonName", "Email", "emailAddress", "serialNumber", "SN", "surname", "GN", "givenName"}
)

// shortName returns the name of x509_v2 for one of the older module.
func shortName(name string) string {
	switch name {
	case "SP", "stateOrProvinceName":
		return "ST"
	case "localityName":
		return "L"
	case "organizationName":
		return "O"
	case "organizationUnitName":
		return "OU"
	case "commonName":
		return "CN"
	case "Email", "emailAddress":
		return "MAIL"
	case "serialNumber":
		return "SERIALNUMBER"
	case "surname":
		return "SN"
	case "givenName":
		return "GN"
	}
	return name
}

// extsV1 are the extensions that the older module knows, by their names and the
// long names that it takes as well.
var extsV1 = [][2]string{
	{"basicConstraints", "X509v3 Basic Constraints"},
	{"keyUsage", "X509v3 Key Usage"},
	{"extendedKeyUsage", "X509v3 Extended Key Usage"},
	{"subjectKeyIdentifier", "X509v3 Subject Key Identifier"},
	{"authorityKeyIdentifier", "X509v3 Authority Key Identifier"},
	{"issuserAltName", "X509v3 Issuer Alternative Name"},
	{"issuerAltName", "issuerAltName"},
	{"authorityInfoAccess", "X509v3 Authority Info Access"},
	{"subjectAltName", "X509v3 Subject Alternative Name"},
	{"crlDistributionPoints", "X509v3 CRL Distribution Points"},
	{"issuingDistributionPoint", "X509v3 Issuing Distribution Point"},
	{"certificatePolicies", "X509v3 Certificate Policies"},
	{"policyConstraints", "X509v3 Policy Constraints"},
	{"inhibitAnyPolicy", "X509v3 Inhibit Any Policy"},
	{"nameConstraints", "X509v3 Name Constraints"},
	{"noCheck", "X509v3 OCSP No Check"},
	{"nsComment", "Netscape Comment"},
	{"nsCertType", "Netscape Certificate Type"},
}

// nameV1 makes a subject: what base has, then what the arguments say.
func nameV1(kw *value.Map, names []string, base pki.Name) ([]byte, error) {
	n := slices.Clone(base)
	for _, arg := range names {
		v := kw.At(arg)
		if v == nil {
			continue
		}
		a, err := pki.NewAttr(pki.AttrOID(shortName(arg)), value.Str(v))
		if err != nil {
			return nil, invalidf(arg + ": " + err.Error())
		}
		n = append(n, []pki.Attr{a})
	}
	der, err := n.DER()
	return der, invalid(err)
}

// modulusID is the identifier that the older module makes of an RSA key; it is that
// of RFC 5280 for others.
func modulusID(pub any, spki []byte) string {
	if m, ok := pki.Modulus(pub); ok {
		sum := sha1.Sum([]byte(m))
		return pki.PrettyHex(sum[:])
	}
	id, err := pki.KeyID(spki)
	if err != nil {
		return ""
	}
	return pki.PrettyHex(id)
}

// buildExtsV1 makes the extensions that the arguments and a request ask for.
func buildExtsV1(kw *value.Map, csr []pki.Extension, ctx pki.Context, keyID string) ([]pki.Extension, error) {
	var out []pki.Extension
	for _, names := range extsV1 {
		name := strings.Replace(names[0], "issuserAltName", "issuerAltName", 1)
		v := kw.At(names[0])
		if !value.Truth(v) {
			v = kw.At(names[1])
		}
		if !value.Truth(v) {
			id, _ := pki.ExtensionOID(name)
			e, ok := pki.Find(csr, id)
			if _, have := pki.Find(out, id); ok && !have {
				out = append(out, e)
			}
			continue
		}
		val, critical := v, false
		if s, ok := v.(string); ok {
			if s, critical = strings.CutPrefix(s, "critical "); critical {
				s = strings.TrimSpace(s)
			}
			if name == "subjectKeyIdentifier" {
				s = strings.Replace(s, "hash", keyID, 1)
			}
			val = s
		}
		if ctx.CA == nil && ctx.CAKey == nil && name == "authorityKeyIdentifier" {
			continue
		}
		e, err := pki.Build(name, val, ctx)
		if err != nil {
			return nil, invalidf("Cannot create X509_Extension with name '" + name + "' and value '" + value.Str(val) + "': " + err.Error())
		}
		e.Critical = e.Critical || critical
		out = append(out, e)
	}
	return out, nil
}

func orDefault(kw *value.Map, key string, def int64) int64 {
	if n, ok := value.AsInt(kw.At(key)); ok {
		return n
	}
	return def
}

// publicV1 returns the public key of a key, certificate or request.
func publicV1(h host.Host, v value.Value, pass *string) (any, error) {
	entry, err := PEMEntry(h, v, "")
	if err != nil {
		return nil, err
	}
	return PublicOf(h, entry, pass)
}

// keyV1 reads a private key in PEM.
func keyV1(h host.Host, v value.Value, pass *string) (*pki.Key, error) {
	data, err := textOrFile(h, v)
	if err != nil {
		return nil, err
	}
	if _, err := pki.Entry(data, "(?:RSA |EC |ENCRYPTED )?PRIVATE KEY"); err != nil {
		return nil, invalid(err)
	}
	k, _, err := pki.LoadKey([]byte(data), pass)
	if errors.Is(err, pki.ErrUnencrypted) {
		k, _, err = pki.LoadKey([]byte(data), nil)
	}
	return k, invalid(err)
}

func certV1(h host.Host, v value.Value) (*x509.Certificate, error) {
	entry, err := PEMEntry(h, v, "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	l, err := pki.LoadCert([]byte(entry), nil)
	if err != nil {
		return nil, invalid(err)
	}
	return l.Cert, nil
}

func csrV1(h host.Host, v value.Value) (*x509.CertificateRequest, error) {
	entry, err := PEMEntry(h, v, "CERTIFICATE REQUEST")
	if err != nil {
		return nil, err
	}
	r, _, err := pki.LoadCSR([]byte(entry))
	return r, invalid(err)
}

// validityV1 sets the dates of a certificate.
func validityV1(h host.Host, t *pki.Template, kw *value.Map) error {
	read := func(key string, def time.Time) (time.Time, error) {
		v := kw.At(key)
		if v == nil {
			return def, nil
		}
		at, err := time.Parse(pki.TimeFormat, value.Str(v))
		if err != nil {
			return at, invalidf(key + ": " + value.Str(v) + " is not in required format %Y-%m-%d %H:%M:%S")
		}
		return at, nil
	}
	now := h.Now().UTC()
	var err error
	if t.NotBefore, err = read("not_before", now); err != nil {
		return err
	}
	end, err := after(now, orDefault(kw, "days_valid", 365))
	if err != nil {
		return err
	}
	t.NotAfter, err = read("not_after", end)
	return err
}

// CreateCertV1 makes a certificate of the arguments of the older module.
func CreateCertV1(ctx context.Context, env *fun.Env, kw *value.Map) (*x509.Certificate, error) {
	h := env.Host
	kw = kw.Copy()
	policy, err := Policy(ctx, env, kw.At("signing_policy"))
	if err != nil {
		return nil, err
	}
	kw.Update(policy)
	signerSrc := kw.At("signing_private_key")
	if signerSrc == nil {
		return nil, invalidf("signing_private_key is required")
	}
	signerPass := Pass(kw.At("signing_private_key_passphrase"))
	t := &pki.Template{Version: int(orDefault(kw, "version", 3))}
	if err := serialV1(t, kw); err != nil {
		return nil, err
	}
	if err := validityV1(h, t, kw); err != nil {
		return nil, err
	}
	pubSrc, pubPass := kw.At("public_key"), Pass(kw.At("public_key_passphrase"))
	if pubSrc == nil {
		pubSrc, pubPass = signerSrc, signerPass
	}
	var base pki.Name
	var csrExts []pki.Extension
	if v := kw.At("csr"); v != nil {
		csr, err := csrV1(h, v)
		if err != nil {
			return nil, err
		}
		pubSrc, csrExts = v, pki.RequestExtensions(csr)
		if base, err = pki.ParseName(csr.RawSubject); err != nil {
			return nil, invalid(err)
		}
	}
	pub, err := publicV1(h, pubSrc, pubPass)
	if err != nil {
		return nil, err
	}
	if t.PublicKey, err = pki.MarshalPublic(pub); err != nil {
		return nil, invalid(err)
	}
	if t.Subject, err = nameV1(kw, subjectNames, base); err != nil {
		return nil, err
	}
	t.Issuer = t.Subject
	extCtx := pki.Context{Subject: t.PublicKey}
	issuerKey := pub
	if v := kw.At("signing_cert"); value.Truth(v) {
		ca, err := certV1(h, v)
		if err != nil {
			return nil, err
		}
		t.Issuer, extCtx.CA, issuerKey = ca.RawSubject, CAInfo(ca), ca.PublicKey
	}
	if err := extsOf(t, kw, csrExts, extCtx, pub); err != nil {
		return nil, err
	}
	signer, err := keyV1(h, signerSrc, signerPass)
	if err != nil {
		return nil, err
	}
	if !pki.SamePublic(signer.Public(), issuerKey) {
		return nil, invalidf("signing_private_key: " + pki.Hide(value.Str(signerSrc)) + " does no match signing_cert: " + text(kw, "signing_cert", ""))
	}
	der, err := t.Sign(signer, text(kw, "algorithm", "sha256"))
	if err != nil {
		return nil, invalid(err)
	}
	cert, err := x509.ParseCertificate(der)
	return cert, invalid(err)
}

// extsOf sets the extensions. A certificate that signs itself is its own issuer.
func extsOf(t *pki.Template, kw *value.Map, csr []pki.Extension, ctx pki.Context, pub any) error {
	id := modulusID(pub, t.PublicKey)
	if ctx.CA == nil {
		self := &pki.CAInfo{Issuer: t.Subject, Serial: pki.Integer(t.Serial), PublicKey: t.PublicKey}
		for _, key := range []string{"subjectKeyIdentifier", "X509v3 Subject Key Identifier"} {
			if s, ok := kw.At(key).(string); ok {
				e, err := pki.Build("subjectKeyIdentifier", strings.Replace(s, "hash", id, 1), ctx)
				if err == nil {
					self.Exts = append(self.Exts, e)
				}
			}
		}
		ctx.CA = self
	}
	var err error
	t.Exts, err = buildExtsV1(kw, csr, ctx, id)
	return err
}

// serialV1 sets the serial number: the given one, or a random one.
func serialV1(t *pki.Template, kw *value.Map) error {
	v := kw.At("serial_number")
	if v == nil {
		bits := orDefault(kw, "serial_bits", 64)
		if bits < 1 || bits > 160 {
			return invalidf("serial_bits must be a number from 1 to 160")
		}
		t.Serial = pki.RandomSerial(int(bits))
		kw.Set("serial_number", pki.PrettySerial(t.Serial))
	} else {
		n, err := pki.ParseSerial(value.Str(v))
		if err != nil {
			return invalid(err)
		}
		t.Serial = n
	}
	// the older module keeps serial numbers below 2**63
	limit := new(big.Int).SetUint64(1<<63 - 1)
	if t.Serial.Cmp(limit) >= 0 {
		t.Serial.Mod(t.Serial, limit)
	}
	return nil
}

func eitherPathOrText(path string, asText bool) error {
	switch {
	case path == "" && !asText:
		return invalidf("Either path or text must be specified.")
	case path != "" && asText:
		return invalidf("Either path or text must be specified, not both.")
	}
	return nil
}

// given returns the arguments of a call that are not None, unlike [Given] with the
// names that they were given by.
func given(c *fun.Call) *value.Map {
	out := value.NewMap(c.Args.Len() + c.Kw.Len())
	for k, v := range c.Args.All() {
		if v != nil {
			out.Set(k, v)
		}
	}
	for k, v := range c.Kw.All() {
		if v != nil {
			out.Set(k, v)
		}
	}
	return out
}

type createCertificateArgs struct {
	Path      string `arg:"path,path" doc:"file to write; default: return the result"`
	Text      bool   `arg:"text" default:"False" doc:"return PEM text instead of writing a file"`
	Overwrite bool   `arg:"overwrite" default:"True" doc:"replace the whole file; False keeps a private key and DH parameters in it"`
	_         string `arg:"ca_server" doc:"machine that signs, by publish.publish"`
	CertArgs
	SignArgs
	SubjectArgs
	OlderSubjectArgs
	ExtArgs
	_ fun.Kwargs
}

func createCertificate(ctx context.Context, c *fun.Call, a *createCertificateArgs) (fun.Result, error) {
	kw := given(c)
	if value.Truth(kw.At("testrun")) {
		m, err := TestCertV1(ctx, c.Env, kw)
		if err != nil {
			return fun.Result{}, err
		}
		return fun.Value(m)
	}
	if err := eitherPathOrText(a.Path, a.Text); err != nil {
		return fun.Result{}, err
	}
	pemText, err := CertTextV1(ctx, c.Env, kw)
	if err != nil {
		return fun.Result{}, err
	}
	if file := a.Path; file != "" {
		said, err := writePEM(c.Env.Host, pemText, file, a.Overwrite, "CERTIFICATE")
		return fun.Result{Value: said}, err
	}
	return fun.Value(pemText)
}

// TestCertV1 returns what a certificate of some arguments would be.
func TestCertV1(ctx context.Context, env *fun.Env, kw *value.Map) (*value.Map, error) {
	cert, err := CreateCertV1(ctx, env, kw)
	if err != nil {
		return nil, err
	}
	m, err := certInfoV1(env, cert)
	if err != nil {
		return nil, err
	}
	policy, err := Policy(ctx, env, kw.At("signing_policy"))
	if err != nil {
		return nil, err
	}
	all := kw.Copy()
	all.Update(policy)
	pub, err := publicV1(env.Host, all.At("signing_private_key"), Pass(all.At("signing_private_key_passphrase")))
	if err != nil {
		return nil, err
	}
	s, err := publicPEM(pub)
	m.Set("Issuer Public Key", value.Bytes(s))
	return m, invalid(err)
}

// CertTextV1 makes a certificate in PEM, with a copy in copypath. A ca_server signs
// it where one is named.
func CertTextV1(ctx context.Context, env *fun.Env, kw *value.Map) (string, error) {
	if server := text(kw, "ca_server", ""); server != "" {
		return remoteV1(ctx, env, server, kw)
	}
	cert, err := CreateCertV1(ctx, env, kw)
	if err != nil {
		return "", err
	}
	pemText := pki.EncodePEM("CERTIFICATE", cert.Raw)
	policy, err := Policy(ctx, env, kw.At("signing_policy"))
	if err != nil {
		return "", err
	}
	all := kw.Copy()
	all.Update(policy)
	if dir := text(all, "copypath", ""); dir != "" {
		name := pki.PrettySerial(cert.SerialNumber) + ".crt"
		if all.At("prepend_cn") == true {
			name = strings.ReplaceAll(text(all, "CN", "None"), "/", "_") + "-" + name
		}
		if _, err := writePEM(env.Host, pemText, path.Join(dir, name), true, "CERTIFICATE"); err != nil {
			return "", err
		}
	}
	return pemText, nil
}

func remoteV1(ctx context.Context, env *fun.Env, server string, kw *value.Map) (string, error) {
	kw = kw.Copy()
	if kw.At("signing_policy") == nil {
		return "", invalidf("signing_policy must be specifiedif requesting remote certificate from ca_server " + server + ".")
	}
	if v := kw.At("csr"); v != nil {
		entry, err := PEMEntry(env.Host, v, "CERTIFICATE REQUEST")
		if err != nil {
			return "", err
		}
		kw.Set("csr", strings.ReplaceAll(entry, "\n", ""))
	}
	if v := kw.At("public_key"); v != nil {
		pub, err := publicV1(env.Host, v, Pass(kw.At("public_key_passphrase")))
		if err != nil {
			return "", err
		}
		s, err := publicPEM(pub)
		if err != nil {
			return "", err
		}
		kw.Set("public_key", strings.ReplaceAll(s, "\n", ""))
	}
	for _, k := range []string{"ca_server", "path", "text", "overwrite", "public_key_passphrase"} {
		kw.Delete(k)
	}
	res, err := publish(ctx, env, server, "x509.sign_remote_certificate", kw)
	if err != nil {
		return "", err
	}
	m, _ := res.(value.Mapping)
	if m == nil || m.Len() == 0 {
		return "", invalidf("ca_server did not respond salt master must permit peers to call the sign_remote_certificate function.")
	}
	v, _ := m.Get(server)
	entry, err := pki.Entry(value.Str(v), "CERTIFICATE")
	if err != nil {
		return "", invalidf(value.Str(v))
	}
	return entry, nil
}

// CreateCSRV1 makes a request of the arguments of the older module.
func CreateCSRV1(h host.Host, kw *value.Map) (string, error) {
	private, public := kw.At("private_key"), kw.At("public_key")
	if private == nil {
		private = public
	}
	if private == nil {
		return "", invalidf("private_key is required")
	}
	if public == nil {
		public = private
	}
	privatePass, publicPass := Pass(kw.At("private_key_passphrase")), Pass(kw.At("public_key_passphrase"))
	if privatePass == nil {
		privatePass = publicPass
	}
	if publicPass == nil {
		publicPass = privatePass
	}
	pub, err := publicV1(h, public, publicPass)
	if err != nil {
		return "", err
	}
	spki, err := pki.MarshalPublic(pub)
	if err != nil {
		return "", invalid(err)
	}
	r := &pki.Request{Version: int(orDefault(kw, "version", 3)) - 1}
	if r.Subject, err = nameV1(kw, csrNames, nil); err != nil {
		return "", err
	}
	if r.Exts, err = buildExtsV1(kw, nil, pki.Context{Subject: spki}, modulusID(pub, spki)); err != nil {
		return "", err
	}
	key, err := keyV1(h, private, privatePass)
	if err != nil {
		return "", err
	}
	der, err := r.Sign(key, spki, text(kw, "algorithm", "sha256"))
	return pki.EncodePEM("CERTIFICATE REQUEST", der), invalid(err)
}

type createCSRArgs struct {
	Path string `arg:"path,path" doc:"file to write; default: return the result"`
	Text bool   `arg:"text" default:"False" doc:"return PEM text instead of writing a file"`
	RequestArgs
	SignArgs
	SubjectArgs
	OlderSubjectArgs
	ExtArgs
	_ fun.Kwargs
}

func createCSR(_ context.Context, c *fun.Call, a *createCSRArgs) (fun.Result, error) {
	if err := eitherPathOrText(a.Path, a.Text); err != nil {
		return fun.Result{}, err
	}
	csr, err := CreateCSRV1(c.Env.Host, given(c))
	if err != nil {
		return fun.Result{}, err
	}
	if file := a.Path; file != "" {
		said, err := writePEM(c.Env.Host, csr, file, true, "CERTIFICATE REQUEST")
		return fun.Result{Value: said}, err
	}
	return fun.Value(value.Bytes(csr))
}

// CreateKeyV1 makes an RSA key in PKCS #1 as PEM, encrypted where there is a
// passphrase.
func CreateKeyV1(bits int64, pass *string, cipher string) (string, error) {
	if bits < 1024 || bits > 16384 {
		return "", invalidf("bits must be a number from 1024 to 16384")
	}
	k, err := pki.GenerateRSA(int(bits))
	if err != nil {
		return "", invalid(err)
	}
	der, err := k.PKCS1()
	if err != nil {
		return "", invalid(err)
	}
	if pass == nil {
		return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: der})), nil
	}
	s, err := pki.EncryptPEM("RSA PRIVATE KEY", der, *pass, cipher)
	if err != nil {
		return "", invalidf("not such cipher " + cipher)
	}
	return s, nil
}

type createPrivateKeyArgs struct {
	_          fun.Arguments
	Path       string      `arg:"path,path" doc:"file to write; default: return the result"`
	Text       bool        `arg:"text" default:"False" doc:"return PEM text instead of writing a file"`
	Bits       int64       `arg:"bits" default:"2048" doc:"size of the key"`
	Passphrase value.Value `arg:"passphrase,secret,str" doc:"passphrase of the private key"`
	Cipher     string      `arg:"cipher" default:"aes_128_cbc" doc:"cipher of an encrypted key: aes_128_cbc, aes_192_cbc, aes_256_cbc, des_ede3_cbc or des_cbc"`
	_          bool        `arg:"verbose" default:"True" doc:"accepted; nothing is printed while the key is made"`
}

func createPrivateKey(_ context.Context, c *fun.Call, a *createPrivateKeyArgs) (fun.Result, error) {
	if err := eitherPathOrText(a.Path, a.Text); err != nil {
		return fun.Result{}, err
	}
	key, err := CreateKeyV1(a.Bits, Pass(a.Passphrase), a.Cipher)
	if err != nil {
		return fun.Result{}, err
	}
	if file := a.Path; file != "" {
		said, err := writePEM(c.Env.Host, key, file, true, pki.KeyPEM)
		return fun.Result{Value: said}, err
	}
	return fun.Value(key)
}

// CreateCRLV1 makes a revocation list of the arguments of the older module.
func CreateCRLV1(h host.Host, kw *value.Map) (string, error) {
	ca, err := certV1(h, kw.At("signing_cert"))
	if err != nil {
		return "", err
	}
	key, err := keyV1(h, kw.At("signing_private_key"), Pass(kw.At("signing_private_key_passphrase")))
	if err != nil {
		return "", err
	}
	now := h.Now().UTC()
	crl := &pki.CRL{Version: 1, Issuer: ca.RawSubject, LastUpdate: now}
	if crl.NextUpdate, err = after(now, orDefault(kw, "days_valid", 100)); err != nil {
		return "", err
	}
	for _, item := range items(kw.At("revoked")) {
		m, err := flatRevoked(item)
		if err != nil {
			return "", err
		}
		if exts := m.Map("extensions"); exts != nil {
			if reason, ok := exts.At("CRLReason").(string); ok {
				exts.Set("CRLReason", strings.Replace(reason, "CACompromise", "cACompromise", 1))
			}
		}
		r, skip, err := revokedOf(h, m, now, value.Truth(kw.At("include_expired")), ca)
		if err != nil {
			return "", err
		}
		if !skip {
			crl.Revoked = append(crl.Revoked, r)
		}
		if len(r.Exts) > 0 {
			crl.Version = 2 // extensions of entries need it
		}
	}
	digest := text(kw, "digest", "")
	if digest == "" {
		digest = "sha256"
	}
	der, err := crl.Sign(key, digest)
	return pki.EncodePEM("X509 CRL", der), invalid(err)
}

type createCRLArgs struct {
	_    fun.Arguments
	Path string      `arg:"path,path" doc:"file to write; default: return the result"`
	Text bool        `arg:"text" default:"False" doc:"return PEM text instead of writing a file"`
	_    value.Value `arg:"signing_private_key,secret" doc:"private key that signs: a file, PEM text or bytes"`
	_    string      `arg:"signing_private_key_passphrase,secret" doc:"passphrase of the key that signs"`
	_    value.Value `arg:"signing_cert" doc:"certificate of the key that signs; default: the result signs itself"`
	_    value.Value `arg:"revoked,list" doc:"revoked certificates: mappings with certificate or serial_number, and revocation_date, not_after, reason or extensions"`
	_    bool        `arg:"include_expired" default:"False" doc:"list certificates that have expired"`
	_    int64       `arg:"days_valid" default:"100" unit:"days" doc:"days for which the result is valid"`
	_    string      `arg:"digest" default:"" doc:"digest of the signature"`
}

func createCRL(_ context.Context, c *fun.Call, a *createCRLArgs) (fun.Result, error) {
	if a.Path == "" && !a.Text {
		return fun.Result{}, invalidf("Either path or text must be specified.")
	}
	crl, err := CreateCRLV1(c.Env.Host, given(c))
	if err != nil {
		return fun.Result{}, err
	}
	if a.Text {
		return fun.Value(value.Bytes(crl))
	}
	said, err := writePEM(c.Env.Host, crl, a.Path, true, "X509 CRL")
	return fun.Result{Value: said}, err
}
