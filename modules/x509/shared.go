package x509

import "brine/internal/fun"

// Arguments that several functions and states have. They are given by name only.
var (
	// SubjectArgs are the parts of a subject.
	SubjectArgs = []fun.Arg{
		{Name: "C", Type: fun.Str, KwOnly: true, Doc: "country, two letters"},
		{Name: "ST", Type: fun.Str, KwOnly: true, Doc: "state or province"},
		{Name: "L", Type: fun.Str, KwOnly: true, Doc: "locality"},
		{Name: "STREET", Type: fun.Str, KwOnly: true, Doc: "street"},
		{Name: "O", Type: fun.Str, KwOnly: true, Doc: "organization"},
		{Name: "OU", Type: fun.Str, KwOnly: true, Doc: "organizational unit"},
		{Name: "CN", Type: fun.Str, KwOnly: true, Doc: "common name"},
		{Name: "MAIL", Type: fun.Str, KwOnly: true, Doc: "email address"},
		{Name: "SN", Type: fun.Str, KwOnly: true, Doc: "surname"},
		{Name: "GN", Type: fun.Str, KwOnly: true, Doc: "given name"},
		{Name: "UID", Type: fun.Str, KwOnly: true, Doc: "user ID"},
		{Name: "SERIALNUMBER", Type: fun.Str, KwOnly: true, Doc: "serial number of the subject"},
	}
	// OlderSubjectArgs are other names of these.
	OlderSubjectArgs = []fun.Arg{
		{Name: "SP", Type: fun.Str, KwOnly: true, Doc: "same as ST"},
		{Name: "stateOrProvinceName", Type: fun.Str, KwOnly: true, Doc: "same as ST"},
		{Name: "localityName", Type: fun.Str, KwOnly: true, Doc: "same as L"},
		{Name: "organizationName", Type: fun.Str, KwOnly: true, Doc: "same as O"},
		{Name: "organizationUnitName", Type: fun.Str, KwOnly: true, Doc: "same as OU"},
		{Name: "commonName", Type: fun.Str, KwOnly: true, Doc: "same as CN"},
		{Name: "Email", Type: fun.Str, KwOnly: true, Doc: "email address"},
		{Name: "emailAddress", Type: fun.Str, KwOnly: true, Doc: "email address"},
		{Name: "serialNumber", Type: fun.Str, KwOnly: true, Doc: "serial number of the subject"},
		{Name: "surname", Type: fun.Str, KwOnly: true, Doc: "same as SN"},
		{Name: "givenName", Type: fun.Str, KwOnly: true, Doc: "same as GN"},
	}
	// ExtArgs are extensions: text as OpenSSL's configuration has it, or a list or
	// mapping.
	ExtArgs = []fun.Arg{
		{Name: "basicConstraints", KwOnly: true, Doc: "extension, such as 'critical, CA:TRUE, pathlen:1'"},
		{Name: "keyUsage", KwOnly: true, Doc: "extension, such as 'critical, cRLSign, keyCertSign'"},
		{Name: "extendedKeyUsage", KwOnly: true, Doc: "extension, such as 'serverAuth, clientAuth'"},
		{Name: "subjectKeyIdentifier", KwOnly: true, Doc: "extension: hash, or hexadecimal digits"},
		{Name: "authorityKeyIdentifier", KwOnly: true, Doc: "extension, such as 'keyid:always, issuer'"},
		{Name: "issuerAltName", KwOnly: true, Doc: "extension, such as 'issuer:copy, DNS:ca.example.com'"},
		{Name: "authorityInfoAccess", KwOnly: true, Doc: "extension, such as 'OCSP;URI:http://ocsp.example.com/'"},
		{Name: "subjectAltName", KwOnly: true, Doc: "extension, such as 'DNS:www.example.com, IP:10.0.0.1'"},
		{Name: "crlDistributionPoints", KwOnly: true, Doc: "extension, such as 'URI:http://example.com/ca.crl'"},
		{Name: "certificatePolicies", KwOnly: true, Doc: "extension: object identifiers, or a mapping of these to qualifiers"},
		{Name: "policyConstraints", KwOnly: true, Doc: "extension, such as 'requireExplicitPolicy:3'"},
		{Name: "inhibitAnyPolicy", KwOnly: true, Doc: "extension: a number"},
		{Name: "nameConstraints", KwOnly: true, Doc: "extension, such as 'permitted;DNS:.example.com'"},
		{Name: "noCheck", KwOnly: true, Doc: "extension: OCSP responders are not checked"},
		{Name: "tlsfeature", KwOnly: true, Doc: "extension: status_request, status_request_v2"},
		{Name: "nsComment", KwOnly: true, Doc: "extension: a comment"},
		{Name: "nsCertType", KwOnly: true, Doc: "extension: client, server, email, objsign, sslCA, emailCA, objCA"},
	}
	// LocalArgs are what a certificate is made from with x509_v2.
	LocalArgs = []fun.Arg{
		{Name: "copypath", Type: fun.Path, KwOnly: true, Doc: "directory for a copy of the certificate, named by its serial number"},
		{Name: "prepend_cn", Type: fun.Bool, KwOnly: true, Default: false, Doc: "begin the name of the copy with the common name"},
		{Name: "digest", Type: fun.Str, KwOnly: true, Default: "sha256", Doc: "digest of the signature"},
		{Name: "signing_private_key", KwOnly: true, Secret: true, Doc: "private key that signs: a file, PEM text or bytes"},
		{Name: "signing_private_key_passphrase", Type: fun.Str, KwOnly: true, Secret: true, Doc: "passphrase of the key that signs"},
		{Name: "signing_cert", KwOnly: true, Doc: "certificate of the key that signs; default: the certificate signs itself"},
		{Name: "public_key", KwOnly: true, Doc: "public key: a file, PEM text or bytes"},
		{Name: "private_key", KwOnly: true, Secret: true, Doc: "private key whose public key is certified"},
		{Name: "private_key_passphrase", Type: fun.Str, KwOnly: true, Secret: true, Doc: "passphrase of private_key"},
		{Name: "csr", KwOnly: true, Doc: "request that gives extensions and public key"},
		{Name: "subject", Type: fun.Str | fun.List | fun.Dict, KwOnly: true, Doc: "subject, as text of RFC 4514, a list of its parts or a mapping; default: the arguments CN, O, C ..."},
		{Name: "serial_number", Type: fun.Str | fun.Int, KwOnly: true, Doc: "serial number; default: random"},
		{Name: "not_before", KwOnly: true, Doc: "begin of validity, as 2024-01-31 12:00:00 in UTC; default: now"},
		{Name: "not_after", KwOnly: true, Doc: "end of validity; default: after days_valid"},
		{Name: "days_valid", Type: fun.Int, KwOnly: true, Unit: "days", Doc: "days of validity; default: 365"},
		{Name: "algorithm", Type: fun.Str, KwOnly: true, Doc: "same as digest"},
		{Name: "text", Type: fun.Bool, KwOnly: true, Doc: "accepted, has no effect"},
		{Name: "version", Type: fun.Int, KwOnly: true, Doc: "accepted; certificates have version 3"},
		{Name: "serial_bits", Type: fun.Int, KwOnly: true, Doc: "accepted; serial numbers have 159 bits"},
	}
	// CertArgs are what a certificate is made from with the older module.
	CertArgs = []fun.Arg{
		{Name: "signing_private_key", KwOnly: true, Secret: true, Doc: "private key that signs: a file or PEM text"},
		{Name: "signing_private_key_passphrase", Type: fun.Str, KwOnly: true, Secret: true, Doc: "passphrase of the key that signs"},
		{Name: "signing_cert", KwOnly: true, Doc: "certificate of the key that signs; default: the certificate signs itself"},
		{Name: "public_key", KwOnly: true, Doc: "public key: a file or PEM text of a key, certificate or request"},
		{Name: "public_key_passphrase", Type: fun.Str, KwOnly: true, Secret: true, Doc: "passphrase of a private key in public_key"},
		{Name: "csr", KwOnly: true, Doc: "request that gives subject, extensions and public key"},
		{Name: "signing_policy", Type: fun.Str, KwOnly: true, Doc: "signing policy that overrides arguments: see docs/modules/x509.md"},
		{Name: "serial_number", Type: fun.Str, KwOnly: true, Doc: "serial number in hexadecimal digits; default: random"},
		{Name: "serial_bits", Type: fun.Int, KwOnly: true, Doc: "size of a random serial number; default: 64"},
		{Name: "not_before", KwOnly: true, Doc: "begin of validity, as 2024-01-31 12:00:00 in UTC; default: now"},
		{Name: "not_after", KwOnly: true, Doc: "end of validity; default: after days_valid"},
		{Name: "days_valid", Type: fun.Int, KwOnly: true, Unit: "days", Doc: "days of validity; default: 365"},
		{Name: "copypath", Type: fun.Path, KwOnly: true, Doc: "directory for a copy of the certificate, named by its serial number"},
		{Name: "prepend_cn", Type: fun.Bool, KwOnly: true, Doc: "begin the name of the copy with the common name"},
	}
	// SignArgs are common to certificates and requests of the older module.
	SignArgs = []fun.Arg{
		{Name: "algorithm", Type: fun.Str, KwOnly: true, Doc: "digest of the signature; default: sha256"},
		{Name: "version", Type: fun.Int, KwOnly: true, Doc: "version; default: 3"},
	}
	// RequestArgs are what a request is made from with the older module.
	RequestArgs = []fun.Arg{
		{Name: "private_key", KwOnly: true, Secret: true, Doc: "private key that signs: a file or PEM text"},
		{Name: "private_key_passphrase", Type: fun.Str, KwOnly: true, Secret: true, Doc: "passphrase of private_key"},
		{Name: "public_key", KwOnly: true, Doc: "public key of the request; default: that of private_key"},
		{Name: "public_key_passphrase", Type: fun.Str, KwOnly: true, Secret: true, Doc: "passphrase of a private key in public_key"},
	}
	// MoreRequestArgs are what a request of x509_v2 takes besides what its row has.
	MoreRequestArgs = []fun.Arg{
		{Name: "algorithm", Type: fun.Str, KwOnly: true, Doc: "same as digest"},
		{Name: "text", Type: fun.Bool, KwOnly: true, Doc: "accepted, has no effect"},
		{Name: "version", Type: fun.Int, KwOnly: true, Doc: "accepted, has no effect"},
	}
	subjectArg = []fun.Arg{
		{Name: "subject", Type: fun.Str | fun.List | fun.Dict, KwOnly: true, Doc: "subject, as text of RFC 4514, a list of its parts or a mapping; default: the arguments CN, O, C ..."},
	}
)
