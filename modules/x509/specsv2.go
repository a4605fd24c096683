package x509

import "brine/internal/fun"

// specsV2 are the functions of x509_v2.
var specsV2 = []fun.Spec{
	{
		Name: "create_certificate", Fn: createCertificateV2, Src: "modules/x509_v2.py create_certificate", VarKw: true,
		Doc:    "Create a certificate. Further arguments are those of the certificate: see docs/modules/x509.md.",
		Shared: [][]fun.Arg{LocalArgs, SubjectArgs, OlderSubjectArgs, ExtArgs},
		Args: []fun.Arg{
			{Name: "ca_server", Type: fun.Str, Doc: "machine that signs, by publish.publish"},
			{Name: "signing_policy", Type: fun.Str, Doc: "signing policy that overrides arguments: see docs/modules/x509.md"},
			{Name: "encoding", Type: fun.Str, Default: "pem", Doc: "encoding of the result"},
			{Name: "append_certs", Doc: "certificates that follow it: a list of files or PEM texts"},
			{Name: "pkcs12_passphrase", Type: fun.Str, Doc: "passphrase of PKCS #12; default: nothing is encrypted", Secret: true},
			{Name: "pkcs12_encryption_compat", Type: fun.Bool, Default: false, Doc: "encrypt PKCS #12 with triple DES and SHA-1, for old programs"},
			{Name: "pkcs12_friendlyname", Type: fun.Str, Doc: "name of the certificate within PKCS #12"},
			{Name: "path", Type: fun.Path, Doc: "file to write; default: return the result"},
			{Name: "overwrite", Type: fun.Bool, Default: true, Doc: "replace the whole file; False keeps a private key and DH parameters in it"},
			{Name: "raw", Type: fun.Bool, Default: false, Doc: "return bytes instead of text"},
		},
	},
	{
		Name: "create_crl", Fn: createCRLV2, Src: "modules/x509_v2.py create_crl", VarKw: true,
		Doc: "Create a certificate revocation list.",
		Args: []fun.Arg{
			{Name: "signing_private_key", Required: true, Doc: "private key that signs: a file, PEM text or bytes", Secret: true},
			{Name: "revoked", Type: fun.List, Required: true, Doc: "revoked certificates: mappings with certificate or serial_number, and revocation_date, not_after, reason or extensions"},
			{Name: "signing_cert", Doc: "certificate of the key that signs; default: the result signs itself"},
			{Name: "signing_private_key_passphrase", Type: fun.Str, Doc: "passphrase of the key that signs", Secret: true},
			{Name: "include_expired", Type: fun.Bool, Default: false, Doc: "list certificates that have expired"},
			{Name: "days_valid", Type: fun.Int, Unit: "days", Doc: "days for which the result is valid"},
			{Name: "digest", Type: fun.Str, Default: "sha256", Doc: "digest of the signature"},
			{Name: "encoding", Type: fun.Str, Default: "pem", Doc: "encoding of the result"},
			{Name: "extensions", Type: fun.Dict, Doc: "extensions of the list: authorityKeyIdentifier, cRLNumber, issuingDistributionPoint ..."},
			{Name: "path", Type: fun.Path, Doc: "file to write; default: return the result"},
			{Name: "raw", Type: fun.Bool, Default: false, Doc: "return bytes instead of text"},
		},
	},
	{
		Name: "create_csr", Fn: createCSRV2, Src: "modules/x509_v2.py create_csr", VarKw: true,
		Doc:    "Create a certificate signing request. Further arguments are those of the request: see docs/modules/x509.md.",
		Shared: [][]fun.Arg{subjectArg, MoreRequestArgs, SubjectArgs, OlderSubjectArgs, ExtArgs},
		Args: []fun.Arg{
			{Name: "private_key", Required: true, Doc: "private key: a file, PEM text or bytes", Secret: true},
			{Name: "private_key_passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
			{Name: "digest", Type: fun.Str, Default: "sha256", Doc: "digest of the signature"},
			{Name: "encoding", Type: fun.Str, Default: "pem", Doc: "encoding of the result"},
			{Name: "path", Type: fun.Path, Doc: "file to write; default: return the result"},
			{Name: "raw", Type: fun.Bool, Default: false, Doc: "return bytes instead of text"},
		},
	},
	{
		Name: "create_private_key", Fn: createPrivateKeyV2, Src: "modules/x509_v2.py create_private_key", VarKw: true,
		Doc: "Create a private key.",
		Args: []fun.Arg{
			{Name: "algo", Type: fun.Str, Default: "rsa", Doc: "kind of the key: rsa, ec or ed25519"},
			{Name: "keysize", Type: fun.Int, Doc: "size of the key: 2048, 3072 or 4096 (rsa), 256, 384 or 521 (ec); default: 2048 and 256"},
			{Name: "passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
			{Name: "encoding", Type: fun.Str, Default: "pem", Doc: "encoding of the result"},
			{Name: "pkcs12_encryption_compat", Type: fun.Bool, Default: false, Doc: "encrypt PKCS #12 with triple DES and SHA-1, for old programs"},
			{Name: "path", Type: fun.Path, Doc: "file to write; default: return the result"},
			{Name: "raw", Type: fun.Bool, Default: false, Doc: "return bytes instead of text"},
		},
	},
	{
		Name: "encode_certificate", Fn: encodeCertificate, Src: "modules/x509_v2.py encode_certificate",
		Doc: "Return a certificate in another encoding.",
		Args: []fun.Arg{
			{Name: "certificate", Required: true, Doc: "certificate: a file, PEM text or bytes"},
			{Name: "encoding", Type: fun.Str, Default: "pem", Doc: "encoding of the result"},
			{Name: "append_certs", Doc: "certificates that follow it: a list of files or PEM texts"},
			{Name: "private_key", Doc: "private key: a file, PEM text or bytes", Secret: true},
			{Name: "private_key_passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
			{Name: "pkcs12_passphrase", Type: fun.Str, Doc: "passphrase of PKCS #12; default: nothing is encrypted", Secret: true},
			{Name: "pkcs12_encryption_compat", Type: fun.Bool, Default: false, Doc: "encrypt PKCS #12 with triple DES and SHA-1, for old programs"},
			{Name: "pkcs12_friendlyname", Type: fun.Str, Doc: "name of the certificate within PKCS #12"},
			{Name: "raw", Type: fun.Bool, Default: false, Doc: "return bytes instead of text"},
		},
	},
	{
		Name: "encode_crl", Fn: encodeCRL, Src: "modules/x509_v2.py encode_crl",
		Doc: "Return a revocation list in another encoding.",
		Args: []fun.Arg{
			{Name: "crl", Required: true, Doc: "revocation list: a file, PEM text or bytes"},
			{Name: "encoding", Type: fun.Str, Default: "pem", Doc: "encoding of the result"},
			{Name: "raw", Type: fun.Bool, Default: false, Doc: "return bytes instead of text"},
		},
	},
	{
		Name: "encode_csr", Fn: encodeCSR, Src: "modules/x509_v2.py encode_csr",
		Doc: "Return a certificate signing request in another encoding.",
		Args: []fun.Arg{
			{Name: "csr", Required: true, Doc: "certificate signing request: a file, PEM text or bytes"},
			{Name: "encoding", Type: fun.Str, Default: "pem", Doc: "encoding of the result"},
			{Name: "raw", Type: fun.Bool, Default: false, Doc: "return bytes instead of text"},
		},
	},
	{
		Name: "encode_private_key", Fn: encodePrivateKey, Src: "modules/x509_v2.py encode_private_key",
		Doc: "Return a private key in another encoding.",
		Args: []fun.Arg{
			{Name: "private_key", Required: true, Doc: "private key: a file, PEM text or bytes", Secret: true},
			{Name: "encoding", Type: fun.Str, Default: "pem", Doc: "encoding of the result"},
			{Name: "passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
			{Name: "pkcs12_encryption_compat", Type: fun.Bool, Default: false, Doc: "encrypt PKCS #12 with triple DES and SHA-1, for old programs"},
			{Name: "raw", Type: fun.Bool, Default: false, Doc: "return bytes instead of text"},
			{Name: "private_key_passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
		},
	},
	{
		Name: "expired", Fn: expiredV2, Src: "modules/x509_v2.py expired",
		Doc: "Tell whether a certificate has expired.",
		Args: []fun.Arg{
			{Name: "certificate", Required: true, Doc: "certificate: a file, PEM text or bytes"},
		},
	},
	{
		Name: "expires", Fn: expires, Src: "modules/x509_v2.py expires",
		Doc: "Report whether a certificate expires within some days.",
		Args: []fun.Arg{
			{Name: "certificate", Required: true, Doc: "certificate: a file, PEM text or bytes"},
			{Name: "days", Type: fun.Int, Default: int64(0), Unit: "days", Doc: "days from now"},
		},
	},
	{
		Name: "get_pem_entries", Fn: getPEMEntries, Src: "modules/x509_v2.py get_pem_entries",
		Doc: "Return the PEM blocks of the files that a glob matches.",
		Args: []fun.Arg{
			{Name: "glob_path", Type: fun.Path, Required: true, Doc: "files, as a glob"},
		},
	},
	{
		Name: "get_pem_entry", Fn: getPEMEntryV2, Src: "modules/x509_v2.py get_pem_entry",
		Doc: "Return the first PEM block of a text or file, properly formatted.",
		Args: []fun.Arg{
			{Name: "text", Required: true, Doc: "PEM text, or a file that has it", Secret: true},
			{Name: "pem_type", Type: fun.Str, Doc: "type of the PEM block, a regular expression such as CERTIFICATE; default: any"},
		},
	},
	{
		Name: "get_private_key_size", Fn: privateKeySize, Src: "modules/x509_v2.py get_private_key_size",
		Doc: "Return the size of a private key in bits.",
		Args: []fun.Arg{
			{Name: "private_key", Required: true, Doc: "private key: a file, PEM text or bytes", Secret: true},
			{Name: "passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
		},
	},
	{
		Name: "get_public_key", Fn: getPublicKeyV2, Src: "modules/x509_v2.py get_public_key",
		Doc: "Return the public key of a certificate, request or key.",
		Args: []fun.Arg{
			{Name: "key", Required: true, Doc: "public key, certificate, private key or request: a file, PEM text or bytes"},
			{Name: "passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
			{Name: "asObj", Type: fun.Bool, Doc: "accepted; a text is returned"},
		},
	},
	{
		Name: "get_signing_policy", Fn: getSigningPolicyV2, Src: "modules/x509_v2.py get_signing_policy",
		Doc: "Return a signing policy.",
		Args: []fun.Arg{
			{Name: "signing_policy", Type: fun.Str, Required: true, Doc: "signing policy that overrides arguments: see docs/modules/x509.md"},
			{Name: "ca_server", Type: fun.Str, Doc: "machine that signs, by publish.publish"},
		},
	},
	{
		Name: "read_certificate", Fn: readCertificateV2, Src: "modules/x509_v2.py read_certificate",
		Doc: "Return the details of a certificate.",
		Args: []fun.Arg{
			{Name: "certificate", Required: true, Doc: "certificate: a file, PEM text or bytes"},
		},
	},
	{
		Name: "read_certificates", Fn: readCertificatesV2, Src: "modules/x509_v2.py read_certificates",
		Doc: "Return the details of the certificates that a glob matches.",
		Args: []fun.Arg{
			{Name: "glob_path", Type: fun.Path, Required: true, Doc: "files, as a glob"},
		},
	},
	{
		Name: "read_crl", Fn: readCRLV2, Src: "modules/x509_v2.py read_crl",
		Doc: "Return the details of a certificate revocation list.",
		Args: []fun.Arg{
			{Name: "crl", Required: true, Doc: "revocation list: a file, PEM text or bytes"},
		},
	},
	{
		Name: "read_csr", Fn: readCSRV2, Src: "modules/x509_v2.py read_csr",
		Doc: "Return the details of a certificate signing request.",
		Args: []fun.Arg{
			{Name: "csr", Required: true, Doc: "certificate signing request: a file, PEM text or bytes"},
		},
	},
	{
		Name: "sign_remote_certificate", Fn: signRemoteV2, Src: "modules/x509_v2.py sign_remote_certificate", VarKw: true,
		Doc: "Sign a certificate by a signing policy, for another machine.",
		Args: []fun.Arg{
			{Name: "signing_policy", Type: fun.Str, Required: true, Doc: "signing policy that overrides arguments: see docs/modules/x509.md"},
			{Name: "kwargs", Type: fun.Dict, Required: true, Doc: "arguments of create_certificate"},
			{Name: "get_signing_policy_only", Type: fun.Bool, Default: false, Doc: "return the policy instead of signing"},
		},
	},
	{
		Name: "verify_crl", Fn: verifyCRLV2, Src: "modules/x509_v2.py verify_crl",
		Doc: "Report whether a revocation list was signed by an issuer.",
		Args: []fun.Arg{
			{Name: "crl", Required: true, Doc: "revocation list: a file, PEM text or bytes"},
			{Name: "cert", Required: true, Doc: "certificate of the issuer: a file, PEM text or bytes"},
		},
	},
	{
		Name: "verify_private_key", Fn: verifyPrivateKeyV2, Src: "modules/x509_v2.py verify_private_key",
		Doc: "Report whether a private key belongs to a public key.",
		Args: []fun.Arg{
			{Name: "private_key", Required: true, Doc: "private key: a file, PEM text or bytes", Secret: true},
			{Name: "public_key", Required: true, Doc: "public key: a file, PEM text or bytes of a key, certificate or request"},
			{Name: "passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
		},
	},
	{
		Name: "verify_signature", Fn: verifySignatureV2, Src: "modules/x509_v2.py verify_signature",
		Doc: "Report whether a certificate was signed by a key.",
		Args: []fun.Arg{
			{Name: "certificate", Required: true, Doc: "certificate: a file, PEM text or bytes"},
			{Name: "signing_pub_key", Doc: "public key, certificate or private key of the signer; default: the key of the certificate itself"},
			{Name: "signing_pub_key_passphrase", Type: fun.Str, Doc: "passphrase of a private key in signing_pub_key", Secret: true},
		},
	},
	{
		Name: "will_expire", Fn: willExpireV2, Src: "modules/x509_v2.py will_expire",
		Doc: "Tell whether a certificate expires within some days.",
		Args: []fun.Arg{
			{Name: "certificate", Required: true, Doc: "certificate: a file, PEM text or bytes"},
			{Name: "days", Type: fun.Int, Required: true, Unit: "days", Doc: "days from now"},
		},
	},
	{
		Name: "write_pem", Fn: writePEMFn, Src: "modules/x509_v2.py write_pem",
		Doc: "Write a PEM block to a file, properly formatted.",
		Args: []fun.Arg{
			{Name: "text", Required: true, Doc: "PEM text, or a file that has it", Secret: true},
			{Name: "path", Type: fun.Path, Required: true, Doc: "file to write; default: return the result"},
			{Name: "overwrite", Type: fun.Bool, Default: true, Doc: "replace the whole file; False keeps a private key and DH parameters in it"},
			{Name: "pem_type", Type: fun.Str, Doc: "type of the PEM block, a regular expression such as CERTIFICATE; default: any"},
		},
	},
}
