package x509

import "brine/internal/fun"

// specs are the functions of the older module.
var specs = []fun.Spec{
	{
		Name: "create_certificate", Fn: createCertificate, Src: "modules/x509.py create_certificate", VarKw: true,
		Doc:    "Create a certificate. Further arguments are those of the certificate: see docs/modules/x509.md.",
		Shared: [][]fun.Arg{CertArgs, SignArgs, SubjectArgs, OlderSubjectArgs, ExtArgs},
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Doc: "file to write; default: return the result"},
			{Name: "text", Type: fun.Bool, Default: false, Doc: "return PEM text instead of writing a file"},
			{Name: "overwrite", Type: fun.Bool, Default: true, Doc: "replace the whole file; False keeps a private key and DH parameters in it"},
			{Name: "ca_server", Type: fun.Str, Doc: "machine that signs, by publish.publish"},
		},
	},
	{
		Name: "create_crl", Fn: createCRL, Src: "modules/x509.py create_crl",
		Doc: "Create a certificate revocation list.",
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Doc: "file to write; default: return the result"},
			{Name: "text", Type: fun.Bool, Default: false, Doc: "return PEM text instead of writing a file"},
			{Name: "signing_private_key", Doc: "private key that signs: a file, PEM text or bytes", Secret: true},
			{Name: "signing_private_key_passphrase", Type: fun.Str, Doc: "passphrase of the key that signs", Secret: true},
			{Name: "signing_cert", Doc: "certificate of the key that signs; default: the result signs itself"},
			{Name: "revoked", Type: fun.List, Doc: "revoked certificates: mappings with certificate or serial_number, and revocation_date, not_after, reason or extensions"},
			{Name: "include_expired", Type: fun.Bool, Default: false, Doc: "list certificates that have expired"},
			{Name: "days_valid", Type: fun.Int, Default: int64(100), Unit: "days", Doc: "days for which the result is valid"},
			{Name: "digest", Type: fun.Str, Default: "", Doc: "digest of the signature"},
		},
	},
	{
		Name: "create_csr", Fn: createCSR, Src: "modules/x509.py create_csr", VarKw: true,
		Doc:    "Create a certificate signing request. Further arguments are those of the request: see docs/modules/x509.md.",
		Shared: [][]fun.Arg{RequestArgs, SignArgs, SubjectArgs, OlderSubjectArgs, ExtArgs},
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Doc: "file to write; default: return the result"},
			{Name: "text", Type: fun.Bool, Default: false, Doc: "return PEM text instead of writing a file"},
		},
	},
	{
		Name: "create_private_key", Fn: createPrivateKey, Src: "modules/x509.py create_private_key",
		Doc: "Create an RSA key.",
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Doc: "file to write; default: return the result"},
			{Name: "text", Type: fun.Bool, Default: false, Doc: "return PEM text instead of writing a file"},
			{Name: "bits", Type: fun.Int, Default: int64(2048), Doc: "size of the key"},
			{Name: "passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
			{Name: "cipher", Type: fun.Str, Default: "aes_128_cbc", Doc: "cipher of an encrypted key: aes_128_cbc, aes_192_cbc, aes_256_cbc, des_ede3_cbc or des_cbc"},
			{Name: "verbose", Type: fun.Bool, Default: true, Doc: "accepted; nothing is printed while the key is made"},
		},
	},
	{
		Name: "expired", Fn: expired, Src: "modules/x509.py expired",
		Doc: "Tell whether a certificate has expired.",
		Args: []fun.Arg{
			{Name: "certificate", Required: true, Doc: "certificate: a file, PEM text or bytes"},
		},
	},
	{
		Name: "get_pem_entries", Fn: getPEMEntries, Src: "modules/x509.py get_pem_entries",
		Doc: "Return the PEM blocks of the files that a glob matches.",
		Args: []fun.Arg{
			{Name: "glob_path", Type: fun.Path, Required: true, Doc: "files, as a glob"},
		},
	},
	{
		Name: "get_pem_entry", Fn: getPEMEntry, Src: "modules/x509.py get_pem_entry",
		Doc: "Return the first PEM block of a text or file, properly formatted.",
		Args: []fun.Arg{
			{Name: "text", Required: true, Doc: "PEM text, or a file that has it", Secret: true},
			{Name: "pem_type", Type: fun.Str, Doc: "type of the PEM block, a regular expression such as CERTIFICATE; default: any"},
		},
	},
	{
		Name: "get_private_key_size", Fn: getPrivateKeySize, Src: "modules/x509.py get_private_key_size",
		Doc: "Return the size of a private key in bits.",
		Args: []fun.Arg{
			{Name: "private_key", Required: true, Doc: "private key: a file, PEM text or bytes", Secret: true},
			{Name: "passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
		},
	},
	{
		Name: "get_public_key", Fn: getPublicKey, Src: "modules/x509.py get_public_key",
		Doc: "Return the public key of a certificate, request or key.",
		Args: []fun.Arg{
			{Name: "key", Required: true, Doc: "public key, certificate, private key or request: a file, PEM text or bytes"},
			{Name: "passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
			{Name: "asObj", Type: fun.Bool, Default: false, Doc: "accepted; a text is returned"},
		},
	},
	{
		Name: "get_signing_policy", Fn: getSigningPolicy, Src: "modules/x509.py get_signing_policy",
		Doc: "Return a signing policy, without its private key.",
		Args: []fun.Arg{
			{Name: "signing_policy_name", Type: fun.Str, Required: true, Doc: "name of the policy"},
		},
	},
	{
		Name: "read_certificate", Fn: readCertificate, Src: "modules/x509.py read_certificate",
		Doc: "Return the details of a certificate.",
		Args: []fun.Arg{
			{Name: "certificate", Required: true, Doc: "certificate: a file, PEM text or bytes"},
		},
	},
	{
		Name: "read_certificates", Fn: readCertificates, Src: "modules/x509.py read_certificates",
		Doc: "Return the details of the certificates that a glob matches.",
		Args: []fun.Arg{
			{Name: "glob_path", Type: fun.Path, Required: true, Doc: "files, as a glob"},
		},
	},
	{
		Name: "read_crl", Fn: readCRL, Src: "modules/x509.py read_crl",
		Doc: "Return the details of a certificate revocation list.",
		Args: []fun.Arg{
			{Name: "crl", Required: true, Doc: "revocation list: a file, PEM text or bytes"},
		},
	},
	{
		Name: "read_csr", Fn: readCSR, Src: "modules/x509.py read_csr",
		Doc: "Return the details of a certificate signing request.",
		Args: []fun.Arg{
			{Name: "csr", Required: true, Doc: "certificate signing request: a file, PEM text or bytes"},
		},
	},
	{
		Name: "sign_remote_certificate", Fn: signRemote, Src: "modules/x509.py sign_remote_certificate", VarKw: true,
		Doc: "Sign a certificate by a signing policy, for another machine.",
		Args: []fun.Arg{
			{Name: "argdic", Type: fun.Dict, Required: true, Doc: "arguments of create_certificate, with signing_policy"},
		},
	},
	{
		Name: "verify_crl", Fn: verifyCRL, Src: "modules/x509.py verify_crl",
		Doc: "Report whether a revocation list was signed by an issuer.",
		Args: []fun.Arg{
			{Name: "crl", Required: true, Doc: "revocation list: a file, PEM text or bytes"},
			{Name: "cert", Required: true, Doc: "certificate of the issuer: a file, PEM text or bytes"},
		},
	},
	{
		Name: "verify_private_key", Fn: verifyPrivateKey, Src: "modules/x509.py verify_private_key",
		Doc: "Report whether a private key belongs to a public key.",
		Args: []fun.Arg{
			{Name: "private_key", Required: true, Doc: "private key: a file, PEM text or bytes", Secret: true},
			{Name: "public_key", Required: true, Doc: "public key: a file, PEM text or bytes of a key, certificate or request"},
			{Name: "passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
		},
	},
	{
		Name: "verify_signature", Fn: verifySignature, Src: "modules/x509.py verify_signature",
		Doc: "Report whether a certificate was signed by a key.",
		Args: []fun.Arg{
			{Name: "certificate", Required: true, Doc: "certificate: a file, PEM text or bytes"},
			{Name: "signing_pub_key", Doc: "public key, certificate or private key of the signer; default: the key of the certificate itself"},
			{Name: "signing_pub_key_passphrase", Type: fun.Str, Doc: "passphrase of a private key in signing_pub_key", Secret: true},
		},
	},
	{
		Name: "will_expire", Fn: willExpire, Src: "modules/x509.py will_expire",
		Doc: "Tell whether a certificate expires within some days.",
		Args: []fun.Arg{
			{Name: "certificate", Required: true, Doc: "certificate: a file, PEM text or bytes"},
			{Name: "days", Type: fun.Int, Required: true, Unit: "days", Doc: "days from now"},
		},
	},
	{
		Name: "write_pem", Fn: writePEMFn, Src: "modules/x509.py write_pem",
		Doc: "Write a PEM block to a file, properly formatted.",
		Args: []fun.Arg{
			{Name: "text", Required: true, Doc: "PEM text, or a file that has it", Secret: true},
			{Name: "path", Type: fun.Path, Required: true, Doc: "file to write; default: return the result"},
			{Name: "overwrite", Type: fun.Bool, Default: true, Doc: "replace the whole file; False keeps a private key and DH parameters in it"},
			{Name: "pem_type", Type: fun.Str, Doc: "type of the PEM block, a regular expression such as CERTIFICATE; default: any"},
		},
	},
}
