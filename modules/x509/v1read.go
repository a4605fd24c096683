package x509

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"strings"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
	"brine/modules/x509/pki"
)

// shownNames are the parts of a name as the older module lists them.
var shownNames = [][2]string{{"CN", "CN"}, {"C", "C"}, {"L", "L"}, {"SP", "ST"}, {"O", "O"}, {"OU", "OU"}, {"Email", "MAIL"}, {"GN", "GN"}, {"SN", "SN"}, {"serialNumber", "SERIALNUMBER"}}

func nameMapV1(der []byte) (*value.Map, string, error) {
	n, err := pki.ParseName(der)
	if err != nil {
		return nil, "", invalid(err)
	}
	out := value.NewMap(len(n))
	for _, s := range shownNames {
		if v, ok := n.Get(pki.AttrOID(s[1])); ok && v != "" {
			out.Set(s[0], v)
		}
	}
	return out, pki.OldHash(der), nil
}

// InfoV1 returns what the older module tells of a certificate.
func InfoV1(env *fun.Env, v value.Value) (*value.Map, error) {
	cert, err := certV1(env.Host, v)
	if err != nil {
		return nil, err
	}
	return certInfoV1(env, cert)
}

func certInfoV1(env *fun.Env, c *x509.Certificate) (*value.Map, error) {
	subject, subjectHash, err := nameMapV1(c.RawSubject)
	if err != nil {
		return nil, err
	}
	issuer, issuerHash, err := nameMapV1(c.RawIssuer)
	if err != nil {
		return nil, err
	}
	size, _ := keyInfo(c.PublicKey)
	s1, s256, m5 := sha1.Sum(c.Raw), sha256.Sum256(c.Raw), md5.Sum(c.Raw)
	out := value.MapOf(
		"Version", int64(c.Version), "Key Size", size, "Serial Number", pki.PrettySerial(c.SerialNumber),
		"SHA-256 Finger Print", pki.PrettyHex(s256[:]), "SHA1 Finger Print", pki.PrettyHex(s1[:]),
		"Subject", subject, "Subject Hash", subjectHash, "Issuer", issuer, "Issuer Hash", issuerHash,
		"Not Before", stamp(c.NotBefore), "Not After", stamp(c.NotAfter),
		"Public Key", value.Bytes(pki.EncodePEM("PUBLIC KEY", c.RawSubjectPublicKeyInfo)),
	)
	if !value.Truth(env.Opts.At("fips_mode")) {
		out.Set("MD5 Finger Print", pki.PrettyHex(m5[:]))
	}
	exts := value.NewMap(len(c.Extensions))
	for _, e := range pki.Extensions(c) {
		name, text := e.Text()
		if e.Critical {
			text = "critical " + text
		}
		exts.Set(name, text)
	}
	if exts.Len() > 0 {
		out.Set("X509v3 Extensions", exts)
	}
	return out, nil
}

func readCertificate(_ context.Context, c *fun.Call) (fun.Result, error) {
	m, err := InfoV1(c.Env, c.Value("certificate"))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

// CSRInfoV1 returns what the older module tells of a request.
func CSRInfoV1(h host.Host, v value.Value) (*value.Map, error) {
	csr, err := csrV1(h, v)
	if err != nil {
		return nil, err
	}
	subject, hash, err := nameMapV1(csr.RawSubject)
	if err != nil {
		return nil, err
	}
	exts := value.NewMap(len(csr.Extensions))
	all := pki.RequestExtensions(csr)
	for _, names := range extsV1 {
		name := strings.Replace(names[0], "issuserAltName", "issuerAltName", 1)
		id, _ := pki.ExtensionOID(name)
		if e, ok := pki.Find(all, id); ok {
			_, text := e.Text()
			if e.Critical {
				text = "critical " + text
			}
			exts.Set(name, text)
		}
	}
	keyHash := strings.ToLower(strings.ReplaceAll(modulusID(csr.PublicKey, csr.RawSubjectPublicKeyInfo), ":", ""))
	return value.MapOf("Version", int64(csr.Version+1), "Subject", subject, "Subject Hash", hash, "Public Key Hash", keyHash, "X509v3 Extensions", exts), nil
}

func readCSR(_ context.Context, c *fun.Call) (fun.Result, error) {
	m, err := CSRInfoV1(c.Env.Host, c.Value("csr"))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

func crlV1(h host.Host, v value.Value) (*pki.CRL, error) {
	entry, err := PEMEntry(h, v, "X509 CRL")
	if err != nil {
		return nil, err
	}
	crl, _, err := pki.LoadCRL([]byte(entry))
	return crl, invalid(err)
}

// CRLInfoV1 returns what the older module tells of a revocation list.
func CRLInfoV1(h host.Host, v value.Value) (*value.Map, error) {
	crl, err := crlV1(h, v)
	if err != nil {
		return nil, err
	}
	issuer, _, err := nameMapV1(crl.Issuer)
	if err != nil {
		return nil, err
	}
	version := "1 (0x0)"
	if crl.Version == 2 {
		version = "2 (0x1)"
	}
	revoked := value.NewList()
	for _, r := range crl.Revoked {
		one := value.MapOf("Revocation Date", stamp(r.Date))
		if len(r.Exts) > 0 {
			exts := value.NewMap(len(r.Exts))
			for _, e := range r.Exts {
				name, text := e.LongText()
				exts.Set(name, text)
			}
			one.Set("CRL entry extensions", exts)
		}
		revoked.Append(value.MapOf(strings.ToUpper(hex.EncodeToString(serialBytes(r))), one))
	}
	out := value.MapOf("Version", version, "Signature Algorithm", crl.Signed.AlgorithmName(), "Issuer", issuer, "Last Update", stamp(crl.LastUpdate))
	if !crl.NextUpdate.IsZero() {
		out.Set("Next Update", stamp(crl.NextUpdate))
	}
	out.Set("Revoked Certificates", revoked)
	return out, nil
}

func serialBytes(r pki.Revoked) []byte {
	if b := r.Serial.Bytes(); len(b) > 0 {
		return b
	}
	return []byte{0}
}

func readCRL(_ context.Context, c *fun.Call) (fun.Result, error) {
	m, err := CRLInfoV1(c.Env.Host, c.Value("crl"))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

func getPublicKey(_ context.Context, c *fun.Call) (fun.Result, error) {
	pub, err := publicV1(c.Env.Host, c.Value("key"), Pass(c.Value("passphrase")))
	if err != nil {
		return fun.Result{}, err
	}
	s, err := publicPEM(pub)
	return fun.Result{Value: value.Bytes(s)}, err
}

// KeySizeV1 returns the size of a private key in PEM.
func KeySizeV1(h host.Host, v value.Value, pass *string) (int64, error) {
	k, err := keyV1(h, v, pass)
	if err != nil {
		return 0, err
	}
	n, _ := pki.KeySize(k.Public())
	return int64(n), nil
}

func getPrivateKeySize(_ context.Context, c *fun.Call) (fun.Result, error) {
	n, err := KeySizeV1(c.Env.Host, c.Value("private_key"), Pass(c.Value("passphrase")))
	return fun.Result{Value: n}, err
}

func verifyPrivateKey(_ context.Context, c *fun.Call) (fun.Result, error) {
	private, err := publicV1(c.Env.Host, c.Value("private_key"), Pass(c.Value("passphrase")))
	if err != nil {
		return fun.Result{}, err
	}
	public, err := publicV1(c.Env.Host, c.Value("public_key"), nil)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(pki.SamePublic(private, public))
}

// VerifyV1 reports whether a certificate was signed with a key; its own where key is
// None.
func VerifyV1(h host.Host, certificate, key value.Value, pass *string) (bool, error) {
	cert, err := certV1(h, certificate)
	if err != nil {
		return false, err
	}
	pub := cert.PublicKey
	if value.Truth(key) {
		if pub, err = publicV1(h, key, pass); err != nil {
			return false, err
		}
	}
	return Verified(cert, pub), nil
}

func verifySignature(_ context.Context, c *fun.Call) (fun.Result, error) {
	ok, err := VerifyV1(c.Env.Host, c.Value("certificate"), c.Value("signing_pub_key"), Pass(c.Value("signing_pub_key_passphrase")))
	return fun.Result{Value: ok}, err
}

// VerifyCRLV1 reports whether a revocation list was signed with the key of a
// certificate.
func VerifyCRLV1(h host.Host, list, certificate value.Value) (bool, error) {
	crl, err := crlV1(h, list)
	if err != nil {
		return false, err
	}
	cert, err := certV1(h, certificate)
	if err != nil {
		return false, err
	}
	return crl.Signed.VerifiedBy(cert.PublicKey), nil
}

func verifyCRL(_ context.Context, c *fun.Call) (fun.Result, error) {
	ok, err := VerifyCRLV1(c.Env.Host, c.Value("crl"), c.Value("cert"))
	return fun.Result{Value: ok}, err
}

// expiryV1 tells of a certificate in a file; of others it tells nothing.
func expiryV1(c *fun.Call, key string, days value.Value) (fun.Result, error) {
	out := value.NewMap(4)
	if !IsFile(c.Env.Host, c.Value("certificate")) {
		return fun.Value(out)
	}
	out.Set("path", c.Value("certificate"))
	if days != nil {
		out.Set("check_days", days)
	} else {
		days = int64(0)
	}
	cert, err := certV1(c.Env.Host, c.Value("certificate"))
	if err != nil {
		return fun.Result{}, err
	}
	setCN(out, cert)
	yes, err := expiresIn(c, cert, days)
	out.Set(key, yes)
	return fun.Result{Value: out}, err
}

func expired(_ context.Context, c *fun.Call) (fun.Result, error) { return expiryV1(c, "expired", nil) }

func willExpire(_ context.Context, c *fun.Call) (fun.Result, error) {
	return expiryV1(c, "will_expire", c.Value("days"))
}

// getSigningPolicy returns a policy without its private key, and with the text of
// its certificate.
func getSigningPolicy(ctx context.Context, c *fun.Call) (fun.Result, error) {
	name := c.Str("signing_policy_name")
	p, err := Policy(ctx, c.Env, name)
	if err != nil {
		return fun.Result{}, err
	}
	if p.Len() == 0 {
		return fun.Value("Signing policy " + name + " does not exist.")
	}
	p.Delete("signing_private_key")
	p.Delete("signing_private_key_passphrase")
	if v := p.At("signing_cert"); v != nil {
		entry, err := PEMEntry(c.Env.Host, v, "CERTIFICATE")
		if err != nil {
			return fun.Result{}, err
		}
		p.Set("signing_cert", value.Bytes(entry))
	}
	return fun.Value(p)
}

// signRemote signs a certificate that another machine asks for.
func signRemote(ctx context.Context, c *fun.Call) (fun.Result, error) {
	args := c.Map("argdic")
	if args == nil || !args.Has("signing_policy") {
		return fun.Value("signing_policy must be specified")
	}
	name := args.Str("signing_policy")
	policy, err := Policy(ctx, c.Env, name)
	if err != nil {
		return fun.Result{}, err
	}
	if policy.Len() == 0 {
		return fun.Value("Signing policy " + name + " does not exist.")
	}
	if pattern, ok := policy.Get("minions"); ok {
		id, known := c.Kw.Get("__pub_id")
		if !known {
			return fun.Value("minion sending this request could not be identified")
		}
		may, err := permitted(ctx, c.Env, value.Str(pattern), value.Str(id))
		if err != nil {
			return fun.Result{}, err
		}
		if !may {
			return fun.Value(value.Str(id) + " not permitted to use signing policy " + name)
		}
	}
	kw := args.Copy()
	for _, k := range []string{"ca_server", "copypath", "prepend_cn", "signing_private_key", "signing_private_key_passphrase", "path", "text"} {
		kw.Delete(k)
	}
	s, err := CertTextV1(ctx, c.Env, kw)
	if err != nil {
		return fun.Value(err.Error())
	}
	return fun.Value(s)
}
