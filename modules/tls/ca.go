package tls

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/x509/pki"
)

type caExistsArgs struct {
	_          fun.Arguments
	CAName     string `arg:"ca_name,required" doc:"name of the authority, a directory under the base path"`
	CacertPath string `arg:"cacert_path,path" doc:"base path; default: ca.cert_base_path of the configuration, /etc/pki"`
	CAFilename string `arg:"ca_filename" doc:"file name of the certificate of the authority; default: CA_NAME_ca_cert"`
}

func caExists(ctx context.Context, c *fun.Call, a *caExistsArgs) (fun.Result, error) {
	s, err := open(ctx, c, names{CacertPath: a.CacertPath, CAName: a.CAName, CAFilename: a.CAFilename})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(s.exists(s.caFile(".crt")))
}

type getCAArgs struct {
	_          fun.Arguments
	CAName     string `arg:"ca_name,required" doc:"name of the authority, a directory under the base path"`
	AsText     bool   `arg:"as_text" default:"False" doc:"return the content instead of the path"`
	CacertPath string `arg:"cacert_path,path" doc:"base path; default: ca.cert_base_path of the configuration, /etc/pki"`
}

func getCA(ctx context.Context, c *fun.Call, a *getCAArgs) (fun.Result, error) {
	s, err := open(ctx, c, names{CacertPath: a.CacertPath, CAName: a.CAName})
	if err != nil {
		return fun.Result{}, err
	}
	name := a.CAName
	return s.pathOrText(s.base+"/"+name+"/"+name+"_ca_cert.crt", "Certificate does not exist for "+name, a.AsText)
}

// skipped reports whether onlyif or unless keeps a function from its work.
func skipped(ctx context.Context, c *fun.Call, a *createCAArgs) (bool, error) {
	check := func(v value.Value) (bool, error) {
		cmd, ok := v.(string)
		if !ok {
			return value.Truth(v), nil
		}
		res, err := c.Env.Exec(ctx, "cmd.retcode", nil, cmd)
		return res == int64(0), err
	}
	if v := a.Onlyif; v != nil {
		if ok, err := check(v); err != nil || !ok {
			return true, err
		}
	}
	if v := a.Unless; v != nil {
		return check(v)
	}
	return false, nil
}

type createCAArgs struct {
	CAName string `arg:"ca_name,required" doc:"name of the authority, a directory under the base path"`
	Bits   int64  `arg:"bits" default:"2048" doc:"size of the RSA key"`
	Days   int64  `arg:"days" default:"365" unit:"days" doc:"days of validity"`
	subjectArgs
	Fixmode    bool        `arg:"fixmode" default:"False" doc:"make the certificate again, with the existing key"`
	CacertPath string      `arg:"cacert_path,path" doc:"base path; default: ca.cert_base_path of the configuration, /etc/pki"`
	CAFilename string      `arg:"ca_filename" doc:"file name of the certificate of the authority; default: CA_NAME_ca_cert"`
	Digest     string      `arg:"digest" default:"sha256" doc:"digest: md5, sha1, sha224, sha256, sha384 or sha512"`
	Onlyif     value.Value `arg:"onlyif,str|bool" doc:"only if this command succeeds, or this is true"`
	Unless     value.Value `arg:"unless,str|bool" doc:"only if this command fails, or this is false"`
	Replace    bool        `arg:"replace" default:"False" doc:"replace existing files"`
}

// createCA makes an authority. A key that exists stays.
func createCA(ctx context.Context, c *fun.Call, a *createCAArgs) (fun.Result, error) {
	s, err := open(ctx, c, names{CacertPath: a.CacertPath, CAName: a.CAName, CN: a.CN, CAFilename: a.CAFilename})
	if err != nil {
		return fun.Result{}, err
	}
	if skip, err := skipped(ctx, c, a); err != nil || skip {
		return fun.Result{}, err
	}
	name, certFile, keyFile := a.CAName, s.caFile(".crt"), s.caFile(".key")
	switch {
	case !a.Replace && !a.Fixmode && s.exists(certFile):
		return fun.Value(fmt.Sprintf("Certificate for CA named %q already exists", name))
	case a.Fixmode && !s.exists(certFile):
		return fun.Result{}, fun.Errorf("%s does not exists, can't fix", certFile)
	}
	if err := s.mkdir(s.base + "/" + name); err != nil {
		return fun.Result{}, err
	}
	key, err := s.caKey(keyFile, a.Bits)
	if err != nil {
		return fun.Result{}, err
	}
	der, err := subject(&a.subjectArgs)
	if err != nil {
		return fun.Result{}, err
	}
	t, err := s.template(key.Public(), der, a.Days)
	if err != nil {
		return fun.Result{}, err
	}
	if err := caExts(t); err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	text, err := s.sign(t, key, name, a.Digest)
	if err != nil {
		return fun.Result{}, err
	}
	if err := s.write(certFile, text, false); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(fmt.Sprintf("Created Private Key: %q Created CA %q: %q", keyFile, name, certFile))
}

// caKey returns the key of an authority, which is made where it is not there. One
// that cannot be read is kept under another name.
func (s *store) caKey(file string, bits int64) (*pki.Key, error) {
	key, err := s.key(file)
	if err == nil {
		return key, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		if err := s.h.Rename(file, file+".unloadable."+s.h.Now().UTC().Format("20060102150405")); err != nil {
			return nil, fun.Errorf("%s", host.OSError(err))
		}
	}
	key, text, err := generate(bits)
	if err != nil {
		return nil, err
	}
	return key, s.write(file, text, true)
}

// caExts sets the extensions of an authority.
func caExts(t *pki.Template) error {
	ctx := pki.Context{Subject: t.PublicKey}
	for _, e := range [][2]string{{"basicConstraints", "critical, CA:TRUE, pathlen:0"}, {"keyUsage", "critical, keyCertSign, cRLSign"}, {"subjectKeyIdentifier", "hash"}, {"authorityKeyIdentifier", "issuer:always,keyid:always"}} {
		if e[0] == "authorityKeyIdentifier" {
			ctx.CA = &pki.CAInfo{Issuer: t.Issuer, Serial: pki.Integer(t.Serial), PublicKey: t.PublicKey, Exts: t.Exts}
		}
		x, err := pki.Build(e[0], e[1], ctx)
		if err != nil {
			return err
		}
		t.Exts = append(t.Exts, x)
	}
	return nil
}
