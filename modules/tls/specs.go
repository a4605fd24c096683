package tls

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "ca_exists", Doc: "Report whether an authority exists.", Src: "modules/tls.py ca_exists", Fn: caExists,
		Args: []fun.Arg{
			{Name: "ca_name", Type: fun.Str, Required: true, Doc: "name of the authority, a directory under the base path"},
			{Name: "cacert_path", Type: fun.Path, Doc: "base path; default: ca.cert_base_path of the configuration, /etc/pki"},
			{Name: "ca_filename", Type: fun.Str, Doc: "file name of the certificate of the authority; default: CA_NAME_ca_cert"},
		},
	},
	{
		Name: "cert_base_path", Doc: "Return the base path of the authorities.", Src: "modules/tls.py cert_base_path", Fn: certBasePath,
		Args: []fun.Arg{
			{Name: "cacert_path", Type: fun.Path, Doc: "base path; default: ca.cert_base_path of the configuration, /etc/pki"},
		},
	},
	{
		Name: "cert_info", Doc: "Return the details of a certificate.", Src: "modules/tls.py cert_info", Fn: certInfo,
		Args: []fun.Arg{
			{Name: "cert", Type: fun.Str, Required: true, Doc: "file of a certificate, or PEM text"},
			{Name: "digest", Type: fun.Str, Default: "sha256", Doc: "digest: md5, sha1, sha224, sha256, sha384 or sha512"},
		},
	},
	{
		Name: "create_ca", Doc: "Create an authority: a key and a certificate that signs itself.", Src: "modules/tls.py create_ca", Fn: createCA,
		Args: []fun.Arg{
			{Name: "ca_name", Type: fun.Str, Required: true, Doc: "name of the authority, a directory under the base path"},
			{Name: "bits", Type: fun.Int, Default: int64(2048), Doc: "size of the RSA key"},
			{Name: "days", Type: fun.Int, Default: int64(365), Unit: "days", Doc: "days of validity"},
			{Name: "CN", Type: fun.Str, Default: "localhost", Doc: "common name"},
			{Name: "C", Type: fun.Str, Default: "US", Doc: "country"},
			{Name: "ST", Type: fun.Str, Default: "Utah", Doc: "state or province"},
			{Name: "L", Type: fun.Str, Default: "Salt Lake City", Doc: "locality"},
			{Name: "O", Type: fun.Str, Default: "SaltStack", Doc: "organization"},
			{Name: "OU", Type: fun.Str, Doc: "organizational unit"},
			{Name: "emailAddress", Type: fun.Str, Doc: "email address"},
			{Name: "fixmode", Type: fun.Bool, Default: false, Doc: "make the certificate again, with the existing key"},
			{Name: "cacert_path", Type: fun.Path, Doc: "base path; default: ca.cert_base_path of the configuration, /etc/pki"},
			{Name: "ca_filename", Type: fun.Str, Doc: "file name of the certificate of the authority; default: CA_NAME_ca_cert"},
			{Name: "digest", Type: fun.Str, Default: "sha256", Doc: "digest: md5, sha1, sha224, sha256, sha384 or sha512"},
			{Name: "onlyif", Type: fun.Str | fun.Bool, Doc: "only if this command succeeds, or this is true"},
			{Name: "unless", Type: fun.Str | fun.Bool, Doc: "only if this command fails, or this is false"},
			{Name: "replace", Type: fun.Bool, Default: false, Doc: "replace existing files"},
		},
	},
	{
		Name: "create_ca_signed_cert", Doc: "Sign a request of create_csr.", Src: "modules/tls.py create_ca_signed_cert", Fn: createCASigned,
		Args: []fun.Arg{
			{Name: "ca_name", Type: fun.Str, Required: true, Doc: "name of the authority, a directory under the base path"},
			{Name: "CN", Type: fun.Str, Required: true, Doc: "common name"},
			{Name: "days", Type: fun.Int, Default: int64(365), Unit: "days", Doc: "days of validity"},
			{Name: "cacert_path", Type: fun.Path, Doc: "base path; default: ca.cert_base_path of the configuration, /etc/pki"},
			{Name: "ca_filename", Type: fun.Str, Doc: "file name of the certificate of the authority; default: CA_NAME_ca_cert"},
			{Name: "cert_path", Type: fun.Path, Doc: "directory of the certificate; default: certs of the authority"},
			{Name: "cert_filename", Type: fun.Str, Doc: "file name of the certificate; default: the common name"},
			{Name: "digest", Type: fun.Str, Default: "sha256", Doc: "digest: md5, sha1, sha224, sha256, sha384 or sha512"},
			{Name: "cert_type", Type: fun.Str, Doc: "kind of certificate: server, client, or one of tls.extensions in the pillar"},
			{Name: "type_ext", Type: fun.Bool, Default: false, Doc: "add the kind to the file name"},
			{Name: "replace", Type: fun.Bool, Default: false, Doc: "replace existing files"},
		},
	},
	{
		Name: "create_csr", Doc: "Create a key and a certificate signing request.", Src: "modules/tls.py create_csr", Fn: createCSR,
		Args: []fun.Arg{
			{Name: "ca_name", Type: fun.Str, Required: true, Doc: "name of the authority, a directory under the base path"},
			{Name: "bits", Type: fun.Int, Default: int64(2048), Doc: "size of the RSA key"},
			{Name: "CN", Type: fun.Str, Default: "localhost", Doc: "common name"},
			{Name: "C", Type: fun.Str, Default: "US", Doc: "country"},
			{Name: "ST", Type: fun.Str, Default: "Utah", Doc: "state or province"},
			{Name: "L", Type: fun.Str, Default: "Salt Lake City", Doc: "locality"},
			{Name: "O", Type: fun.Str, Default: "SaltStack", Doc: "organization"},
			{Name: "OU", Type: fun.Str, Doc: "organizational unit"},
			{Name: "emailAddress", Type: fun.Str, Doc: "email address"},
			{Name: "subjectAltName", Type: fun.Strs, Doc: "other names, such as DNS:www.example.com"},
			{Name: "cacert_path", Type: fun.Path, Doc: "base path; default: ca.cert_base_path of the configuration, /etc/pki"},
			{Name: "ca_filename", Type: fun.Str, Doc: "file name of the certificate of the authority; default: CA_NAME_ca_cert"},
			{Name: "csr_path", Type: fun.Path, Doc: "directory of the request; default: certs of the authority"},
			{Name: "csr_filename", Type: fun.Str, Doc: "file name of the request; default: the common name"},
			{Name: "digest", Type: fun.Str, Default: "sha256", Doc: "digest: md5, sha1, sha224, sha256, sha384 or sha512"},
			{Name: "type_ext", Type: fun.Bool, Default: false, Doc: "add the kind to the file name"},
			{Name: "cert_type", Type: fun.Str, Default: "server", Doc: "kind of certificate: server, client, or one of tls.extensions in the pillar"},
			{Name: "replace", Type: fun.Bool, Default: false, Doc: "replace existing files"},
		},
	},
	{
		Name: "create_empty_crl", Doc: "Create an empty revocation list.", Src: "modules/tls.py create_empty_crl", Fn: createEmptyCRL,
		Args: []fun.Arg{
			{Name: "ca_name", Type: fun.Str, Required: true, Doc: "name of the authority, a directory under the base path"},
			{Name: "cacert_path", Type: fun.Path, Doc: "base path; default: ca.cert_base_path of the configuration, /etc/pki"},
			{Name: "ca_filename", Type: fun.Str, Doc: "file name of the certificate of the authority; default: CA_NAME_ca_cert"},
			{Name: "crl_file", Type: fun.Path, Doc: "file of the revocation list; default: crl.pem of the authority"},
			{Name: "digest", Type: fun.Str, Default: "sha256", Doc: "digest: md5, sha1, sha224, sha256, sha384 or sha512"},
		},
	},
	{
		Name: "create_pkcs12", Doc: "Create a PKCS #12 archive of a certificate, its key and its authority.", Src: "modules/tls.py create_pkcs12", Fn: createPKCS12,
		Args: []fun.Arg{
			{Name: "ca_name", Type: fun.Str, Required: true, Doc: "name of the authority, a directory under the base path"},
			{Name: "CN", Type: fun.Str, Required: true, Doc: "common name"},
			{Name: "passphrase", Type: fun.Str, Default: "", Doc: "passphrase of the archive", Secret: true},
			{Name: "cacert_path", Type: fun.Path, Doc: "base path; default: ca.cert_base_path of the configuration, /etc/pki"},
			{Name: "replace", Type: fun.Bool, Default: false, Doc: "replace existing files"},
		},
	},
	{
		Name: "create_self_signed_cert", Doc: "Create a key and a certificate that signs itself.", Src: "modules/tls.py create_self_signed_cert", Fn: createSelfSigned,
		Args: []fun.Arg{
			{Name: "tls_dir", Type: fun.Str, Default: "tls", Doc: "directory under the base path"},
			{Name: "bits", Type: fun.Int, Default: int64(2048), Doc: "size of the RSA key"},
			{Name: "days", Type: fun.Int, Default: int64(365), Unit: "days", Doc: "days of validity"},
			{Name: "CN", Type: fun.Str, Default: "localhost", Doc: "common name"},
			{Name: "C", Type: fun.Str, Default: "US", Doc: "country"},
			{Name: "ST", Type: fun.Str, Default: "Utah", Doc: "state or province"},
			{Name: "L", Type: fun.Str, Default: "Salt Lake City", Doc: "locality"},
			{Name: "O", Type: fun.Str, Default: "SaltStack", Doc: "organization"},
			{Name: "OU", Type: fun.Str, Doc: "organizational unit"},
			{Name: "emailAddress", Type: fun.Str, Doc: "email address"},
			{Name: "cacert_path", Type: fun.Path, Doc: "base path; default: ca.cert_base_path of the configuration, /etc/pki"},
			{Name: "cert_filename", Type: fun.Str, Doc: "file name of the certificate; default: the common name"},
			{Name: "digest", Type: fun.Str, Default: "sha256", Doc: "digest: md5, sha1, sha224, sha256, sha384 or sha512"},
			{Name: "replace", Type: fun.Bool, Default: false, Doc: "replace existing files"},
		},
	},
	{
		Name: "get_ca", Doc: "Return the path or the content of the certificate of an authority.", Src: "modules/tls.py get_ca", Fn: getCA,
		Args: []fun.Arg{
			{Name: "ca_name", Type: fun.Str, Required: true, Doc: "name of the authority, a directory under the base path"},
			{Name: "as_text", Type: fun.Bool, Default: false, Doc: "return the content instead of the path"},
			{Name: "cacert_path", Type: fun.Path, Doc: "base path; default: ca.cert_base_path of the configuration, /etc/pki"},
		},
	},
	{
		Name: "get_ca_signed_cert", Doc: "Return the path or the content of a certificate.", Src: "modules/tls.py get_ca_signed_cert", Fn: getCASignedCert,
		Args: []fun.Arg{
			{Name: "ca_name", Type: fun.Str, Required: true, Doc: "name of the authority, a directory under the base path"},
			{Name: "CN", Type: fun.Str, Default: "localhost", Doc: "common name"},
			{Name: "as_text", Type: fun.Bool, Default: false, Doc: "return the content instead of the path"},
			{Name: "cacert_path", Type: fun.Path, Doc: "base path; default: ca.cert_base_path of the configuration, /etc/pki"},
			{Name: "cert_filename", Type: fun.Str, Doc: "file name of the certificate; default: the common name"},
		},
	},
	{
		Name: "get_ca_signed_key", Doc: "Return the path or the content of a key.", Src: "modules/tls.py get_ca_signed_key", Fn: getCASignedKey,
		Args: []fun.Arg{
			{Name: "ca_name", Type: fun.Str, Required: true, Doc: "name of the authority, a directory under the base path"},
			{Name: "CN", Type: fun.Str, Default: "localhost", Doc: "common name"},
			{Name: "as_text", Type: fun.Bool, Default: false, Doc: "return the content instead of the path"},
			{Name: "cacert_path", Type: fun.Path, Doc: "base path; default: ca.cert_base_path of the configuration, /etc/pki"},
			{Name: "key_filename", Type: fun.Str, Doc: "file name of the key; default: the common name"},
		},
	},
	{
		Name: "get_expiration_date", Doc: "Return when a certificate expires.", Src: "modules/tls.py get_expiration_date", Fn: expirationDate,
		Args: []fun.Arg{
			{Name: "cert", Type: fun.Str, Required: true, Doc: "file of a certificate, or PEM text"},
			{Name: "date_format", Type: fun.Str, Default: "%Y-%m-%d", Doc: "format of strftime"},
		},
	},
	{
		Name: "get_extensions", Doc: "Return the extensions that a kind of certificates gets.", Src: "modules/tls.py get_extensions", Fn: getExtensions,
		Args: []fun.Arg{
			{Name: "cert_type", Type: fun.Str, Required: true, Doc: "kind of certificate: server, client, or one of tls.extensions in the pillar"},
		},
	},
	{
		Name: "revoke_cert", Doc: "Revoke a certificate, and write the revocation list.", Src: "modules/tls.py revoke_cert", Fn: revokeCert,
		Args: []fun.Arg{
			{Name: "ca_name", Type: fun.Str, Required: true, Doc: "name of the authority, a directory under the base path"},
			{Name: "CN", Type: fun.Str, Required: true, Doc: "common name"},
			{Name: "cacert_path", Type: fun.Path, Doc: "base path; default: ca.cert_base_path of the configuration, /etc/pki"},
			{Name: "ca_filename", Type: fun.Str, Doc: "file name of the certificate of the authority; default: CA_NAME_ca_cert"},
			{Name: "cert_path", Type: fun.Path, Doc: "directory of the certificate; default: certs of the authority"},
			{Name: "cert_filename", Type: fun.Str, Doc: "file name of the certificate; default: the common name"},
			{Name: "crl_file", Type: fun.Path, Doc: "file of the revocation list; default: crl.pem of the authority"},
			{Name: "digest", Type: fun.Str, Default: "sha256", Doc: "digest: md5, sha1, sha224, sha256, sha384 or sha512"},
		},
	},
	{
		Name: "set_ca_path", Doc: "Set the base path for the rest of the run, and return it.", Src: "modules/tls.py set_ca_path", Fn: setCAPath,
		Args: []fun.Arg{
			{Name: "cacert_path", Type: fun.Path, Required: true, Doc: "base path; default: ca.cert_base_path of the configuration, /etc/pki"},
		},
	},
	{
		Name: "validate", Doc: "Validate a certificate against its authority and a revocation list.", Src: "modules/tls.py validate", Fn: validate,
		Args: []fun.Arg{
			{Name: "cert", Type: fun.Str, Required: true, Doc: "file of a certificate, or PEM text"},
			{Name: "ca_name", Type: fun.Str, Required: true, Doc: "name of the authority, a directory under the base path"},
			{Name: "crl_file", Type: fun.Path, Required: true, Doc: "file of the revocation list; default: crl.pem of the authority"},
		},
	},
}
