// Package x509 has Salt's two execution modules "x509": the one of M2Crypto, which
// serves by default, and x509_v2, which serves where the configuration says
// "features: {x509_v2: true}".
package x509

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io/fs"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	files "brine/modules/file"
	"brine/modules/textfile"
	"brine/modules/x509/pki"
)

// Module returns the execution module "x509" that serves by default.
func Module() fun.Module {
	return fun.Module{Name: "x509", Kind: fun.Exec, Doc: "Manage X.509 certificates.", Avail: V1, Specs: specs}
}

// ModuleV2 returns the execution module "x509_v2", which serves as "x509".
func ModuleV2() fun.Module {
	return fun.Module{Name: "x509", Kind: fun.Exec, Doc: "Manage X.509 certificates.", Avail: V2, Specs: specsV2}
}

func wantsV2(env *fun.Env) bool {
	if env.Opts == nil {
		return false
	}
	m, ok := env.Opts.At("features").(value.Mapping)
	if !ok {
		return false
	}
	v, _ := m.Get("x509_v2")
	return value.Truth(v)
}

// V1 reports whether the older module serves.
func V1(env *fun.Env) (bool, string) { return !wantsV2(env), "Superseded, using x509_v2" }

// V2 reports whether x509_v2 serves.
func V2(env *fun.Env) (bool, string) {
	return wantsV2(env), "x509_v2 needs to be explicitly enabled by setting `x509_v2: true` in the minion configuration value `features`"
}

// PEMEntry returns the first PEM block of a type in a text or a file.
func PEMEntry(h host.Host, v value.Value, kind string) (string, error) {
	text, err := textOrFile(h, v)
	if err != nil {
		return "", err
	}
	entry, err := pki.Entry(text, kind)
	return entry, invalid(err)
}

func textOrFile(h host.Host, v value.Value) (string, error) {
	if b, ok := v.(value.Bytes); ok {
		return string(b), nil
	}
	if IsFile(h, v) {
		b, err := h.ReadFile(v.(string))
		if err != nil {
			return "", fun.Errorf("%s", host.OSError(err))
		}
		return value.DecodeReplace(b), nil
	}
	return value.Str(v), nil
}

// writePEM writes a PEM block to a file that only its owner may read, unless it is
// there with another mode. Without overwrite, a private key and parameters in the
// file stay beside a certificate.
func writePEM(h host.Host, text, path string, overwrite bool, kind string) (string, error) {
	entry, err := pki.Entry(text, kind)
	if err != nil {
		return "", invalid(err)
	}
	if kind == "CERTIFICATE" && !overwrite && IsFile(h, path) {
		old, err := h.ReadFile(path)
		if err != nil {
			return "", fun.Errorf("%s", host.OSError(err))
		}
		if key, err := pki.Entry(string(old), pki.KeyPEM); err == nil {
			entry = key + entry
		}
		if params, err := pki.Entry(string(old), "DH PARAMETERS"); err == nil {
			entry += params
		}
	}
	if err := textfile.WriteMode(h, path, entry, 0o600); err != nil {
		return "", fun.Errorf("%s", host.OSError(err))
	}
	return "PEM written to " + path, nil
}

// matching returns what read returns for each file that a glob matches. A file that
// it refuses fails the call, as in Salt, and is named: who asks for all certificates
// would not notice that one is missing.
func matching(c *fun.Call, a *getPEMEntriesArgs, read func(path string) (value.Value, error)) (fun.Result, error) {
	out := value.NewMap(4)
	for _, path := range files.New(c.Env, "base", false).Glob(a.GlobPath) {
		if !IsFile(c.Env.Host, path) {
			continue
		}
		v, err := read(path)
		if wrong, is := errors.AsType[*fun.InvocationError](err); is {
			why, _, _ := strings.Cut(wrong.Msg, ":\n") // what the file holds, which may be any secret, follows
			return fun.Result{}, &fun.InvocationError{Msg: path + ": " + why}
		}
		if err != nil {
			return fun.Result{}, fun.Errorf("%s: %s", path, err)
		}
		out.Set(path, v)
	}
	return fun.Value(out)
}

// getPEMEntriesArgs are the arguments of getPEMEntries, readCertificates and readCertificatesV2.
type getPEMEntriesArgs struct {
	_        fun.Arguments
	GlobPath string `arg:"glob_path,required,path" doc:"files, as a glob"`
}

func getPEMEntries(_ context.Context, c *fun.Call, a *getPEMEntriesArgs) (fun.Result, error) {
	return matching(c, a, func(path string) (value.Value, error) {
		entry, err := PEMEntry(c.Env.Host, path, "")
		return value.Bytes(entry), err
	})
}

func readCertificates(_ context.Context, c *fun.Call, a *getPEMEntriesArgs) (fun.Result, error) {
	return matching(c, a, func(path string) (value.Value, error) { return InfoV1(c.Env, path) })
}

func readCertificatesV2(_ context.Context, c *fun.Call, a *getPEMEntriesArgs) (fun.Result, error) {
	return matching(c, a, func(path string) (value.Value, error) { return infoV2(c.Env, path) })
}

// getPEMEntryArgs are the arguments of getPEMEntry and getPEMEntryV2.
type getPEMEntryArgs struct {
	_       fun.Arguments
	Text    value.Value `arg:"text,required,secret" doc:"PEM text, or a file that has it"`
	PemType string      `arg:"pem_type" doc:"type of the PEM block, a regular expression such as CERTIFICATE; default: any"`
}

func getPEMEntry(_ context.Context, c *fun.Call, a *getPEMEntryArgs) (fun.Result, error) {
	entry, err := PEMEntry(c.Env.Host, a.Text, a.PemType)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.Bytes(entry))
}

// PEMEntryV2 is PEMEntry for what x509_v2 takes: hexadecimal digits and base64 as well.
func PEMEntryV2(h host.Host, v value.Value, kind string) (string, error) {
	data, err := Source(h, v)
	if err != nil {
		return "", err
	}
	entry, err := pki.Entry(value.DecodeReplace(data), kind)
	return entry, invalid(err)
}

func getPEMEntryV2(_ context.Context, c *fun.Call, a *getPEMEntryArgs) (fun.Result, error) {
	entry, err := PEMEntryV2(c.Env.Host, a.Text, a.PemType)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.Bytes(entry))
}

type writePEMFnArgs struct {
	_         fun.Arguments
	Text      value.Value `arg:"text,required,secret" doc:"PEM text, or a file that has it"`
	Path      string      `arg:"path,required,path" doc:"file to write; default: return the result"`
	Overwrite bool        `arg:"overwrite" default:"True" doc:"replace the whole file; False keeps a private key and DH parameters in it"`
	PemType   string      `arg:"pem_type" doc:"type of the PEM block, a regular expression such as CERTIFICATE; default: any"`
}

func writePEMFn(_ context.Context, c *fun.Call, a *writePEMFnArgs) (fun.Result, error) {
	text, err := textOrFile(c.Env.Host, a.Text)
	if err != nil {
		return fun.Result{}, err
	}
	said, err := writePEM(c.Env.Host, text, a.Path, a.Overwrite, a.PemType)
	return fun.Result{Value: said}, err
}

// privateKeySize returns the size of a private key, None for kinds that have one.
func privateKeySize(_ context.Context, c *fun.Call, a *getPrivateKeySizeArgs) (fun.Result, error) {
	k, err := LoadKey(c.Env.Host, a.PrivateKey, Pass(a.Passphrase))
	if err != nil {
		return fun.Result{}, err
	}
	if n, ok := pki.KeySize(k.Public()); ok {
		return fun.Value(int64(n))
	}
	return fun.Value(nil)
}

// output is what encode functions return: bytes where raw says so, PEM as text,
// else base64.
func output(data []byte, isText, raw bool) value.Value {
	switch {
	case raw:
		return value.Bytes(data)
	case isText:
		return string(data)
	}
	return base64.StdEncoding.EncodeToString(data)
}

// A target is where a function puts what it makes.
type target struct {
	path string // "" is its return
	raw  bool   // return bytes
	keep bool   // what else the file has
}

// deliver returns data, or writes it to the file of the target.
func deliver(c *fun.Call, to target, data []byte, isText bool, kind, said string) (fun.Result, error) {
	path := to.path
	if path == "" {
		return fun.Value(output(data, isText, to.raw))
	}
	if isText && kind != "" {
		done, err := writePEM(c.Env.Host, string(data), path, !to.keep, kind)
		return fun.Result{Value: done}, err
	}
	err := writeSecret(c.Env.Host, path, data, kind == pki.KeyPEM)
	if err != nil {
		return fun.Result{}, err
	}
	if said == "" {
		return fun.Value(nil)
	}
	return fun.Value(said + " written to " + path)
}

// writeSecret writes a file; one with a key is not for everybody: a new one for its
// owner only, whatever the umask.
func writeSecret(h host.Host, path string, data []byte, secret bool) error {
	var err error
	if secret {
		err = textfile.WriteMode(h, path, string(data), 0o600)
	} else {
		err = textfile.Write(h, path, string(data))
	}
	if err != nil {
		return fun.Errorf("%s", host.OSError(err))
	}
	return nil
}

func exists(h host.Host, path string) bool {
	_, err := h.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// publish asks another machine to sign a certificate, by publish.publish.
func publish(ctx context.Context, env *fun.Env, server, name string, arg value.Value) (value.Value, error) {
	res, err := env.Exec(ctx, "publish.publish", value.MapOf("arg", arg), server, name)
	if err == nil {
		return res, nil
	}
	if nf := (*fun.NotFoundError)(nil); errors.As(err, &nf) {
		return nil, fun.Errorf("a certificate of ca_server %s needs publish.publish, which is not available: sign it on that machine, for example by an orchestration", server)
	}
	return nil, err
}

// encodeCert returns a certificate and others after it in an encoding.
func encodeCert(cert *x509.Certificate, chain []*x509.Certificate, encoding string, key *pki.Key, pass *string, compat bool, friendly string) ([]byte, error) {
	switch encoding {
	case "der":
		return cert.Raw, nil
	case "pem":
		out := []byte(pki.EncodePEM("CERTIFICATE", cert.Raw))
		for _, c := range chain {
			out = append(out, "\n"+pki.EncodePEM("CERTIFICATE", c.Raw)...)
		}
		return out, nil
	case "pkcs12":
		der, err := (&pki.PKCS12{Key: key, Cert: cert, Chain: chain, FriendlyName: friendly}).Encode(pass, compat)
		return der, invalid(err)
	}
	der, err := pki.PKCS7(append([]*x509.Certificate{cert}, chain...))
	if err == nil && strings.HasSuffix(encoding, "pem") {
		return []byte(pki.EncodePEM("PKCS7", der)), nil
	}
	return der, invalid(err)
}
