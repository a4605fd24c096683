package x509

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/x509/pki"
)

// nameMap returns an encoded name as a mapping, its hash and its text.
func nameMap(der []byte) (m *value.Map, hash, str string, err error) {
	n, err := pki.ParseName(der)
	if err != nil {
		return nil, "", "", invalid(err)
	}
	return n.Map(), pki.Hash(der), n.String(), nil
}

func keyInfo(pub any) (size, kind value.Value) {
	if n, ok := pki.KeySize(pub); ok {
		size = int64(n)
	}
	if k := pki.KeyType(pub); k != "" {
		kind = k
	}
	return size, kind
}

func stamp(t time.Time) string { return t.UTC().Format(pki.TimeFormat) }

func infoV2(env *fun.Env, v value.Value) (*value.Map, error) {
	c, err := LoadCert(env.Host, v, nil)
	if err != nil {
		return nil, err
	}
	size, kind := keyInfo(c.PublicKey)
	subject, subjectHash, subjectText, err := nameMap(c.RawSubject)
	if err != nil {
		return nil, err
	}
	issuer, issuerHash, issuerText, err := nameMap(c.RawIssuer)
	if err != nil {
		return nil, err
	}
	signed, err := pki.ParseSigned(c.Raw)
	if err != nil {
		return nil, invalid(err)
	}
	s1, s256, m5 := sha1.Sum(c.Raw), sha256.Sum256(c.Raw), md5.Sum(c.Raw)
	prints := value.MapOf("sha1", pki.PrettyHex(s1[:]), "sha256", pki.PrettyHex(s256[:]))
	if !value.Truth(env.Opts.At("fips_mode")) {
		prints.Set("md5", pki.PrettyHex(m5[:]))
	}
	return value.MapOf(
		"version", int64(c.Version), "key_size", size, "key_type", kind, "serial_number", pki.PrettySerial(c.SerialNumber), "fingerprints", prints,
		"subject", subject, "subject_hash", subjectHash, "subject_str", subjectText,
		"issuer", issuer, "issuer_hash", issuerHash, "issuer_str", issuerText,
		"not_before", stamp(c.NotBefore), "not_after", stamp(c.NotAfter),
		"public_key", pki.EncodePEM("PUBLIC KEY", c.RawSubjectPublicKeyInfo),
		"extensions", pki.Render(pki.Extensions(c)), "signature_algorithm", signed.AlgorithmName(),
	), nil
}

func readCertificateV2(_ context.Context, c *fun.Call, a *readCertificateArgs) (fun.Result, error) {
	m, err := infoV2(c.Env, a.Certificate)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

func readCRLV2(_ context.Context, c *fun.Call, a *readCRLArgs) (fun.Result, error) {
	crl, err := loadCRL(c.Env.Host, a.Crl)
	if err != nil {
		return fun.Result{}, err
	}
	issuer, _, _, err := nameMap(crl.Issuer)
	if err != nil {
		return fun.Result{}, err
	}
	revoked := value.NewMap(len(crl.Revoked))
	for _, r := range crl.Revoked {
		revoked.Set(strings.ReplaceAll(pki.PrettySerial(r.Serial), ":", ""), value.MapOf("revocation_date", stamp(r.Date), "extensions", pki.RenderEntry(r.Exts)))
	}
	var next value.Value
	if !crl.NextUpdate.IsZero() {
		next = stamp(crl.NextUpdate)
	}
	return fun.Value(value.MapOf("issuer", issuer, "last_update", stamp(crl.LastUpdate), "next_update", next, "revoked_certificates", revoked,
		"extensions", pki.Render(crl.Exts), "signature_algorithm", crl.Signed.AlgorithmName()))
}

func readCSRV2(_ context.Context, c *fun.Call, a *readCSRArgs) (fun.Result, error) {
	csr, err := loadCSR(c.Env.Host, a.Csr)
	if err != nil {
		return fun.Result{}, err
	}
	subject, hash, str, err := nameMap(csr.RawSubject)
	if err != nil {
		return fun.Result{}, err
	}
	id, err := pki.KeyID(csr.RawSubjectPublicKeyInfo)
	if err != nil {
		return fun.Result{}, invalid(err)
	}
	size, kind := keyInfo(csr.PublicKey)
	return fun.Value(value.MapOf("key_size", size, "key_type", kind, "subject", subject, "subject_hash", hash, "subject_str", str,
		"public_key_hash", pki.PrettyHex(id), "extensions", pki.Render(pki.RequestExtensions(csr))))
}

// expiresIn reports whether a certificate has expired some days from now.
func expiresIn(c *fun.Call, cert *x509.Certificate, days value.Value) (bool, error) {
	at, err := after(c.Env.Host.Now(), days)
	return !cert.NotAfter.After(at), err
}

type expiresArgs struct {
	_           fun.Arguments
	Certificate value.Value `arg:"certificate,required" doc:"certificate: a file, PEM text or bytes"`
	Days        value.Value `arg:"days,int" default:"0" unit:"days" doc:"days from now"`
}

func expires(_ context.Context, c *fun.Call, a *expiresArgs) (fun.Result, error) {
	cert, err := LoadCert(c.Env.Host, a.Certificate, nil)
	if err != nil {
		return fun.Result{}, err
	}
	yes, err := expiresIn(c, cert, a.Days)
	return fun.Result{Value: yes}, err
}

// expiry returns what expired and will_expire tell of a certificate.
func expiry(c *fun.Call, certificate value.Value, out *value.Map, key string, days value.Value) (fun.Result, error) {
	if IsFile(c.Env.Host, certificate) {
		out.Set("path", certificate)
	}
	cert, err := LoadCert(c.Env.Host, certificate, nil)
	if err != nil {
		return fun.Result{}, err
	}
	setCN(out, cert)
	yes, err := expiresIn(c, cert, days)
	out.Set(key, yes)
	return fun.Result{Value: out}, err
}

func setCN(out *value.Map, cert *x509.Certificate) {
	if n, err := pki.ParseName(cert.RawSubject); err == nil {
		if cn, ok := n.CommonName(); ok {
			out.Set("cn", cn)
		}
	}
}

func expiredV2(_ context.Context, c *fun.Call, a *readCertificateArgs) (fun.Result, error) {
	return expiry(c, a.Certificate, value.NewMap(3), "expired", int64(0))
}

func willExpireV2(_ context.Context, c *fun.Call, a *willExpireArgs) (fun.Result, error) {
	return expiry(c, a.Certificate, value.MapOf("check_days", a.Days), "will_expire", a.Days)
}

type getPublicKeyV2Args struct {
	_          fun.Arguments
	Key        value.Value `arg:"key,required" doc:"public key, certificate, private key or request: a file, PEM text or bytes"`
	Passphrase value.Value `arg:"passphrase,secret,str" doc:"passphrase of the private key"`
	_          bool        `arg:"asObj" doc:"accepted; a text is returned"`
}

func getPublicKeyV2(_ context.Context, c *fun.Call, a *getPublicKeyV2Args) (fun.Result, error) {
	pub, err := PublicOf(c.Env.Host, a.Key, Pass(a.Passphrase))
	if err != nil {
		return fun.Result{}, err
	}
	s, err := publicPEM(pub)
	return fun.Result{Value: s}, err
}

type getSigningPolicyV2Args struct {
	_             fun.Arguments
	SigningPolicy value.Value `arg:"signing_policy,required,str" doc:"signing policy that overrides arguments: see docs/modules/x509.md"`
	CAServer      string      `arg:"ca_server" doc:"machine that signs, by publish.publish"`
}

// getSigningPolicyV2 returns a policy. A private key in it is not shown.
func getSigningPolicyV2(ctx context.Context, c *fun.Call, a *getSigningPolicyV2Args) (fun.Result, error) {
	p, err := PolicyFor(ctx, c.Env, a.SigningPolicy, a.CAServer)
	if err != nil {
		return fun.Result{}, err
	}
	p.Delete("signing_private_key_passphrase")
	if pki.HasPrivate(value.Str(p.At("signing_private_key"))) {
		p.Delete("signing_private_key")
	}
	return fun.Value(p)
}

func verifyCRLV2(_ context.Context, c *fun.Call, a *verifyCRLArgs) (fun.Result, error) {
	crl, err := loadCRL(c.Env.Host, a.Crl)
	if err != nil {
		return fun.Result{}, err
	}
	pub, err := PublicOf(c.Env.Host, a.Cert, nil)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(crl.Signed.VerifiedBy(pub))
}

func verifyPrivateKeyV2(_ context.Context, c *fun.Call, a *verifyPrivateKeyArgs) (fun.Result, error) {
	k, err := LoadKey(c.Env.Host, a.PrivateKey, Pass(a.Passphrase))
	if err != nil {
		return fun.Result{}, err
	}
	pub, err := PublicOf(c.Env.Host, a.PublicKey, nil)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(pki.SamePublic(k.Public(), pub))
}

// Verified reports whether a certificate was signed with the private key of pub.
func Verified(cert *x509.Certificate, pub any) bool {
	s, err := pki.ParseSigned(cert.Raw)
	return err == nil && s.VerifiedBy(pub)
}

func verifySignatureV2(_ context.Context, c *fun.Call, a *verifySignatureArgs) (fun.Result, error) {
	cert, err := LoadCert(c.Env.Host, a.Certificate, nil)
	if err != nil {
		return fun.Result{}, err
	}
	signer := a.SigningPubKey
	if !value.Truth(signer) {
		signer = a.Certificate
	}
	pub, err := PublicOf(c.Env.Host, signer, Pass(a.SigningPubKeyPassphrase))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(Verified(cert, pub))
}

// permitted reports whether a policy lets a minion ask for a certificate.
func permitted(ctx context.Context, env *fun.Env, pattern, minion string) (bool, error) {
	if strings.Contains(pattern, "@") {
		res, err := publish(ctx, env, minion, "match.compound", pattern)
		if err != nil {
			return false, err
		}
		m, _ := res.(value.Mapping)
		if m == nil {
			return false, nil
		}
		v, _ := m.Get(minion)
		return value.Truth(v), nil
	}
	return value.Fnmatch(pattern, minion), nil
}

type signRemoteV2Args struct {
	SigningPolicy        value.Value `arg:"signing_policy,required,str" doc:"signing policy that overrides arguments: see docs/modules/x509.md"`
	Kwargs               *value.Map  `arg:"kwargs,required" doc:"arguments of create_certificate"`
	GetSigningPolicyOnly bool        `arg:"get_signing_policy_only" default:"False" doc:"return the policy instead of signing"`
	Rest                 fun.Kwargs
}

// signRemoteV2 signs a certificate that another machine asks for, by a policy.
func signRemoteV2(ctx context.Context, c *fun.Call, a *signRemoteV2Args) (fun.Result, error) {
	answer := func(data value.Value, faults ...string) (fun.Result, error) {
		return fun.Value(value.MapOf("data", data, "errors", value.Strings(faults...)))
	}
	policy, err := Policy(ctx, c.Env, a.SigningPolicy)
	if err != nil {
		return answer(nil, "Failed building the signing policy. See CA server log for details.")
	}
	if policy.Len() == 0 {
		return answer(nil, "signing_policy must be specified and defined on signing minion")
	}
	if pattern, ok := policy.Get("minions"); ok {
		policy.Delete("minions")
		id, known := a.Rest.Get("__pub_id")
		if !known {
			return answer(nil, "minion sending this request could not be identified")
		}
		may, err := permitted(ctx, c.Env, value.Str(pattern), value.Str(id))
		if err != nil {
			return answer(nil, err.Error())
		}
		if !may {
			return answer(nil, "minion not permitted to use specified signing policy")
		}
	}
	if a.GetSigningPolicyOnly {
		policy.Delete("signing_private_key")
		policy.Delete("signing_private_key_passphrase")
		if v := policy.At("signing_cert"); v != nil {
			cert, err := LoadCert(c.Env.Host, v, nil)
			if err != nil {
				return answer(nil, err.Error())
			}
			policy.Set("signing_cert", value.Bytes(cert.Raw))
		}
		return answer(policy)
	}
	kw := value.NewMap(8)
	if m := a.Kwargs; m != nil {
		kw = m.Copy()
	}
	for _, k := range []string{"ca_server", "copypath", "prepend_cn", "signing_private_key", "signing_private_key_passphrase"} {
		kw.Delete(k) // only the policy may say what is written and signed with
	}
	MergePolicy(policy, kw)
	cert, _, err := localCert(c.Env, kw)
	if err != nil {
		return answer(nil, err.Error())
	}
	return answer(value.Bytes(cert.Raw))
}
