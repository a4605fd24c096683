package tls

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/textfile"
	"brine/modules/x509/pki"
)

// crl returns a revocation list of the authority.
func (s *store) crl(ca *x509.Certificate, key *pki.Key, revoked []pki.Revoked, digest string) (string, error) {
	now := s.h.Now().UTC()
	list := &pki.CRL{Version: 1, Issuer: ca.RawSubject, LastUpdate: now, NextUpdate: now.Add(caDays * 24 * time.Hour), Revoked: revoked}
	der, err := list.Sign(key, digest)
	if err != nil {
		return "", fun.Errorf("%v", err)
	}
	return pki.EncodePEM("X509 CRL", der), nil
}

type createEmptyCRLArgs struct {
	_          fun.Arguments
	CAName     string `arg:"ca_name,required" doc:"name of the authority, a directory under the base path"`
	CacertPath string `arg:"cacert_path,path" doc:"base path; default: ca.cert_base_path of the configuration, /etc/pki"`
	CAFilename string `arg:"ca_filename" doc:"file name of the certificate of the authority; default: CA_NAME_ca_cert"`
	CRLFile    string `arg:"crl_file,path" doc:"file of the revocation list; default: crl.pem of the authority"`
	Digest     string `arg:"digest" default:"sha256" doc:"digest: md5, sha1, sha224, sha256, sha384 or sha512"`
}

func createEmptyCRL(ctx context.Context, c *fun.Call, a *createEmptyCRLArgs) (fun.Result, error) {
	s, err := open(ctx, c, names{CacertPath: a.CacertPath, CAName: a.CAName, CAFilename: a.CAFilename})
	if err != nil {
		return fun.Result{}, err
	}
	file := cmp.Or(a.CRLFile, s.base+"/"+a.CAName+"/crl.pem")
	if s.exists(file) {
		return fun.Value(fmt.Sprintf("CRL %q already exists", file))
	}
	ca, key, missing, err := s.authority()
	switch {
	case err != nil:
		return fun.Result{}, err
	case missing:
		return fun.Value(fmt.Sprintf("There is no CA named %q", a.CAName))
	}
	text, err := s.crl(ca, key, nil, a.Digest)
	if err != nil {
		return fun.Result{}, err
	}
	if err := s.write(file, text, false); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(fmt.Sprintf("Created an empty CRL: %q", file))
}

type revokeCertArgs struct {
	_            fun.Arguments
	CAName       string `arg:"ca_name,required" doc:"name of the authority, a directory under the base path"`
	CN           string `arg:"CN,required" doc:"common name"`
	CacertPath   string `arg:"cacert_path,path" doc:"base path; default: ca.cert_base_path of the configuration, /etc/pki"`
	CAFilename   string `arg:"ca_filename" doc:"file name of the certificate of the authority; default: CA_NAME_ca_cert"`
	CertPath     string `arg:"cert_path,path" doc:"directory of the certificate; default: certs of the authority"`
	CertFilename string `arg:"cert_filename" doc:"file name of the certificate; default: the common name"`
	CRLFile      string `arg:"crl_file,path" doc:"file of the revocation list; default: crl.pem of the authority"`
	Digest       string `arg:"digest" default:"sha256" doc:"digest: md5, sha1, sha224, sha256, sha384 or sha512"`
}

// revokeCert notes in the index that a certificate is revoked, and makes the
// revocation list of it.
func revokeCert(ctx context.Context, c *fun.Call, a *revokeCertArgs) (fun.Result, error) {
	s, err := open(ctx, c, names{CacertPath: a.CacertPath, CAName: a.CAName, CN: a.CN, CAFilename: a.CAFilename, CertFilename: a.CertFilename})
	if err != nil {
		return fun.Result{}, err
	}
	dir := cmp.Or(a.CertPath, s.base+"/"+a.CAName+"/certs")
	file := dir + "/" + cmp.Or(a.CertFilename, a.CN) + ".crt"
	ca, key, missing, err := s.authority()
	switch {
	case err != nil:
		return fun.Result{}, err
	case missing:
		return fun.Value(fmt.Sprintf("There is no CA named %q", a.CAName))
	}
	cert, err := s.cert(file)
	if err != nil {
		return fun.Value(fmt.Sprintf("There is no client certificate named %q", a.CN))
	}
	list := cmp.Or(a.CRLFile, s.base+"/"+a.CAName+"/crl.pem")
	if st, err := s.h.Stat(list); err == nil && st.Mode.IsDir() {
		return failed(fmt.Sprintf("crl_file %q is an existing directory", list))
	}
	serial := strings.ToUpper(cert.SerialNumber.Text(16))
	already := false
	var entries []pki.Revoked
	_, err = textfile.Edit(c.Env, s.base+"/"+a.CAName+"/index.txt", func(text string) (string, error) {
		var now string
		now, entries, already = revokeIn(text, serial, cert, s.h.Now().UTC())
		return now, nil
	})
	if err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
	}
	if already {
		return fun.Value(fmt.Sprintf("%q was already revoked, serial number: %s", file, serial))
	}
	text, err := s.crl(ca, key, entries, a.Digest)
	if err != nil {
		return fun.Result{}, err
	}
	if err := s.write(list, text, false); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(fmt.Sprintf("Revoked Certificate: %q, serial number: %s", file, serial))
}

// revokeIn marks a certificate in the text of an index as revoked; one that is not
// in it is added. It returns what is revoked.
func revokeIn(text, serial string, cert *x509.Certificate, now time.Time) (out string, revoked []pki.Revoked, already bool) {
	lines := textfile.Lines(text)
	found := false
	mark := "R\t" + cert.NotAfter.UTC().Format(shortTime) + "\t" + now.Format(shortTime) + "\t" + indexed(cert)
	for i, line := range lines {
		f := strings.Split(line, "\t")
		if len(f) < 4 || f[3] != serial {
			continue
		}
		found = true
		if f[0] == "R" {
			already = true
			continue
		}
		lines[i] = mark
	}
	if !found {
		lines = append(lines, mark)
	}
	for _, line := range lines {
		f := strings.Split(line, "\t")
		if len(f) < 4 || f[0] != "R" {
			continue
		}
		n, ok := new(big.Int).SetString(f[3], 16)
		at, err := time.Parse(shortTime, f[2])
		if ok && err == nil && n.Sign() >= 0 {
			revoked = append(revoked, pki.Revoked{Serial: n, Date: at})
		}
	}
	return textfile.Join(lines), revoked, already
}

type validateArgs struct {
	_       fun.Arguments
	Cert    string `arg:"cert,required" doc:"file of a certificate, or PEM text"`
	CAName  string `arg:"ca_name,required" doc:"name of the authority, a directory under the base path"`
	CRLFile string `arg:"crl_file,required,path" doc:"file of the revocation list; default: crl.pem of the authority"`
}

// validate checks a certificate against its authority and a revocation list.
func validate(ctx context.Context, c *fun.Call, a *validateArgs) (fun.Result, error) {
	s, err := open(ctx, c, names{CAName: a.CAName})
	if err != nil {
		return fun.Result{}, err
	}
	cert, err := s.cert(a.Cert)
	if err != nil {
		return fun.Result{}, fun.Errorf("Failed to read cert from %s, see log for details", a.Cert)
	}
	ca, err := s.cert(s.base + "/" + a.CAName + "/" + a.CAName + "_ca_cert.crt")
	if err != nil {
		return fun.Result{}, fun.Errorf("Failed to read the certificate of CA %s", a.CAName)
	}
	var crl *pki.CRL
	if file := a.CRLFile; file != "" {
		data, err := s.h.ReadFile(file)
		if err != nil {
			return fun.Result{}, fun.Errorf("%s", host.OSError(err))
		}
		if crl, _, err = pki.LoadCRL(data); err != nil {
			return fun.Result{}, fun.Errorf("%v", err)
		}
	}
	if fault := invalidity(cert, ca, crl, s.h.Now()); fault != "" {
		n, _ := pki.ParseName(cert.RawSubject)
		return fun.Value(value.MapOf("error", fault, "error_cert", n.String(), "valid", false))
	}
	return fun.Value(value.MapOf("valid", true))
}

// invalidity returns why a certificate is not valid, in OpenSSL's words.
func invalidity(cert, ca *x509.Certificate, crl *pki.CRL, now time.Time) string {
	signed, err := pki.ParseSigned(cert.Raw)
	switch {
	case err != nil:
		return "certificate signature failure"
	case !bytes.Equal(cert.RawIssuer, ca.RawSubject):
		return "unable to get local issuer certificate"
	case crl == nil || !bytes.Equal(crl.Issuer, ca.RawSubject):
		return "unable to get certificate CRL"
	case !crl.Signed.VerifiedBy(ca.PublicKey):
		return "CRL signature failure"
	case !crl.NextUpdate.IsZero() && now.After(crl.NextUpdate):
		return "CRL has expired"
	case slices.ContainsFunc(crl.Revoked, func(r pki.Revoked) bool { return r.Serial.Cmp(cert.SerialNumber) == 0 }):
		return "certificate revoked"
	case !signed.VerifiedBy(ca.PublicKey):
		return "certificate signature failure"
	case now.Before(cert.NotBefore) || now.Before(ca.NotBefore):
		return "certificate is not yet valid"
	case now.After(cert.NotAfter) || now.After(ca.NotAfter):
		return "certificate has expired"
	}
	return ""
}
