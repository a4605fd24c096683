package tls

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "ca_exists", Doc: "Report whether an authority exists.", Src: "modules/tls.py ca_exists", Do: caExists,
	},
	{
		Name: "cert_base_path", Doc: "Return the base path of the authorities.", Src: "modules/tls.py cert_base_path", Do: certBasePath,
	},
	{
		Name: "cert_info", Doc: "Return the details of a certificate.", Src: "modules/tls.py cert_info", Do: certInfo,
	},
	{
		Name: "create_ca", Doc: "Create an authority: a key and a certificate that signs itself.", Src: "modules/tls.py create_ca", Do: createCA,
	},
	{
		Name: "create_ca_signed_cert", Doc: "Sign a request of create_csr.", Src: "modules/tls.py create_ca_signed_cert", Do: createCASigned,
	},
	{
		Name: "create_csr", Doc: "Create a key and a certificate signing request.", Src: "modules/tls.py create_csr", Do: createCSR,
	},
	{
		Name: "create_empty_crl", Doc: "Create an empty revocation list.", Src: "modules/tls.py create_empty_crl", Do: createEmptyCRL,
	},
	{
		Name: "create_pkcs12", Doc: "Create a PKCS #12 archive of a certificate, its key and its authority.", Src: "modules/tls.py create_pkcs12", Do: createPKCS12,
	},
	{
		Name: "create_self_signed_cert", Doc: "Create a key and a certificate that signs itself.", Src: "modules/tls.py create_self_signed_cert", Do: createSelfSigned,
	},
	{
		Name: "get_ca", Doc: "Return the path or the content of the certificate of an authority.", Src: "modules/tls.py get_ca", Do: getCA,
	},
	{
		Name: "get_ca_signed_cert", Doc: "Return the path or the content of a certificate.", Src: "modules/tls.py get_ca_signed_cert", Do: getCASignedCert,
	},
	{
		Name: "get_ca_signed_key", Doc: "Return the path or the content of a key.", Src: "modules/tls.py get_ca_signed_key", Do: getCASignedKey,
	},
	{
		Name: "get_expiration_date", Doc: "Return when a certificate expires.", Src: "modules/tls.py get_expiration_date", Do: expirationDate,
	},
	{
		Name: "get_extensions", Doc: "Return the extensions that a kind of certificates gets.", Src: "modules/tls.py get_extensions", Do: getExtensions,
	},
	{
		Name: "revoke_cert", Doc: "Revoke a certificate, and write the revocation list.", Src: "modules/tls.py revoke_cert", Do: revokeCert,
	},
	{
		Name: "set_ca_path", Doc: "Set the base path for the rest of the run, and return it.", Src: "modules/tls.py set_ca_path", Do: setCAPath,
	},
	{
		Name: "validate", Doc: "Validate a certificate against its authority and a revocation list.", Src: "modules/tls.py validate", Do: validate,
	},
}
