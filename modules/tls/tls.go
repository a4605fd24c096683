// Package tls is Salt's execution module "tls": a small certificate authority in a
// directory.
package tls

import (
	"cmp"
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
	"brine/modules/textfile"
	"brine/modules/x509/pki"
)

// Module returns the execution module "tls".
func Module() fun.Module {
	return fun.Module{Name: "tls", Kind: fun.Exec, Doc: "Manage a certificate authority in a directory.", Specs: specs}
}

const (
	shortTime = "060102150405Z"
	caDays    = 100 // for which a revocation list is valid
)

type basePath struct{}

// A store is the directory of the authorities.
type store struct {
	names
	env  *fun.Env
	h    host.Host
	base string
}

// names are the arguments that are parts of paths. A function has some of them.
type names struct {
	CacertPath, CAName, TLSDir, CN, CAFilename, CertFilename, CSRFilename, KeyFilename string
}

// subjectArgs are the parts of the name of a certificate.
type subjectArgs struct {
	_            fun.Arguments
	CN           string `arg:"CN" default:"localhost" doc:"common name"`
	C            string `arg:"C" default:"US" doc:"country"`
	ST           string `arg:"ST" default:"Utah" doc:"state or province"`
	L            string `arg:"L" default:"Salt Lake City" doc:"locality"`
	O            string `arg:"O" default:"SaltStack" doc:"organization"`
	OU           string `arg:"OU" doc:"organizational unit"`
	EmailAddress string `arg:"emailAddress" doc:"email address"`
}

// open returns the directory that cacert_path or the configuration names. What
// set_ca_path or cacert_path named stays for the rest of the run.
func open(ctx context.Context, c *fun.Call, n names) (*store, error) {
	s := &store{names: n, env: c.Env, h: c.Env.Host}
	if p := n.CacertPath; p != "" {
		if c.Env.Memo != nil {
			c.Env.Memo.Store(basePath{}, p)
		}
		s.base = p
	}
	for _, part := range [][2]string{
		{"ca_name", n.CAName},
		{"tls_dir", n.TLSDir},
		{"CN", n.CN},
		{"ca_filename", n.CAFilename},
		{"cert_filename", n.CertFilename},
		{"csr_filename", n.CSRFilename},
		{"key_filename", n.KeyFilename},
	} {
		if arg, v := part[0], part[1]; strings.Contains(v, "/") || v == ".." || v == "." {
			return nil, fun.Errorf("%s must not have a slash: %q", arg, v)
		}
	}
	if s.base != "" {
		return s, nil
	}
	p, err := currentBase(ctx, c.Env)
	s.base = p
	return s, err
}

// currentBase returns the directory of the authorities.
func currentBase(ctx context.Context, env *fun.Env) (string, error) {
	if env.Memo != nil {
		if v, ok := env.Memo.Load(basePath{}); ok {
			return v.(string), nil
		}
	}
	for _, key := range []string{"ca.contextual_cert_base_path", "ca.cert_base_path"} {
		res, err := env.Exec(ctx, "config.option", nil, key)
		if err != nil {
			return "", err
		}
		if value.Truth(res) {
			return value.Str(res), nil
		}
	}
	return "/etc/pki", nil
}

type certBasePathArgs struct {
	_          fun.Arguments
	CacertPath string `arg:"cacert_path,path" doc:"base path; default: ca.cert_base_path of the configuration, /etc/pki"`
}

func certBasePath(ctx context.Context, c *fun.Call, a *certBasePathArgs) (fun.Result, error) {
	if p := a.CacertPath; p != "" {
		return fun.Value(p)
	}
	p, err := currentBase(ctx, c.Env)
	return fun.Result{Value: p}, err
}

type setCAPathArgs struct {
	_          fun.Arguments
	CacertPath string `arg:"cacert_path,required,path" doc:"base path; default: ca.cert_base_path of the configuration, /etc/pki"`
}

func setCAPath(ctx context.Context, c *fun.Call, a *setCAPathArgs) (fun.Result, error) {
	s, err := open(ctx, c, names{CacertPath: a.CacertPath})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(s.base)
}

func (s *store) caName() string { return cmp.Or(s.CAFilename, s.CAName+"_ca_cert") }

// caFile returns the path of the certificate of the authority, or its key.
func (s *store) caFile(ext string) string {
	return s.base + "/" + s.CAName + "/" + s.caName() + ext
}

func (s *store) exists(path string) bool {
	_, err := s.h.Stat(path)
	return err == nil
}

// mkdir makes a directory.
func (s *store) mkdir(dir string) error {
	if err := s.h.MkdirAll(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fun.Errorf("%s", host.OSError(err))
	}
	return nil
}

// write writes a file; private ones are for their owner only.
func (s *store) write(path, text string, private bool) error {
	opts := host.WriteOptions{FollowLinks: true}
	if private {
		mode := fs.FileMode(0o600)
		opts.Mode = &mode
	}
	if err := s.h.WriteFile(path, strings.NewReader(text), opts); err != nil {
		return fun.Errorf("%s", host.OSError(err))
	}
	return nil
}

// cert reads a certificate in PEM.
func (s *store) cert(path string) (*x509.Certificate, error) {
	data, err := s.h.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b := pki.Block(data, "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE")
	if b == nil {
		return nil, pki.ErrCertPEM
	}
	c, err := x509.ParseCertificate(b.Bytes)
	if err != nil {
		return nil, pki.ErrCertPEM
	}
	return c, nil
}

func (s *store) key(path string) (*pki.Key, error) {
	data, err := s.h.ReadFile(path)
	if err != nil {
		return nil, err
	}
	k, _, err := pki.LoadKey(data, nil)
	return k, err
}

// authority reads the certificate and the key of the authority. missing says that
// one is not there.
func (s *store) authority() (cert *x509.Certificate, key *pki.Key, missing bool, err error) {
	if cert, err = s.cert(s.caFile(".crt")); err == nil {
		key, err = s.key(s.caFile(".key"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, true, nil
	}
	if err != nil {
		return nil, nil, false, fun.Errorf("%s: %v", s.caFile(""), err)
	}
	return cert, key, false, nil
}

// subject makes a name of the arguments.
func subject(a *subjectArgs) ([]byte, error) {
	var n pki.Name
	for _, p := range []struct{ arg, attr, text string }{
		{"C", "C", a.C}, {"ST", "ST", a.ST}, {"L", "L", a.L}, {"O", "O", a.O}, {"OU", "OU", a.OU}, {"CN", "CN", a.CN}, {"emailAddress", "MAIL", a.EmailAddress},
	} {
		if p.text == "" {
			continue
		}
		a, err := pki.NewAttr(pki.AttrOID(p.attr), p.text)
		if err != nil {
			return nil, fun.Errorf("%s: %v", p.arg, err)
		}
		n = append(n, []pki.Attr{a})
	}
	der, err := n.DER()
	if err != nil {
		return nil, fun.Errorf("%v", err)
	}
	return der, nil
}

func generate(bits int64) (*pki.Key, string, error) {
	if bits < 1024 || bits > 16384 {
		return nil, "", fun.Errorf("bits must be a number from 1024 to 16384")
	}
	k, err := pki.GenerateRSA(int(bits))
	if err != nil {
		return nil, "", fun.Errorf("%v", err)
	}
	text, err := k.PEM(nil)
	return k, text, err
}

// template returns a certificate that is valid for some days.
func (s *store) template(pub crypto.PublicKey, subject []byte, days int64) (*pki.Template, error) {
	spki, err := pki.MarshalPublic(pub)
	if err != nil {
		return nil, fun.Errorf("%v", err)
	}
	now := s.h.Now().UTC()
	if days < -100_000 || days > 1_000_000 {
		return nil, fun.Errorf("days must be a number of days, not %d", days)
	}
	return &pki.Template{
		Version: 3, Serial: pki.RandomSerial(127), Subject: subject, Issuer: subject, PublicKey: spki,
		NotBefore: now, NotAfter: now.Add(time.Duration(days) * 24 * time.Hour),
	}, nil
}

// sign signs a certificate and notes it in the index.
func (s *store) sign(t *pki.Template, key *pki.Key, dir, digest string) (string, error) {
	der, err := t.Sign(key, digest)
	if err != nil {
		return "", fun.Errorf("%v", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return "", fun.Errorf("%v", err)
	}
	line := "V\t" + cert.NotAfter.UTC().Format(shortTime) + "\t\t" + indexed(cert) + "\n"
	index := s.base + "/" + dir + "/index.txt"
	defer textfile.Lock(s.env, index)()
	if err := s.h.AppendFile(index, []byte(line), 0o644); err != nil {
		return "", fun.Errorf("%s", host.OSError(err))
	}
	return pki.EncodePEM("CERTIFICATE", der), nil
}

// indexed returns how the index of an authority names a certificate.
func indexed(c *x509.Certificate) string {
	var parts strings.Builder
	if n, err := pki.ParseName(c.RawSubject); err == nil {
		for _, kv := range n.Parts() {
			parts.WriteString("/" + kv[0] + "=" + strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(kv[1]))
		}
	}
	return strings.ToUpper(c.SerialNumber.Text(16)) + "\tunknown\t" + parts.String()
}

// pathOrText returns a path, or with asText the content of the file.
func (s *store) pathOrText(path, missing string, asText bool) (fun.Result, error) {
	if !s.exists(path) {
		return fun.Result{}, fun.Errorf("%s", missing)
	}
	if !asText {
		return fun.Value(path)
	}
	data, err := s.h.ReadFile(path)
	if err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
	}
	return fun.Value(value.DecodeReplace(data))
}

type getCASignedCertArgs struct {
	_            fun.Arguments
	CAName       string `arg:"ca_name,required" doc:"name of the authority, a directory under the base path"`
	CN           string `arg:"CN" default:"localhost" doc:"common name"`
	AsText       bool   `arg:"as_text" default:"False" doc:"return the content instead of the path"`
	CacertPath   string `arg:"cacert_path,path" doc:"base path; default: ca.cert_base_path of the configuration, /etc/pki"`
	CertFilename string `arg:"cert_filename" doc:"file name of the certificate; default: the common name"`
}

func getCASignedCert(ctx context.Context, c *fun.Call, a *getCASignedCertArgs) (fun.Result, error) {
	s, err := open(ctx, c, names{CacertPath: a.CacertPath, CAName: a.CAName, CN: a.CN, CertFilename: a.CertFilename})
	if err != nil {
		return fun.Result{}, err
	}
	return s.pathOrText(s.base+"/"+a.CAName+"/certs/"+cmp.Or(a.CertFilename, a.CN)+".crt", "Certificate does not exists for "+a.CN, a.AsText)
}

type getCASignedKeyArgs struct {
	_           fun.Arguments
	CAName      string `arg:"ca_name,required" doc:"name of the authority, a directory under the base path"`
	CN          string `arg:"CN" default:"localhost" doc:"common name"`
	AsText      bool   `arg:"as_text" default:"False" doc:"return the content instead of the path"`
	CacertPath  string `arg:"cacert_path,path" doc:"base path; default: ca.cert_base_path of the configuration, /etc/pki"`
	KeyFilename string `arg:"key_filename" doc:"file name of the key; default: the common name"`
}

func getCASignedKey(ctx context.Context, c *fun.Call, a *getCASignedKeyArgs) (fun.Result, error) {
	s, err := open(ctx, c, names{CacertPath: a.CacertPath, CAName: a.CAName, CN: a.CN, KeyFilename: a.KeyFilename})
	if err != nil {
		return fun.Result{}, err
	}
	return s.pathOrText(s.base+"/"+a.CAName+"/certs/"+cmp.Or(a.KeyFilename, a.CN)+".key", "Certificate does not exists for "+a.CN, a.AsText)
}

type createSelfSignedArgs struct {
	TLSDir string `arg:"tls_dir" default:"tls" doc:"directory under the base path"`
	Bits   int64  `arg:"bits" default:"2048" doc:"size of the RSA key"`
	Days   int64  `arg:"days" default:"365" unit:"days" doc:"days of validity"`
	subjectArgs
	CacertPath   string `arg:"cacert_path,path" doc:"base path; default: ca.cert_base_path of the configuration, /etc/pki"`
	CertFilename string `arg:"cert_filename" doc:"file name of the certificate; default: the common name"`
	Digest       string `arg:"digest" default:"sha256" doc:"digest: md5, sha1, sha224, sha256, sha384 or sha512"`
	Replace      bool   `arg:"replace" default:"False" doc:"replace existing files"`
}

// createSelfSigned makes a key and a certificate that signs itself.
func createSelfSigned(ctx context.Context, c *fun.Call, a *createSelfSignedArgs) (fun.Result, error) {
	s, err := open(ctx, c, names{CacertPath: a.CacertPath, TLSDir: a.TLSDir, CN: a.CN, CertFilename: a.CertFilename})
	if err != nil {
		return fun.Result{}, err
	}
	dir, name := s.base+"/"+a.TLSDir+"/certs", cmp.Or(a.CertFilename, a.CN)
	file := dir + "/" + name
	if !a.Replace && s.exists(file+".crt") {
		return fun.Value(fmt.Sprintf("Certificate %q already exists", name))
	}
	der, err := subject(&a.subjectArgs)
	if err != nil {
		return fun.Result{}, err
	}
	key, keyText, err := generate(a.Bits)
	if err != nil {
		return fun.Result{}, err
	}
	t, err := s.template(key.Public(), der, a.Days)
	if err != nil {
		return fun.Result{}, err
	}
	if err := s.mkdir(dir); err != nil {
		return fun.Result{}, err
	}
	text, err := s.sign(t, key, a.TLSDir, a.Digest)
	if err != nil {
		return fun.Result{}, err
	}
	if err := s.write(file+".key", keyText, true); err != nil {
		return fun.Result{}, err
	}
	if err := s.write(file+".crt", text, false); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(fmt.Sprintf("Created Private Key: %q Created Certificate: %q", file+".key", file+".crt"))
}

func failed(text string) (fun.Result, error) {
	return fun.Value(value.MapOf("retcode", int64(1), "comment", text))
}

type createCASignedArgs struct {
	_            fun.Arguments
	CAName       string `arg:"ca_name,required" doc:"name of the authority, a directory under the base path"`
	CN           string `arg:"CN,required" doc:"common name"`
	Days         int64  `arg:"days" default:"365" unit:"days" doc:"days of validity"`
	CacertPath   string `arg:"cacert_path,path" doc:"base path; default: ca.cert_base_path of the configuration, /etc/pki"`
	CAFilename   string `arg:"ca_filename" doc:"file name of the certificate of the authority; default: CA_NAME_ca_cert"`
	CertPath     string `arg:"cert_path,path" doc:"directory of the certificate; default: certs of the authority"`
	CertFilename string `arg:"cert_filename" doc:"file name of the certificate; default: the common name"`
	Digest       string `arg:"digest" default:"sha256" doc:"digest: md5, sha1, sha224, sha256, sha384 or sha512"`
	CertType     string `arg:"cert_type" doc:"kind of certificate: server, client, or one of tls.extensions in the pillar"`
	TypeExt      bool   `arg:"type_ext" default:"False" doc:"add the kind to the file name"`
	Replace      bool   `arg:"replace" default:"False" doc:"replace existing files"`
}

// createCASigned signs a request by the authority.
func createCASigned(ctx context.Context, c *fun.Call, a *createCASignedArgs) (fun.Result, error) {
	s, err := open(ctx, c, names{CacertPath: a.CacertPath, CAName: a.CAName, CN: a.CN, CAFilename: a.CAFilename, CertFilename: a.CertFilename})
	if err != nil {
		return fun.Result{}, err
	}
	dir := cmp.Or(a.CertPath, s.base+"/"+a.CAName+"/certs")
	name := a.CN
	if a.TypeExt {
		if a.CertType == "" {
			return fun.Result{}, fun.Errorf("type_ext needs cert_type")
		}
		name += "_" + a.CertType
	}
	file := cmp.Or(a.CertFilename, name)
	if !a.Replace && s.exists(dir+"/"+file+".crt") {
		return fun.Value(fmt.Sprintf("Certificate %q already exists", file))
	}
	ca, key, missing, err := s.authority()
	switch {
	case err != nil:
		return fun.Result{}, err
	case missing:
		return failed(fmt.Sprintf("There is no CA named %q", a.CAName))
	}
	data, err := s.h.ReadFile(dir + "/" + name + ".csr")
	if err != nil {
		return failed(fmt.Sprintf("There is no CSR that matches the CN %q", file))
	}
	req, _, err := pki.LoadCSR(data)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	t, err := s.template(req.PublicKey, req.RawSubject, a.Days)
	if err != nil {
		return fun.Result{}, err
	}
	t.Issuer, t.Exts = ca.RawSubject, pki.RequestExtensions(req)
	text, err := s.sign(t, key, a.CAName, a.Digest)
	if err != nil {
		return fun.Result{}, err
	}
	if err := s.write(dir+"/"+file+".crt", text, false); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(fmt.Sprintf("Created Certificate for %q: %q", a.CN, dir+"/"+file+".crt"))
}

type createPKCS12Args struct {
	_          fun.Arguments
	CAName     string `arg:"ca_name,required" doc:"name of the authority, a directory under the base path"`
	CN         string `arg:"CN,required" doc:"common name"`
	Passphrase string `arg:"passphrase,secret" default:"" doc:"passphrase of the archive"`
	CacertPath string `arg:"cacert_path,path" doc:"base path; default: ca.cert_base_path of the configuration, /etc/pki"`
	Replace    bool   `arg:"replace" default:"False" doc:"replace existing files"`
}

func createPKCS12(ctx context.Context, c *fun.Call, a *createPKCS12Args) (fun.Result, error) {
	s, err := open(ctx, c, names{CacertPath: a.CacertPath, CAName: a.CAName, CN: a.CN})
	if err != nil {
		return fun.Result{}, err
	}
	name, cn := a.CAName, a.CN
	file := s.base + "/" + name + "/certs/" + cn
	if !a.Replace && s.exists(file+".p12") {
		return fun.Value(fmt.Sprintf("Certificate %q already exists", cn))
	}
	ca, err := s.cert(s.base + "/" + name + "/" + name + "_ca_cert.crt")
	if err != nil {
		return fun.Value(fmt.Sprintf("There is no CA named %q", name))
	}
	cert, err := s.cert(file + ".crt")
	if err != nil {
		return fun.Value(fmt.Sprintf("There is no certificate that matches the CN %q", cn))
	}
	key, err := s.key(file + ".key")
	if err != nil {
		return fun.Value(fmt.Sprintf("There is no certificate that matches the CN %q", cn))
	}
	pass := a.Passphrase
	der, err := (&pki.PKCS12{Key: key, Cert: cert, Chain: []*x509.Certificate{ca}}).Encode(&pass, false)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	if err := s.write(file+".p12", string(der), true); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(fmt.Sprintf("Created PKCS#12 Certificate for %q: %q", cn, file+".p12"))
}

type expirationDateArgs struct {
	_          fun.Arguments
	Cert       string `arg:"cert,required" doc:"file of a certificate, or PEM text"`
	DateFormat string `arg:"date_format" default:"%Y-%m-%d" doc:"format of strftime"`
}

func expirationDate(_ context.Context, c *fun.Call, a *expirationDateArgs) (fun.Result, error) {
	s := &store{h: c.Env.Host}
	cert, err := s.cert(a.Cert)
	if err != nil {
		return fun.Result{}, fun.Errorf("Failed to read cert from %s, see log for details", a.Cert)
	}
	return fun.Value(pyformat.Strftime(cert.NotAfter.UTC(), a.DateFormat))
}
