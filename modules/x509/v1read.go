package x509

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
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

// readCertificateArgs are the arguments of readCertificate, expired, readCertificateV2 and expiredV2.
type readCertificateArgs struct {
	_           fun.Arguments
	Certificate value.Value `arg:"certificate,required" doc:"certificate: a file, PEM text or bytes"`
}

func readCertificate(_ context.Context, c *fun.Call, a *readCertificateArgs) (fun.Result, error) {
	m, err := InfoV1(c.Env, a.Certificate)
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

// readCSRArgs are the arguments of readCSR and readCSRV2.
type readCSRArgs struct {
	_   fun.Arguments
	Csr value.Value `arg:"csr,required" doc:"certificate signing request: a file, PEM text or bytes"`
}

func readCSR(_ context.Context, c *fun.Call, a *readCSRArgs) (fun.Result, error) {
	m, err := CSRInfoV1(c.Env.Host, a.Csr)
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

// readCRLArgs are the arguments of readCRL and readCRLV2.
type readCRLArgs struct {
	_   fun.Arguments
	Crl value.Value `arg:"crl,required" doc:"revocation list: a file, PEM text or bytes"`
}

func readCRL(_ context.Context, c *fun.Call, a *readCRLArgs) (fun.Result, error) {
	m, err := CRLInfoV1(c.Env.Host, a.Crl)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

type getPublicKeyArgs struct {
	_          fun.Arguments
	Key        value.Value `arg:"key,required" doc:"public key, certificate, private key or request: a file, PEM text or bytes"`
	Passphrase value.Value `arg:"passphrase,secret,str" doc:"passphrase of the private key"`
	_          bool        `arg:"asObj" default:"False" doc:"accepted; a text is returned"`
}

func getPublicKey(_ context.Context, c *fun.Call, a *getPublicKeyArgs) (fun.Result, error) {
	pub, err := publicV1(c.Env.Host, a.Key, Pass(a.Passphrase))
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

// getPrivateKeySizeArgs are the arguments of getPrivateKeySize and privateKeySize.
type getPrivateKeySizeArgs struct {
	_          fun.Arguments
	PrivateKey value.Value `arg:"private_key,required,secret" doc:"private key: a file, PEM text or bytes"`
	Passphrase value.Value `arg:"passphrase,secret,str" doc:"passphrase of the private key"`
}

func getPrivateKeySize(_ context.Context, c *fun.Call, a *getPrivateKeySizeArgs) (fun.Result, error) {
	n, err := KeySizeV1(c.Env.Host, a.PrivateKey, Pass(a.Passphrase))
	return fun.Result{Value: n}, err
}

// verifyPrivateKeyArgs are the arguments of verifyPrivateKey and verifyPrivateKeyV2.
type verifyPrivateKeyArgs struct {
	_          fun.Arguments
	PrivateKey value.Value `arg:"private_key,required,secret" doc:"private key: a file, PEM text or bytes"`
	PublicKey  value.Value `arg:"public_key,required" doc:"public key: a file, PEM text or bytes of a key, certificate or request"`
	Passphrase value.Value `arg:"passphrase,secret,str" doc:"passphrase of the private key"`
}

func verifyPrivateKey(_ context.Context, c *fun.Call, a *verifyPrivateKeyArgs) (fun.Result, error) {
	private, err := publicV1(c.Env.Host, a.PrivateKey, Pass(a.Passphrase))
	if err != nil {
		return fun.Result{}, err
	}
	public, err := publicV1(c.Env.Host, a.PublicKey, nil)
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

// verifySignatureArgs are the arguments of verifySignature and verifySignatureV2.
type verifySignatureArgs struct {
	_                       fun.Arguments
	Certificate             value.Value `arg:"certificate,required" doc:"certificate: a file, PEM text or bytes"`
	SigningPubKey           value.Value `arg:"signing_pub_key" doc:"public key, certificate or private key of the signer; default: the key of the certificate itself"`
	SigningPubKeyPassphrase value.Value `arg:"signing_pub_key_passphrase,secret,str" doc:"passphrase of a private key in signing_pub_key"`
}

func verifySignature(_ context.Context, c *fun.Call, a *verifySignatureArgs) (fun.Result, error) {
	ok, err := VerifyV1(c.Env.Host, a.Certificate, a.SigningPubKey, Pass(a.SigningPubKeyPassphrase))
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

// verifyCRLArgs are the arguments of verifyCRL and verifyCRLV2.
type verifyCRLArgs struct {
	_    fun.Arguments
	Crl  value.Value `arg:"crl,required" doc:"revocation list: a file, PEM text or bytes"`
	Cert value.Value `arg:"cert,required" doc:"certificate of the issuer: a file, PEM text or bytes"`
}

func verifyCRL(_ context.Context, c *fun.Call, a *verifyCRLArgs) (fun.Result, error) {
	ok, err := VerifyCRLV1(c.Env.Host, a.Crl, a.Cert)
	return fun.Result{Value: ok}, err
}

// expiryV1 tells of a certificate in a file; of others it tells nothing.
func expiryV1(c *fun.Call, certificate value.Value, key string, days value.Value) (fun.Result, error) {
	out := value.NewMap(4)
	if !IsFile(c.Env.Host, certificate) {
		return fun.Value(out)
	}
	out.Set("path", certificate)
	if days != nil {
		out.Set("check_days", days)
	} else {
		days = int64(0)
	}
	cert, err := certV1(c.Env.Host, certificate)
	if err != nil {
		return fun.Result{}, err
	}
	setCN(out, cert)
	yes, err := expiresIn(c, cert, days)
	out.Set(key, yes)
	return fun.Result{Value: out}, err
}

func expired(_ context.Context, c *fun.Call, a *readCertificateArgs) (fun.Result, error) {
	return expiryV1(c, a.Certificate, "expired", nil)
}

// willExpireArgs are the arguments of willExpire and willExpireV2.
type willExpireArgs struct {
	_           fun.Arguments
	Certificate value.Value `arg:"certificate,required" doc:"certificate: a file, PEM text or bytes"`
	Days        value.Value `arg:"days,required,int" unit:"days" doc:"days from now"`
}

func willExpire(_ context.Context, c *fun.Call, a *willExpireArgs) (fun.Result, error) {
	return expiryV1(c, a.Certificate, "will_expire", a.Days)
}

type getSigningPolicyArgs struct {
	_                 fun.Arguments
	SigningPolicyName string `arg:"signing_policy_name,required" doc:"name of the policy"`
}

// getSigningPolicy returns a policy without its private key, and with the text of
// its certificate.
func getSigningPolicy(ctx context.Context, c *fun.Call, a *getSigningPolicyArgs) (fun.Result, error) {
	name := a.SigningPolicyName
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

type signRemoteArgs struct {
	Argdic *value.Map `arg:"argdic,required" doc:"arguments of create_certificate, with signing_policy"`
	Rest   fun.Kwargs
}

// signRemote signs a certificate that another machine asks for.
func signRemote(ctx context.Context, c *fun.Call, a *signRemoteArgs) (fun.Result, error) {
	args := a.Argdic
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
		id, known := a.Rest.Get("__pub_id")
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
