package x509

import "brine/internal/core/fun"

// specs are the functions of the older module.
var specs = []fun.Spec{
	{
		Name: "create_certificate", Do: createCertificate, Src: "modules/x509.py create_certificate", Doc: "Create a certificate. Further arguments are those of the certificate: see docs/modules/x509.md.",
	},
	{
		Name: "create_crl", Do: createCRL, Src: "modules/x509.py create_crl",
		Doc: "Create a certificate revocation list.",
	},
	{
		Name: "create_csr", Do: createCSR, Src: "modules/x509.py create_csr", Doc: "Create a certificate signing request. Further arguments are those of the request: see docs/modules/x509.md.",
	},
	{
		Name: "create_private_key", Do: createPrivateKey, Src: "modules/x509.py create_private_key",
		Doc: "Create an RSA key.",
	},
	{
		Name: "expired", Do: expired, Src: "modules/x509.py expired",
		Doc: "Tell whether a certificate has expired.",
	},
	{
		Name: "get_pem_entries", Do: getPEMEntries, Src: "modules/x509.py get_pem_entries",
		Doc: "Return the PEM blocks of the files that a glob matches.",
	},
	{
		Name: "get_pem_entry", Do: getPEMEntry, Src: "modules/x509.py get_pem_entry",
		Doc: "Return the first PEM block of a text or file, properly formatted.",
	},
	{
		Name: "get_private_key_size", Do: getPrivateKeySize, Src: "modules/x509.py get_private_key_size",
		Doc: "Return the size of a private key in bits.",
	},
	{
		Name: "get_public_key", Do: getPublicKey, Src: "modules/x509.py get_public_key",
		Doc: "Return the public key of a certificate, request or key.",
	},
	{
		Name: "get_signing_policy", Do: getSigningPolicy, Src: "modules/x509.py get_signing_policy",
		Doc: "Return a signing policy, without its private key.",
	},
	{
		Name: "read_certificate", Do: readCertificate, Src: "modules/x509.py read_certificate",
		Doc: "Return the details of a certificate.",
	},
	{
		Name: "read_certificates", Do: readCertificates, Src: "modules/x509.py read_certificates",
		Doc: "Return the details of the certificates that a glob matches.",
	},
	{
		Name: "read_crl", Do: readCRL, Src: "modules/x509.py read_crl",
		Doc: "Return the details of a certificate revocation list.",
	},
	{
		Name: "read_csr", Do: readCSR, Src: "modules/x509.py read_csr",
		Doc: "Return the details of a certificate signing request.",
	},
	{
		Name: "sign_remote_certificate", Do: signRemote, Src: "modules/x509.py sign_remote_certificate", Doc: "Sign a certificate by a signing policy, for another machine.",
	},
	{
		Name: "verify_crl", Do: verifyCRL, Src: "modules/x509.py verify_crl",
		Doc: "Report whether a revocation list was signed by an issuer.",
	},
	{
		Name: "verify_private_key", Do: verifyPrivateKey, Src: "modules/x509.py verify_private_key",
		Doc: "Report whether a private key belongs to a public key.",
	},
	{
		Name: "verify_signature", Do: verifySignature, Src: "modules/x509.py verify_signature",
		Doc: "Report whether a certificate was signed by a key.",
	},
	{
		Name: "will_expire", Do: willExpire, Src: "modules/x509.py will_expire",
		Doc: "Tell whether a certificate expires within some days.",
	},
	{
		Name: "write_pem", Do: writePEMFn, Src: "modules/x509.py write_pem",
		Doc: "Write a PEM block to a file, properly formatted.",
	},
}
