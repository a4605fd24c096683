package x509

import (
	"context"
	"crypto/x509"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/x509/pki"
)

var certEncodings = []string{"der", "pem", "pkcs7_der", "pkcs7_pem", "pkcs12"}

func checkEncoding(encoding string, valid ...string) error {
	if slices.Contains(valid, encoding) {
		return nil
	}
	return fun.Errorf("Invalid value '%s' for encoding. Valid: %s", encoding, strings.Join(valid, ", "))
}

// isText reports whether an encoding is PEM.
func isText(encoding string) bool { return strings.HasSuffix(encoding, "pem") }

// A CertOut says how a certificate is encoded.
type CertOut struct {
	Encoding     string
	Append       value.Value // certificates that follow it
	Pass         *string
	Compat       bool
	FriendlyName string
}

// EncodeCert encodes a certificate; key is embedded in PKCS #12.
func EncodeCert(h host.Host, cert *x509.Certificate, key *pki.Key, o CertOut) ([]byte, error) {
	var chain []*x509.Certificate
	for _, v := range items(o.Append) {
		c, err := LoadCert(h, v, nil)
		if err != nil {
			return nil, err
		}
		chain = append(chain, c)
	}
	return encodeCert(cert, chain, o.Encoding, key, o.Pass, o.Compat, o.FriendlyName)
}

// CreateCert makes a certificate of the arguments of x509_v2, by a signing policy or
// a remote CA where these are named. copypath gets a copy. It returns the private
// key that the certificate is for, where it was given.
func CreateCert(ctx context.Context, env *fun.Env, kw *value.Map) (*x509.Certificate, *pki.Key, error) {
	kw = kw.Copy()
	server, policyName := text(kw, "ca_server", ""), kw.At("signing_policy")
	if server != "" {
		if policyName == nil {
			return nil, nil, invalidf("signing_policy must be specified to request a certificate from a remote ca_server")
		}
		return remoteCert(ctx, env, server, policyName, kw)
	}
	policy, err := Policy(ctx, env, policyName)
	if err != nil {
		return nil, nil, err
	}
	MergePolicy(policy, kw)
	return localCert(env, kw)
}

func localCert(env *fun.Env, kw *value.Map) (*x509.Certificate, *pki.Key, error) {
	b, err := BuildCert(env.Host, kw, false)
	if err != nil {
		return nil, nil, err
	}
	cert, err := b.Sign()
	if err != nil {
		return nil, nil, err
	}
	if dir := text(kw, "copypath", ""); dir != "" {
		name := ""
		if value.Truth(kw.At("prepend_cn")) {
			if n, err := pki.ParseName(cert.RawSubject); err == nil {
				if cn, ok := n.CommonName(); ok {
					name = strings.ReplaceAll(cn, "/", "_") + "-"
				}
			}
		}
		file := path.Join(dir, name+cert.SerialNumber.Text(16)+".crt")
		if _, err := writePEM(env.Host, pki.EncodePEM("CERTIFICATE", cert.Raw), file, true, "CERTIFICATE"); err != nil {
			return nil, nil, err
		}
	}
	return cert, b.Private, nil
}

// remoteCert asks ca_server for a certificate. The private key stays here.
func remoteCert(ctx context.Context, env *fun.Env, server string, policy value.Value, kw *value.Map) (*x509.Certificate, *pki.Key, error) {
	var key *pki.Key
	var err error
	if v := kw.At("private_key"); value.Truth(v) {
		if key, err = LoadKey(env.Host, v, Pass(kw.At("private_key_passphrase"))); err != nil {
			return nil, nil, err
		}
		der, err := pki.MarshalPublic(key.Public())
		if err != nil {
			return nil, nil, invalid(err)
		}
		kw.Set("public_key", value.Bytes(der))
	}
	for _, k := range []string{"private_key", "private_key_passphrase", "ca_server", "signing_policy", "pkcs12_passphrase"} {
		kw.Delete(k)
	}
	if v := kw.At("csr"); value.Truth(v) {
		r, err := loadCSR(env.Host, v)
		if err != nil {
			return nil, nil, err
		}
		kw.Set("csr", value.Bytes(r.Raw))
	}
	data, err := queryRemote(ctx, env, server, policy, kw, false)
	if err != nil {
		return nil, nil, err
	}
	cert, err := LoadCert(env.Host, data, nil)
	if err != nil {
		return nil, nil, fun.Errorf("ca_server did not return a certificate: %s", value.Str(data))
	}
	return cert, key, nil
}

func queryRemote(ctx context.Context, env *fun.Env, server string, policy value.Value, kw *value.Map, policyOnly bool) (value.Value, error) {
	res, err := publish(ctx, env, server, "x509.sign_remote_certificate", value.NewList(policy, kw, policyOnly))
	if err != nil {
		return nil, err
	}
	all, _ := res.(value.Mapping)
	if all == nil || all.Len() == 0 {
		return nil, invalidf("ca_server did not respond. Salt master must permit peers to call the sign_remote_certificate function.")
	}
	v, _ := all.Get(all.Keys()[0])
	m, ok := v.(*value.Map)
	if !ok || !m.Has("data") {
		return nil, fun.Errorf("Received invalid return value from ca_server. See minion log for details")
	}
	if l := m.List("errors"); l.Len() > 0 {
		msgs := make([]string, l.Len())
		for i, x := range l.Items {
			msgs[i] = value.Str(x)
		}
		return nil, fun.Errorf("ca_server reported errors:\n%s", strings.Join(msgs, "\n"))
	}
	return m.At("data"), nil
}

// PolicyFor returns a signing policy, of a remote CA where one is named, with the
// current names of arguments.
func PolicyFor(ctx context.Context, env *fun.Env, name value.Value, server string) (*value.Map, error) {
	var policy *value.Map
	if server == "" {
		p, err := Policy(ctx, env, name)
		if err != nil {
			return nil, err
		}
		policy = p
	} else {
		data, err := queryRemote(ctx, env, server, name, value.NewMap(0), true)
		if err != nil {
			return nil, err
		}
		m, ok := data.(*value.Map)
		if !ok {
			return nil, fun.Errorf("Received invalid return value from ca_server. See minion log for details")
		}
		policy = m.Copy()
		if v := policy.At("signing_cert"); v != nil {
			cert, err := LoadCert(env.Host, v, nil)
			if err != nil {
				return nil, err
			}
			policy.Set("signing_cert", pki.EncodePEM("CERTIFICATE", cert.Raw))
		}
	}
	Rename(policy)
	return policy, nil
}

// pkcs12Args are the arguments for certificates in PKCS #12.
type pkcs12Args struct {
	_                      fun.Arguments
	PKCS12Passphrase       value.Value `arg:"pkcs12_passphrase,secret,str" doc:"passphrase of PKCS #12; default: nothing is encrypted"`
	PKCS12EncryptionCompat bool        `arg:"pkcs12_encryption_compat" default:"False" doc:"encrypt PKCS #12 with triple DES and SHA-1, for old programs"`
	PKCS12Friendlyname     string      `arg:"pkcs12_friendlyname" doc:"name of the certificate within PKCS #12"`
}

type createCertificateV2Args struct {
	CAServer      string      `arg:"ca_server" doc:"machine that signs, by publish.publish"`
	SigningPolicy value.Value `arg:"signing_policy,str" doc:"signing policy that overrides arguments: see docs/modules/x509.md"`
	Encoding      string      `arg:"encoding" default:"pem" doc:"encoding of the result"`
	AppendCerts   value.Value `arg:"append_certs" doc:"certificates that follow it: a list of files or PEM texts"`
	pkcs12Args
	Path      string `arg:"path,path" doc:"file to write; default: return the result"`
	Overwrite bool   `arg:"overwrite" default:"True" doc:"replace the whole file; False keeps a private key and DH parameters in it"`
	Raw       bool   `arg:"raw" default:"False" doc:"return bytes instead of text"`
	LocalArgs
	SubjectArgs
	OlderSubjectArgs
	ExtArgs
	_ fun.Kwargs
}

func createCertificateV2(ctx context.Context, c *fun.Call, a *createCertificateV2Args) (fun.Result, error) {
	kw := Given(c)
	if alg, ok := kw.Get("algorithm"); ok {
		kw.Set("digest", alg)
		kw.Delete("algorithm")
	}
	if !kw.Has("days_valid") && !kw.Has("not_after") {
		kw.Set("days_valid", int64(365))
	}
	encoding, file := a.Encoding, a.Path
	if err := checkEncoding(encoding, certEncodings...); err != nil {
		return fun.Result{}, err
	}
	if err := checkDigest(text(kw, "digest", "sha256")); err != nil {
		return fun.Result{}, err
	}
	switch {
	case encoding == "der" && value.Truth(a.AppendCerts):
		return fun.Result{}, invalidf("Cannot encode a certificate chain in DER")
	case encoding == "pkcs12" && !kw.Has("private_key"):
		return fun.Result{}, invalidf("Creating a PKCS12-encoded certificate without embedded private key is unsupported")
	case !kw.Has("signing_private_key") && a.CAServer == "" && a.SigningPolicy == nil:
		return fun.Result{}, invalidf("Creating a certificate locally at least requires a signing private key.")
	case file != "" && !a.Overwrite && exists(c.Env.Host, file):
		return fun.Value("The file at " + file + " exists and overwrite was set to false")
	}
	cert, key, err := CreateCert(ctx, c.Env, kw)
	if err != nil {
		return fun.Result{}, err
	}
	data, err := EncodeCert(c.Env.Host, cert, key, certOut(encoding, a.AppendCerts, &a.pkcs12Args))
	if err != nil {
		return fun.Result{}, err
	}
	if encoding == "pem" && file != "" && value.Truth(a.AppendCerts) {
		// writing one PEM block would lose the others
		if err := writeSecret(c.Env.Host, file, data, false); err != nil {
			return fun.Result{}, err
		}
		return fun.Value("PEM written to " + file)
	}
	kind := ""
	if encoding == "pem" {
		kind = "CERTIFICATE"
	}
	if encoding == "pkcs12" {
		kind = pki.KeyPEM
	}
	return deliver(c, target{path: file, raw: a.Raw, keep: !a.Overwrite}, data, isText(encoding), kind, "Certificate")
}

func certOut(encoding string, appendCerts value.Value, a *pkcs12Args) CertOut {
	return CertOut{
		Encoding: encoding, Append: appendCerts, Pass: Pass(a.PKCS12Passphrase),
		Compat: a.PKCS12EncryptionCompat, FriendlyName: a.PKCS12Friendlyname,
	}
}

type encodeCertificateArgs struct {
	_                    fun.Arguments
	Certificate          value.Value `arg:"certificate,required" doc:"certificate: a file, PEM text or bytes"`
	Encoding             string      `arg:"encoding" default:"pem" doc:"encoding of the result"`
	AppendCerts          value.Value `arg:"append_certs" doc:"certificates that follow it: a list of files or PEM texts"`
	PrivateKey           value.Value `arg:"private_key,secret" doc:"private key: a file, PEM text or bytes"`
	PrivateKeyPassphrase value.Value `arg:"private_key_passphrase,secret,str" doc:"passphrase of the private key"`
	pkcs12Args
	Raw bool `arg:"raw" default:"False" doc:"return bytes instead of text"`
}

func encodeCertificate(_ context.Context, c *fun.Call, a *encodeCertificateArgs) (fun.Result, error) {
	encoding := a.Encoding
	if err := checkEncoding(encoding, certEncodings...); err != nil {
		return fun.Result{}, err
	}
	has := value.Truth(a.PrivateKey)
	switch {
	case encoding == "der" && value.Truth(a.AppendCerts):
		return fun.Result{}, invalidf("Cannot encode a certificate chain in DER")
	case encoding != "pkcs12" && has:
		return fun.Result{}, invalidf("Embedding private keys is only supported for pkcs12 encoding")
	case encoding == "pkcs12" && !has:
		return fun.Result{}, invalidf("Creating a PKCS12-encoded certificate without embedded private key is unsupported")
	}
	cert, err := LoadCert(c.Env.Host, a.Certificate, nil)
	if err != nil {
		return fun.Result{}, err
	}
	var key *pki.Key
	if has {
		if key, err = LoadKey(c.Env.Host, a.PrivateKey, Pass(a.PrivateKeyPassphrase)); err != nil {
			return fun.Result{}, err
		}
	}
	data, err := EncodeCert(c.Env.Host, cert, key, certOut(encoding, a.AppendCerts, &a.pkcs12Args))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(output(data, isText(encoding), a.Raw))
}

// noMore refuses arguments that are not known, but those that the older module had.
func noMore(c *fun.Call, ignored ...string) error {
	var names []value.Value
	for _, k := range c.Kw.Keys() {
		// What the command line adds to a call is nobody's argument: Salt's own module
		// refuses it, and so every call of these functions that a person makes.
		if s := value.Str(k); !slices.Contains(ignored, s) && !strings.HasPrefix(s, "__") {
			names = append(names, k)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return invalidf("Unrecognized keyword arguments: " + value.Repr(value.NewList(names...)))
}

// EncodeCRL returns a revocation list in PEM or DER.
func EncodeCRL(der []byte, encoding string) []byte {
	if encoding == "pem" {
		return []byte(pki.EncodePEM("X509 CRL", der))
	}
	return der
}

// CreateCRL makes a revocation list of the arguments of x509_v2.
func CreateCRL(h host.Host, kw *value.Map) ([]byte, error) {
	crl, key, err := BuildCRL(h, kw)
	if err != nil {
		return nil, err
	}
	der, err := crl.Sign(key, text(kw, "digest", "sha256"))
	return der, invalid(err)
}

type createCRLV2Args struct {
	_        value.Value `arg:"signing_private_key,required,secret" doc:"private key that signs: a file, PEM text or bytes"`
	_        value.Value `arg:"revoked,required,list" doc:"revoked certificates: mappings with certificate or serial_number, and revocation_date, not_after, reason or extensions"`
	_        value.Value `arg:"signing_cert" doc:"certificate of the key that signs; default: the result signs itself"`
	_        string      `arg:"signing_private_key_passphrase,secret" doc:"passphrase of the key that signs"`
	_        bool        `arg:"include_expired" default:"False" doc:"list certificates that have expired"`
	_        int64       `arg:"days_valid" unit:"days" doc:"days for which the result is valid"`
	Digest   string      `arg:"digest" default:"sha256" doc:"digest of the signature"`
	Encoding string      `arg:"encoding" default:"pem" doc:"encoding of the result"`
	_        value.Value `arg:"extensions,dict" doc:"extensions of the list: authorityKeyIdentifier, cRLNumber, issuingDistributionPoint ..."`
	Path     string      `arg:"path,path" doc:"file to write; default: return the result"`
	Raw      bool        `arg:"raw" default:"False" doc:"return bytes instead of text"`
	_        fun.Kwargs
}

func createCRLV2(_ context.Context, c *fun.Call, a *createCRLV2Args) (fun.Result, error) {
	if err := noMore(c, "text"); err != nil {
		return fun.Result{}, err
	}
	encoding := a.Encoding
	if err := checkEncoding(encoding, "der", "pem"); err != nil {
		return fun.Result{}, err
	}
	if err := checkDigest(a.Digest); err != nil {
		return fun.Result{}, err
	}
	der, err := CreateCRL(c.Env.Host, Given(c))
	if err != nil {
		return fun.Result{}, err
	}
	return deliver(c, target{path: a.Path, raw: a.Raw}, EncodeCRL(der, encoding), encoding == "pem", "X509 CRL", "CRL")
}

type encodeCRLArgs struct {
	_        fun.Arguments
	Crl      value.Value `arg:"crl,required" doc:"revocation list: a file, PEM text or bytes"`
	Encoding string      `arg:"encoding" default:"pem" doc:"encoding of the result"`
	Raw      bool        `arg:"raw" default:"False" doc:"return bytes instead of text"`
}

func encodeCRL(_ context.Context, c *fun.Call, a *encodeCRLArgs) (fun.Result, error) {
	encoding := a.Encoding
	if err := checkEncoding(encoding, "der", "pem"); err != nil {
		return fun.Result{}, err
	}
	crl, err := loadCRL(c.Env.Host, a.Crl)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(output(EncodeCRL(crl.Raw, encoding), encoding == "pem", a.Raw))
}

// EncodeCSR returns a request in PEM or DER.
func EncodeCSR(der []byte, encoding string) []byte {
	if encoding == "pem" {
		return []byte(pki.EncodePEM("CERTIFICATE REQUEST", der))
	}
	return der
}

// CreateCSR makes a request of the arguments of x509_v2.
func CreateCSR(h host.Host, kw *value.Map) ([]byte, error) {
	req, key, err := BuildCSR(h, kw)
	if err != nil {
		return nil, err
	}
	der, err := req.Sign(key, nil, text(kw, "digest", "sha256"))
	return der, invalid(err)
}

type createCSRV2Args struct {
	_        value.Value `arg:"private_key,required,secret" doc:"private key: a file, PEM text or bytes"`
	_        string      `arg:"private_key_passphrase,secret" doc:"passphrase of the private key"`
	_        string      `arg:"digest" default:"sha256" doc:"digest of the signature"`
	Encoding string      `arg:"encoding" default:"pem" doc:"encoding of the result"`
	Path     string      `arg:"path,path" doc:"file to write; default: return the result"`
	Raw      bool        `arg:"raw" default:"False" doc:"return bytes instead of text"`
	_        value.Value `arg:"subject,kw,str|list|dict" doc:"subject, as text of RFC 4514, a list of its parts or a mapping; default: the arguments CN, O, C ..."`
	MoreRequestArgs
	SubjectArgs
	OlderSubjectArgs
	ExtArgs
	_ fun.Kwargs
}

func createCSRV2(_ context.Context, c *fun.Call, a *createCSRV2Args) (fun.Result, error) {
	kw := Given(c)
	if alg, ok := kw.Get("algorithm"); ok {
		kw.Set("digest", alg)
	}
	encoding := a.Encoding
	if err := checkEncoding(encoding, "der", "pem"); err != nil {
		return fun.Result{}, err
	}
	if err := checkDigest(text(kw, "digest", "sha256")); err != nil {
		return fun.Result{}, err
	}
	der, err := CreateCSR(c.Env.Host, kw)
	if err != nil {
		return fun.Result{}, err
	}
	return deliver(c, target{path: a.Path, raw: a.Raw}, EncodeCSR(der, encoding), encoding == "pem", "CERTIFICATE REQUEST", "CSR")
}

type encodeCSRArgs struct {
	_        fun.Arguments
	Csr      value.Value `arg:"csr,required" doc:"certificate signing request: a file, PEM text or bytes"`
	Encoding string      `arg:"encoding" default:"pem" doc:"encoding of the result"`
	Raw      bool        `arg:"raw" default:"False" doc:"return bytes instead of text"`
}

func encodeCSR(_ context.Context, c *fun.Call, a *encodeCSRArgs) (fun.Result, error) {
	encoding := a.Encoding
	if err := checkEncoding(encoding, "der", "pem"); err != nil {
		return fun.Result{}, err
	}
	csr, err := loadCSR(c.Env.Host, a.Csr)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(output(EncodeCSR(csr.Raw, encoding), encoding == "pem", a.Raw))
}

// GenerateKey makes a private key: rsa, ec or ed25519. keysize is None for the
// default of the kind.
func GenerateKey(algo string, keysize value.Value) (*pki.Key, error) {
	size, _ := value.AsInt(keysize)
	switch algo {
	case "rsa":
		if size == 0 {
			size = 2048
		}
		if size != 2048 && size != 3072 && size != 4096 {
			return nil, invalidf("RSA key size must be either 2048, 3072 or 4096 bits.")
		}
		k, err := pki.GenerateRSA(int(size))
		return k, invalid(err)
	case "ec":
		if size == 0 {
			size = 256
		}
		k, err := pki.GenerateEC(int(size))
		return k, invalid(err)
	case "ed25519":
		k, err := pki.GenerateEd25519()
		return k, invalid(err)
	case "ed448":
		return nil, fun.Errorf("ed448 keys are not supported: use ed25519")
	}
	return nil, invalidf("Invalid algorithm specified for generating private key: " + algo + ". Valid: rsa, ec, ed25519")
}

// EncodeKey returns a private key in PEM, DER or PKCS #12.
func EncodeKey(k *pki.Key, encoding string, pass *string, compat bool) ([]byte, error) {
	var data []byte
	var err error
	switch encoding {
	case "pem":
		var s string
		s, err = k.PEM(pass)
		data = []byte(s)
	case "der":
		data, err = k.PKCS8(pass)
	default:
		data, err = (&pki.PKCS12{Key: k}).Encode(pass, compat)
	}
	return data, invalid(err)
}

type createPrivateKeyV2Args struct {
	Algo                   string      `arg:"algo" default:"rsa" doc:"kind of the key: rsa, ec or ed25519"`
	Keysize                value.Value `arg:"keysize,int" doc:"size of the key: 2048, 3072 or 4096 (rsa), 256, 384 or 521 (ec); default: 2048 and 256"`
	Passphrase             value.Value `arg:"passphrase,secret,str" doc:"passphrase of the private key"`
	Encoding               string      `arg:"encoding" default:"pem" doc:"encoding of the result"`
	PKCS12EncryptionCompat bool        `arg:"pkcs12_encryption_compat" default:"False" doc:"encrypt PKCS #12 with triple DES and SHA-1, for old programs"`
	Path                   string      `arg:"path,path" doc:"file to write; default: return the result"`
	Raw                    bool        `arg:"raw" default:"False" doc:"return bytes instead of text"`
	Bits                   value.Value `arg:"bits,kw,int" doc:"same as keysize"`
	_                      string      `arg:"cipher,kw" doc:"accepted, has no effect"`
	_                      bool        `arg:"verbose,kw" doc:"accepted, has no effect"`
	_                      bool        `arg:"text,kw" doc:"accepted, has no effect"`
	_                      fun.Kwargs
}

func createPrivateKeyV2(_ context.Context, c *fun.Call, a *createPrivateKeyV2Args) (fun.Result, error) {
	if err := noMore(c); err != nil {
		return fun.Result{}, err
	}
	size := a.Keysize
	if a.Bits != nil {
		size = a.Bits
	}
	if err := checkEncoding(a.Encoding, "der", "pem", "pkcs12"); err != nil {
		return fun.Result{}, err
	}
	k, err := GenerateKey(a.Algo, size)
	if err != nil {
		return fun.Result{}, err
	}
	return deliverKey(c, target{path: a.Path, raw: a.Raw}, k, a.Encoding, Pass(a.Passphrase), a.PKCS12EncryptionCompat)
}

// deliverKey encodes a key and returns it, or writes it to the file of the target.
func deliverKey(c *fun.Call, to target, k *pki.Key, encoding string, pass *string, compat bool) (fun.Result, error) {
	data, err := EncodeKey(k, encoding, pass, compat)
	if err != nil {
		return fun.Result{}, err
	}
	if to.path != "" && encoding == "pem" {
		if err := writeSecret(c.Env.Host, to.path, data, true); err != nil {
			return fun.Result{}, err
		}
		return fun.Value("PEM written to " + to.path)
	}
	return deliver(c, to, data, encoding == "pem", pki.KeyPEM, "")
}

type encodePrivateKeyArgs struct {
	_                      fun.Arguments
	PrivateKey             value.Value `arg:"private_key,required,secret" doc:"private key: a file, PEM text or bytes"`
	Encoding               string      `arg:"encoding" default:"pem" doc:"encoding of the result"`
	Passphrase             value.Value `arg:"passphrase,secret,str" doc:"passphrase of the private key"`
	PKCS12EncryptionCompat bool        `arg:"pkcs12_encryption_compat" default:"False" doc:"encrypt PKCS #12 with triple DES and SHA-1, for old programs"`
	Raw                    bool        `arg:"raw" default:"False" doc:"return bytes instead of text"`
	PrivateKeyPassphrase   value.Value `arg:"private_key_passphrase,secret,str" doc:"passphrase of the private key"`
}

func encodePrivateKey(_ context.Context, c *fun.Call, a *encodePrivateKeyArgs) (fun.Result, error) {
	if err := checkEncoding(a.Encoding, "der", "pem", "pkcs12"); err != nil {
		return fun.Result{}, err
	}
	k, err := LoadKey(c.Env.Host, a.PrivateKey, Pass(a.PrivateKeyPassphrase))
	if err != nil {
		return fun.Result{}, err
	}
	return deliverKey(c, target{raw: a.Raw}, k, a.Encoding, Pass(a.Passphrase), a.PKCS12EncryptionCompat)
}
