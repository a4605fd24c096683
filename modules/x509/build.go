package x509

import (
	"context"
	"crypto"
	"crypto/x509"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/x509/pki"
)

// A renamed is a name of an argument and its older ones.
type renamed struct {
	name string
	old  []string
}

var olderNames = []renamed{
	{"CN", []string{"commonName"}},
	{"L", []string{"localityName"}},
	{"ST", []string{"stateOrProvinceName"}},
	{"O", []string{"organizationName"}},
	{"OU", []string{"organizationUnitName"}},
	{"GN", []string{"givenName"}},
	{"SN", []string{"surname"}},
	{"MAIL", []string{"Email", "emailAddress"}},
	{"SERIALNUMBER", []string{"serialNumber"}},
	{"basicConstraints", []string{"X509v3 Basic Constraints"}},
	{"keyUsage", []string{"X509v3 Key Usage"}},
	{"extendedKeyUsage", []string{"X509v3 Extended Key Usage"}},
	{"subjectKeyIdentifier", []string{"X509v3 Subject Key Identifier"}},
	{"authorityKeyIdentifier", []string{"X509v3 Authority Key Identifier"}},
	{"issuerAltName", []string{"X509v3 Issuer Alternative Name", "issuserAltName"}},
	{"authorityInfoAccess", []string{"Authority Information Access"}},
	{"subjectAltName", []string{"X509v3 Subject Alternative Name"}},
	{"crlDistributionPoints", []string{"X509v3 CRL Distribution Points"}},
	{"issuingDistributionPoint", []string{"X509v3 Issuing Distribution Point"}},
	{"certificatePolicies", []string{"X509v3 Certificate Policies"}},
	{"policyConstraints", []string{"X509v3 Policy Constraints"}},
	{"inhibitAnyPolicy", []string{"X509v3 Inhibit Any Policy"}},
	{"nameConstraints", []string{"X509v3 Name Constraints"}},
	{"noCheck", []string{"OCSP No Check"}},
	{"tlsfeature", []string{"TLS Feature"}},
	{"nsComment", []string{"Netscape Comment"}},
	{"nsCertType", []string{"Netscape Certificate Type"}},
	{"cRLNumber", []string{"X509v3 CRLNumber"}},
	{"deltaCRLIndicator", []string{"X509v3 Delta CRL Indicator"}},
	{"freshestCRL", []string{"x509v3 Freshest CRL"}},
}

// certExts are the extensions of certificates and requests; crlExts those of
// revocation lists.
var (
	notInCerts   = []string{"issuingDistributionPoint", "cRLNumber", "deltaCRLIndicator", "freshestCRL"}
	notInCSRs    = []string{"authorityInfoAccess", "authorityKeyIdentifier", "issuerAltName", "crlDistributionPoints"}
	crlExts      = []string{"authorityKeyIdentifier", "authorityInfoAccess", "cRLNumber", "deltaCRLIndicator", "freshestCRL", "issuerAltName", "issuingDistributionPoint"}
	crlEntryExts = []string{"certificateIssuer", "CRLReason", "invalidityDate"}
)

// Rename gives arguments that have an older name the current one.
func Rename(kw *value.Map) {
	for _, r := range olderNames {
		for _, old := range r.old {
			if v, ok := kw.Get(old); ok {
				kw.Delete(old)
				kw.Set(r.name, v)
			}
		}
	}
}

// Given returns the arguments of a call that are not None, with those that are
// not declared.
func Given(c *fun.Call) *value.Map {
	out := value.NewMap(c.Args.Len() + c.Kw.Len())
	for k, v := range c.Args.All() {
		if v != nil {
			out.Set(k, v)
		}
	}
	out.Update(c.Kw)
	Rename(out)
	return out
}

// digests are the digests that x509_v2 signs with.
var digests = []string{"sha1", "sha224", "sha256", "sha384", "sha512", "sha512_224", "sha512_256", "sha3_224", "sha3_256", "sha3_384", "sha3_512"}

func checkDigest(d string) error {
	if !slices.Contains(digests, strings.ToLower(d)) {
		return fun.Errorf("Invalid value '%s' for digest. Valid: sha1, sha224, sha256, sha384, sha512, sha512_224, sha512_256, sha3_224, sha3_256, sha3_384, sha3_512", d)
	}
	return nil
}

// text returns an argument as text, or def.
func text(kw *value.Map, key, def string) string {
	if v := kw.At(key); v != nil {
		return value.Str(v)
	}
	return def
}

// A Cert is a certificate in the making.
type Cert struct {
	Template *pki.Template
	Signer   *pki.Key          // nil where a remote CA signs
	Private  *pki.Key          // the key of argument private_key; nil: not given
	Public   crypto.PublicKey  // of the subject
	CA       *x509.Certificate // nil where the certificate signs itself
	Digest   string
}

// BuildCert makes a certificate of the arguments of x509_v2; remote says that its
// signature comes from elsewhere.
func BuildCert(h host.Host, kw *value.Map, remote bool) (*Cert, error) {
	out := &Cert{Digest: text(kw, "digest", "sha256")}
	var err error
	if !remote {
		if out.Signer, err = LoadKey(h, kw.At("signing_private_key"), Pass(kw.At("signing_private_key_passphrase"))); err != nil {
			return nil, err
		}
	}
	t := &pki.Template{Version: 3}
	out.Template = t
	if t.Serial, err = serialOf(kw.At("serial_number")); err != nil {
		return nil, err
	}
	var csr *x509.CertificateRequest
	if v := kw.At("csr"); value.Truth(v) {
		if csr, err = loadCSR(h, v); err != nil {
			return nil, err
		}
	}
	if err := out.setKeys(h, kw, csr); err != nil {
		return nil, err
	}
	if t.PublicKey, err = pki.MarshalPublic(out.Public); err != nil {
		return nil, invalid(err)
	}
	if t.Subject, err = subjectOf(kw); err != nil {
		return nil, err
	}
	t.Issuer = t.Subject
	if out.CA != nil {
		t.Issuer = out.CA.RawSubject
	}
	if err := setValidity(h, t, kw); err != nil {
		return nil, err
	}
	ctx := pki.Context{Subject: t.PublicKey, CA: CAInfo(out.CA)}
	if out.CA == nil {
		ctx.CAKey = t.PublicKey
	}
	t.Exts, err = buildExts(kw, ctx, notInCerts)
	if err == nil && csr != nil {
		t.Exts = append(t.Exts, fromCSR(csr, t.Exts)...)
	}
	return out, err
}

// setKeys finds the public key of the subject and the issuer.
func (out *Cert) setKeys(h host.Host, kw *value.Map, csr *x509.CertificateRequest) error {
	var err error
	if v := kw.At("signing_cert"); value.Truth(v) {
		if out.CA, err = LoadCert(h, v, nil); err != nil {
			return err
		}
	}
	if v := kw.At("private_key"); value.Truth(v) {
		if out.Private, err = LoadKey(h, v, Pass(kw.At("private_key_passphrase"))); err != nil {
			return err
		}
	}
	switch {
	case out.CA == nil && out.Signer != nil:
		out.Public = out.Signer.Public()
	case out.Private != nil:
		out.Public = out.Private.Public()
	case value.Truth(kw.At("public_key")):
		if out.Public, err = loadPublic(h, kw.At("public_key")); err != nil {
			return err
		}
	case csr != nil:
		out.Public = csr.PublicKey
	default:
		return invalidf("This certificate is not self-signed (signing_cert is set) and thus needs public_key, private_key or csr to derive public key to sign")
	}
	if out.CA != nil && out.Signer != nil && !pki.SamePublic(out.CA.PublicKey, out.Signer.Public()) {
		return invalidf("Signing private key does not match the certificate's public key")
	}
	return nil
}

func subjectOf(kw *value.Map) ([]byte, error) {
	from := value.Value(kw)
	if s := kw.At("subject"); value.Truth(s) {
		from = s
	}
	n, err := pki.NameOf(from)
	if err != nil {
		return nil, fun.Errorf("%v", err)
	}
	der, err := n.DER()
	return der, invalid(err)
}

func setValidity(h host.Host, t *pki.Template, kw *value.Map) error {
	now := h.Now().UTC()
	t.NotBefore = now
	var err error
	if v := kw.At("not_before"); value.Truth(v) {
		if t.NotBefore, err = timeOf(v); err != nil {
			return err
		}
	}
	if v := kw.At("not_after"); value.Truth(v) {
		t.NotAfter, err = timeOf(v)
	} else {
		days := kw.At("days_valid")
		if days == nil {
			days = int64(30)
		}
		t.NotAfter, err = after(now, days)
	}
	if err == nil && t.NotAfter.Before(t.NotBefore) {
		return invalidf("The not valid after date must be after the not valid before date.")
	}
	return err
}

// buildExts makes the extensions among the arguments, in Salt's order.
func buildExts(kw *value.Map, ctx pki.Context, not []string) ([]pki.Extension, error) {
	var out []pki.Extension
	for _, name := range pki.ExtensionNames() {
		v := kw.At(name)
		if v == nil || slices.Contains(not, name) {
			continue
		}
		e, err := pki.Build(name, v, ctx)
		if err != nil {
			return nil, invalid(err)
		}
		out = append(out, e)
	}
	return out, nil
}

// fromCSR returns the extensions that a request adds to a certificate.
func fromCSR(csr *x509.CertificateRequest, have []pki.Extension) []pki.Extension {
	var out []pki.Extension
	all := pki.RequestExtensions(csr)
	for _, name := range pki.ExtensionNames() {
		if slices.Contains(notInCerts, name) || slices.Contains(notInCSRs, name) {
			continue
		}
		id, _ := pki.ExtensionOID(name)
		if _, has := pki.Find(have, id); has {
			continue
		}
		if e, ok := pki.Find(all, id); ok {
			out = append(out, e)
		}
	}
	return out
}

// Sign signs the certificate.
func (out *Cert) Sign() (*x509.Certificate, error) {
	der, err := out.Template.Sign(out.Signer, out.Digest)
	if err != nil {
		return nil, invalid(err)
	}
	c, err := x509.ParseCertificate(der)
	return c, invalid(err)
}

// BuildCSR makes a request of the arguments of x509_v2.
func BuildCSR(h host.Host, kw *value.Map) (*pki.Request, *pki.Key, error) {
	key, err := LoadKey(h, kw.At("private_key"), Pass(kw.At("private_key_passphrase")))
	if err != nil {
		return nil, nil, err
	}
	pub, err := pki.MarshalPublic(key.Public())
	if err != nil {
		return nil, nil, invalid(err)
	}
	r := &pki.Request{}
	if r.Subject, err = subjectOf(kw); err != nil {
		return nil, nil, err
	}
	r.Exts, err = buildExts(kw, pki.Context{Subject: pub}, append(slices.Clone(notInCerts), notInCSRs...))
	return r, key, err
}

// BuildCRL makes a revocation list of the arguments of x509_v2.
func BuildCRL(h host.Host, kw *value.Map) (*pki.CRL, *pki.Key, error) {
	var ca *x509.Certificate
	var err error
	if v := kw.At("signing_cert"); value.Truth(v) {
		if ca, err = LoadCert(h, v, nil); err != nil {
			return nil, nil, err
		}
	}
	key, err := LoadKey(h, kw.At("signing_private_key"), Pass(kw.At("signing_private_key_passphrase")))
	if err != nil {
		return nil, nil, err
	}
	if ca == nil {
		return nil, nil, invalidf("A CRL must have an issuer name: signing_cert is needed")
	}
	if !pki.SamePublic(ca.PublicKey, key.Public()) {
		return nil, nil, invalidf("Signing private key does not match the certificate's public key")
	}
	now := h.Now().UTC()
	crl := &pki.CRL{Version: 2, Issuer: ca.RawSubject, LastUpdate: now}
	days := kw.At("days_valid")
	if days == nil {
		days = int64(100)
	}
	if crl.NextUpdate, err = after(now, days); err != nil {
		return nil, nil, err
	}
	for _, item := range items(kw.At("revoked")) {
		r, skip, err := revokedOf(h, item, now, value.Truth(kw.At("include_expired")), ca)
		if err != nil {
			return nil, nil, err
		}
		if !skip {
			crl.Revoked = append(crl.Revoked, r)
		}
	}
	exts, _ := kw.At("extensions").(*value.Map)
	for name, v := range exts.All() {
		if !slices.Contains(crlExts, value.Str(name)) {
			continue
		}
		e, err := pki.Build(value.Str(name), v, pki.Context{CA: CAInfo(ca)})
		if err != nil {
			return nil, nil, invalid(err)
		}
		crl.Exts = append(crl.Exts, e)
	}
	return crl, key, nil
}

func items(v value.Value) []value.Value {
	switch x := v.(type) {
	case nil:
		return nil
	case *value.List:
		return x.Items
	}
	return []value.Value{v}
}

// flatRevoked returns what an entry of revoked says: a mapping, or the older form,
// a mapping of an id to a list of mappings.
func flatRevoked(v value.Value) (*value.Map, error) {
	m, ok := v.(*value.Map)
	if !ok {
		return nil, invalidf("each entry of revoked must be a mapping, not " + value.Repr(v))
	}
	out := m.Copy()
	if m.Len() == 1 {
		_, first := m.Entry(0)
		if l, ok := first.(*value.List); ok {
			out = value.NewMap(l.Len())
			for _, x := range l.Items {
				if one, ok := x.(*value.Map); ok {
					out.Update(one)
				}
			}
		}
	}
	if reason, ok := out.Get("reason"); ok {
		out.Delete("reason")
		exts := value.NewMap(1)
		if have := out.Map("extensions"); have != nil {
			exts = have.Copy()
		}
		exts.Set("CRLReason", reason)
		out.Set("extensions", exts)
	}
	return out, nil
}

// revokedOf makes an entry of a list that is made now; skip says that its
// certificate is known to have expired. An entry that tells no end of its
// certificate (not_after, certificate) is never skipped.
func revokedOf(h host.Host, v value.Value, now time.Time, expired bool, ca *x509.Certificate) (r pki.Revoked, skip bool, err error) {
	m, err := flatRevoked(v)
	if err != nil {
		return r, false, err
	}
	var notAfter time.Time // zero where nothing tells it
	if t := m.At("not_after"); t != nil {
		if notAfter, err = timeOf(t); err != nil {
			return r, false, err
		}
	}
	serial := m.At("serial_number")
	if v := m.At("certificate"); v != nil {
		c, err := LoadCert(h, v, nil)
		if err != nil {
			return r, false, err
		}
		serial, notAfter = c.SerialNumber, c.NotAfter
	}
	if !value.Truth(serial) {
		return r, false, invalidf("Need serial_number or certificate")
	}
	if r.Serial, err = serialOf(serial); err != nil {
		return r, false, err
	}
	if !expired && !notAfter.IsZero() && now.After(notAfter) {
		return r, true, nil
	}
	r.Date = now
	if d := m.At("revocation_date"); d != nil {
		if r.Date, err = timeOf(d); err != nil {
			return r, false, err
		}
	}
	for name, val := range m.Map("extensions").All() {
		if !slices.Contains(crlEntryExts, value.Str(name)) {
			continue
		}
		e, err := pki.Build(value.Str(name), val, pki.Context{CA: CAInfo(ca)})
		if err != nil {
			return r, false, invalid(err)
		}
		r.Exts = append(r.Exts, e)
	}
	return r, false, nil
}

// Policy returns a signing policy of the pillar or the configuration; an empty
// mapping where there is none. It is a copy.
func Policy(ctx context.Context, env *fun.Env, name value.Value) (*value.Map, error) {
	if name == nil || name == "" {
		return value.NewMap(0), nil
	}
	if env.Pillar != nil {
		if all, ok := env.Pillar.Get("x509_signing_policies"); ok {
			if p := policyIn(all, name); p.Len() > 0 {
				return p, nil
			}
		}
	}
	res, err := env.Exec(ctx, "config.get", nil, "x509_signing_policies", value.NewMap(0))
	if err != nil {
		return nil, err
	}
	return policyIn(res, name), nil
}

func policyIn(all, name value.Value) *value.Map {
	m, ok := all.(value.Mapping)
	if !ok {
		return value.NewMap(0)
	}
	out := value.NewMap(8)
	switch p, _ := m.Get(name); x := p.(type) {
	case value.Mapping:
		out.Update(x)
	case *value.List:
		for _, item := range x.Items {
			if one, ok := item.(value.Mapping); ok {
				out.Update(one)
			}
		}
	}
	return value.Clone(out).(*value.Map)
}

// MergePolicy lets a signing policy override the arguments of a certificate, also
// those of another name for the same thing.
func MergePolicy(policy, kw *value.Map) {
	if policy.Len() == 0 {
		return
	}
	Rename(policy)
	Rename(kw)
	if policy.Has("days_valid") {
		kw.Delete("not_after") // which would count more
	}
	if subject, ok := kw.Get("subject"); ok && subject != nil {
		mergeSubject(policy, kw, subject)
	}
	kw.Update(policy)
}

func mergeSubject(policy, kw *value.Map, subject value.Value) {
	for _, a := range pki.AttrNames() {
		if policy.Has(a) {
			kw.Delete("subject")
			return
		}
	}
	switch p := policy.At("subject").(type) {
	case *value.Map:
		if s, ok := subject.(*value.Map); ok {
			merged := s.Copy()
			merged.Update(p)
			kw.Set("subject", merged)
			policy.Delete("subject")
		}
	case *value.List:
		if s, ok := subject.(*value.List); ok {
			merged := p.Copy(s.Len())
			merged.Append(s.Items...)
			kw.Set("subject", merged)
			policy.Delete("subject")
		}
	}
}

// RevokedSerial returns what an entry of revoked says as a mapping, and the serial
// number that it revokes in hexadecimal digits.
func RevokedSerial(h host.Host, v value.Value) (*value.Map, string, error) {
	m, err := flatRevoked(v)
	if err != nil {
		return nil, "", err
	}
	for k, x := range m.All() {
		if t, ok := x.(time.Time); ok {
			m.Set(k, t.Format(pki.TimeFormat))
		}
	}
	r, _, err := revokedOf(h, m, h.Now().UTC(), true, nil)
	if err != nil {
		return nil, "", err
	}
	return m, strings.ReplaceAll(pki.PrettySerial(r.Serial), ":", ""), nil
}
