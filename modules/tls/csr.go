package tls

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/x509/pki"
)

// extensions returns the extensions of a kind of certificates: server, client, or
// what the pillar has under tls.extensions.
func extensions(ctx context.Context, c *fun.Call, kind string) (*value.Map, error) {
	if kind == "" {
		kind = "server"
	}
	get := func(name string, def *value.Map) (*value.Map, error) {
		res, err := c.Env.Exec(ctx, "pillar.get", nil, "tls.extensions:"+name, nil)
		if err != nil {
			return nil, err
		}
		if m, ok := res.(*value.Map); ok && m.Len() > 0 {
			return m, nil
		}
		if def == nil {
			return nil, fun.Errorf("the pillar has no tls.extensions for %s", name)
		}
		return def, nil
	}
	common, err := get("common", value.MapOf("csr", value.MapOf("basicConstraints", "CA:FALSE"), "cert", value.MapOf("authorityKeyIdentifier", "keyid,issuer:always", "subjectKeyIdentifier", "hash")))
	if err != nil {
		return nil, err
	}
	var def *value.Map
	switch kind {
	case "server":
		def = value.MapOf("csr", value.MapOf("extendedKeyUsage", "serverAuth", "keyUsage", "digitalSignature, keyEncipherment"), "cert", value.NewMap(0))
	case "client":
		def = value.MapOf("csr", value.MapOf("extendedKeyUsage", "clientAuth", "keyUsage", "nonRepudiation, digitalSignature, keyEncipherment"), "cert", value.NewMap(0))
	}
	own, err := get(kind, def)
	if err != nil {
		return nil, err
	}
	out := value.NewMap(2)
	for use, exts := range common.All() {
		merged := value.NewMap(4)
		if m, ok := exts.(*value.Map); ok {
			merged.Update(m)
		}
		if m := own.Map(use); m != nil {
			merged.Update(m)
		}
		out.Set(use, merged)
	}
	return out, nil
}

type getExtensionsArgs struct {
	_        fun.Arguments
	CertType string `arg:"cert_type,required" doc:"kind of certificate: server, client, or one of tls.extensions in the pillar"`
}

func getExtensions(ctx context.Context, c *fun.Call, a *getExtensionsArgs) (fun.Result, error) {
	m, err := extensions(ctx, c, a.CertType)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

type createCSRArgs struct {
	CAName string `arg:"ca_name,required" doc:"name of the authority, a directory under the base path"`
	Bits   int64  `arg:"bits" default:"2048" doc:"size of the RSA key"`
	subjectArgs
	SubjectAltName []string `arg:"subjectAltName" doc:"other names, such as DNS:www.example.com"`
	CacertPath     string   `arg:"cacert_path,path" doc:"base path; default: ca.cert_base_path of the configuration, /etc/pki"`
	CAFilename     string   `arg:"ca_filename" doc:"file name of the certificate of the authority; default: CA_NAME_ca_cert"`
	CSRPath        string   `arg:"csr_path,path" doc:"directory of the request; default: certs of the authority"`
	CSRFilename    string   `arg:"csr_filename" doc:"file name of the request; default: the common name"`
	Digest         string   `arg:"digest" default:"sha256" doc:"digest: md5, sha1, sha224, sha256, sha384 or sha512"`
	TypeExt        bool     `arg:"type_ext" default:"False" doc:"add the kind to the file name"`
	CertType       string   `arg:"cert_type" default:"server" doc:"kind of certificate: server, client, or one of tls.extensions in the pillar"`
	Replace        bool     `arg:"replace" default:"False" doc:"replace existing files"`
}

// createCSR makes a key and a request for the authority.
func createCSR(ctx context.Context, c *fun.Call, a *createCSRArgs) (fun.Result, error) {
	s, err := open(ctx, c, names{CacertPath: a.CacertPath, CAName: a.CAName, CN: a.CN, CAFilename: a.CAFilename, CSRFilename: a.CSRFilename})
	if err != nil {
		return fun.Result{}, err
	}
	if !s.exists(s.caFile(".crt")) {
		return fun.Value(fmt.Sprintf("Certificate for CA named %q does not exist, please create it first.", a.CAName))
	}
	dir := cmp.Or(a.CSRPath, s.base+"/"+a.CAName+"/certs/")
	name := a.CN
	if a.TypeExt {
		name += "_" + a.CertType
	}
	file := strings.TrimSuffix(dir, "/") + "/" + cmp.Or(a.CSRFilename, name)
	if !a.Replace && s.exists(file+".csr") {
		return fun.Value(fmt.Sprintf("Certificate Request %q already exists", file+".csr"))
	}
	exts, err := csrExts(ctx, c, a)
	if err != nil {
		return fun.Result{}, err
	}
	der, err := subject(&a.subjectArgs)
	if err != nil {
		return fun.Result{}, err
	}
	key, keyText, err := generate(a.Bits)
	if err != nil {
		return fun.Result{}, err
	}
	req := &pki.Request{Subject: der, Exts: exts}
	csr, err := req.Sign(key, nil, a.Digest)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	if err := s.mkdir(dir); err != nil {
		return fun.Result{}, err
	}
	if err := s.write(file+".key", keyText, true); err != nil {
		return fun.Result{}, err
	}
	if err := s.write(file+".csr", pki.EncodePEM("CERTIFICATE REQUEST", csr), false); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(fmt.Sprintf("Created Private Key: %q Created CSR for %q: %q", file+".key", a.CN, file+".csr"))
}

func csrExts(ctx context.Context, c *fun.Call, a *createCSRArgs) ([]pki.Extension, error) {
	m, err := extensions(ctx, c, a.CertType)
	if err != nil {
		return nil, err
	}
	want := value.NewMap(4)
	if csr := m.Map("csr"); csr != nil {
		want.Update(csr)
	}
	if names := a.SubjectAltName; len(names) > 0 {
		want.Set("subjectAltName", strings.Join(names, ", "))
	}
	var out []pki.Extension
	for name, v := range want.All() {
		e, err := pki.Build(value.Str(name), v, pki.Context{})
		if err != nil {
			return nil, fun.Errorf("%s: %v", value.Str(name), err)
		}
		out = append(out, e)
	}
	return out, nil
}
