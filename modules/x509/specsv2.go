package x509

import "brine/internal/core/fun"

// specsV2 are the functions of x509_v2.
var specsV2 = []fun.Spec{
	{
		Name: "create_certificate", Do: createCertificateV2, Src: "modules/x509_v2.py create_certificate", Doc: "Create a certificate. Further arguments are those of the certificate: see docs/modules/x509.md.",
	},
	{
		Name: "create_crl", Do: createCRLV2, Src: "modules/x509_v2.py create_crl", Doc: "Create a certificate revocation list.",
	},
	{
		Name: "create_csr", Do: createCSRV2, Src: "modules/x509_v2.py create_csr", Doc: "Create a certificate signing request. Further arguments are those of the request: see docs/modules/x509.md.",
	},
	{
		Name: "create_private_key", Do: createPrivateKeyV2, Src: "modules/x509_v2.py create_private_key", Doc: "Create a private key.",
	},
	{
		Name: "encode_certificate", Do: encodeCertificate, Src: "modules/x509_v2.py encode_certificate",
		Doc: "Return a certificate in another encoding.",
	},
	{
		Name: "encode_crl", Do: encodeCRL, Src: "modules/x509_v2.py encode_crl",
		Doc: "Return a revocation list in another encoding.",
	},
	{
		Name: "encode_csr", Do: encodeCSR, Src: "modules/x509_v2.py encode_csr",
		Doc: "Return a certificate signing request in another encoding.",
	},
	{
		Name: "encode_private_key", Do: encodePrivateKey, Src: "modules/x509_v2.py encode_private_key",
		Doc: "Return a private key in another encoding.",
	},
	{
		Name: "expired", Do: expiredV2, Src: "modules/x509_v2.py expired",
		Doc: "Tell whether a certificate has expired.",
	},
	{
		Name: "expires", Do: expires, Src: "modules/x509_v2.py expires",
		Doc: "Report whether a certificate expires within some days.",
	},
	{
		Name: "get_pem_entries", Do: getPEMEntries, Src: "modules/x509_v2.py get_pem_entries",
		Doc: "Return the PEM blocks of the files that a glob matches.",
	},
	{
		Name: "get_pem_entry", Do: getPEMEntryV2, Src: "modules/x509_v2.py get_pem_entry",
		Doc: "Return the first PEM block of a text or file, properly formatted.",
	},
	{
		Name: "get_private_key_size", Do: privateKeySize, Src: "modules/x509_v2.py get_private_key_size",
		Doc: "Return the size of a private key in bits.",
	},
	{
		Name: "get_public_key", Do: getPublicKeyV2, Src: "modules/x509_v2.py get_public_key",
		Doc: "Return the public key of a certificate, request or key.",
	},
	{
		Name: "get_signing_policy", Do: getSigningPolicyV2, Src: "modules/x509_v2.py get_signing_policy",
		Doc: "Return a signing policy.",
	},
	{
		Name: "read_certificate", Do: readCertificateV2, Src: "modules/x509_v2.py read_certificate",
		Doc: "Return the details of a certificate.",
	},
	{
		Name: "read_certificates", Do: readCertificatesV2, Src: "modules/x509_v2.py read_certificates",
		Doc: "Return the details of the certificates that a glob matches.",
	},
	{
		Name: "read_crl", Do: readCRLV2, Src: "modules/x509_v2.py read_crl",
		Doc: "Return the details of a certificate revocation list.",
	},
	{
		Name: "read_csr", Do: readCSRV2, Src: "modules/x509_v2.py read_csr",
		Doc: "Return the details of a certificate signing request.",
	},
	{
		Name: "sign_remote_certificate", Do: signRemoteV2, Src: "modules/x509_v2.py sign_remote_certificate", Doc: "Sign a certificate by a signing policy, for another machine.",
	},
	{
		Name: "verify_crl", Do: verifyCRLV2, Src: "modules/x509_v2.py verify_crl",
		Doc: "Report whether a revocation list was signed by an issuer.",
	},
	{
		Name: "verify_private_key", Do: verifyPrivateKeyV2, Src: "modules/x509_v2.py verify_private_key",
		Doc: "Report whether a private key belongs to a public key.",
	},
	{
		Name: "verify_signature", Do: verifySignatureV2, Src: "modules/x509_v2.py verify_signature",
		Doc: "Report whether a certificate was signed by a key.",
	},
	{
		Name: "will_expire", Do: willExpireV2, Src: "modules/x509_v2.py will_expire",
		Doc: "Tell whether a certificate expires within some days.",
	},
	{
		Name: "write_pem", Do: writePEMFn, Src: "modules/x509_v2.py write_pem",
		Doc: "Write a PEM block to a file, properly formatted.",
	},
}
