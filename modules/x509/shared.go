package x509

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// SubjectArgs are the parts of a subject.
type SubjectArgs struct {
	_ fun.Arguments
	_ string `arg:"C,kw" doc:"country, two letters"`
	_ string `arg:"ST,kw" doc:"state or province"`
	_ string `arg:"L,kw" doc:"locality"`
	_ string `arg:"STREET,kw" doc:"street"`
	_ string `arg:"O,kw" doc:"organization"`
	_ string `arg:"OU,kw" doc:"organizational unit"`
	_ string `arg:"CN,kw" doc:"common name"`
	_ string `arg:"MAIL,kw" doc:"email address"`
	_ string `arg:"SN,kw" doc:"surname"`
	_ string `arg:"GN,kw" doc:"given name"`
	_ string `arg:"UID,kw" doc:"user ID"`
	_ string `arg:"SERIALNUMBER,kw" doc:"serial number of the subject"`
}

// OlderSubjectArgs are other names of these.
type OlderSubjectArgs struct {
	_ fun.Arguments
	_ string `arg:"SP,kw" doc:"same as ST"`
	_ string `arg:"stateOrProvinceName,kw" doc:"same as ST"`
	_ string `arg:"localityName,kw" doc:"same as L"`
	_ string `arg:"organizationName,kw" doc:"same as O"`
	_ string `arg:"organizationUnitName,kw" doc:"same as OU"`
	_ string `arg:"commonName,kw" doc:"same as CN"`
	_ string `arg:"Email,kw" doc:"email address"`
	_ string `arg:"emailAddress,kw" doc:"email address"`
	_ string `arg:"serialNumber,kw" doc:"serial number of the subject"`
	_ string `arg:"surname,kw" doc:"same as SN"`
	_ string `arg:"givenName,kw" doc:"same as GN"`
}

// ExtArgs are extensions: text as OpenSSL's configuration has it, or a list or
// mapping.
type ExtArgs struct {
	_ fun.Arguments
	_ value.Value `arg:"basicConstraints,kw" doc:"extension, such as 'critical, CA:TRUE, pathlen:1'"`
	_ value.Value `arg:"keyUsage,kw" doc:"extension, such as 'critical, cRLSign, keyCertSign'"`
	_ value.Value `arg:"extendedKeyUsage,kw" doc:"extension, such as 'serverAuth, clientAuth'"`
	_ value.Value `arg:"subjectKeyIdentifier,kw" doc:"extension: hash, or hexadecimal digits"`
	_ value.Value `arg:"authorityKeyIdentifier,kw" doc:"extension, such as 'keyid:always, issuer'"`
	_ value.Value `arg:"issuerAltName,kw" doc:"extension, such as 'issuer:copy, DNS:ca.example.com'"`
	_ value.Value `arg:"authorityInfoAccess,kw" doc:"extension, such as 'OCSP;URI:http://ocsp.example.com/'"`
	_ value.Value `arg:"subjectAltName,kw" doc:"extension, such as 'DNS:www.example.com, IP:10.0.0.1'"`
	_ value.Value `arg:"crlDistributionPoints,kw" doc:"extension, such as 'URI:http://example.com/ca.crl'"`
	_ value.Value `arg:"certificatePolicies,kw" doc:"extension: object identifiers, or a mapping of these to qualifiers"`
	_ value.Value `arg:"policyConstraints,kw" doc:"extension, such as 'requireExplicitPolicy:3'"`
	_ value.Value `arg:"inhibitAnyPolicy,kw" doc:"extension: a number"`
	_ value.Value `arg:"nameConstraints,kw" doc:"extension, such as 'permitted;DNS:.example.com'"`
	_ value.Value `arg:"noCheck,kw" doc:"extension: OCSP responders are not checked"`
	_ value.Value `arg:"tlsfeature,kw" doc:"extension: status_request, status_request_v2"`
	_ value.Value `arg:"nsComment,kw" doc:"extension: a comment"`
	_ value.Value `arg:"nsCertType,kw" doc:"extension: client, server, email, objsign, sslCA, emailCA, objCA"`
}

// LocalArgs are what a certificate is made from with x509_v2.
type LocalArgs struct {
	_ fun.Arguments
	_ string      `arg:"copypath,kw,path" doc:"directory for a copy of the certificate, named by its serial number"`
	_ bool        `arg:"prepend_cn,kw" default:"False" doc:"begin the name of the copy with the common name"`
	_ string      `arg:"digest,kw" default:"sha256" doc:"digest of the signature"`
	_ value.Value `arg:"signing_private_key,kw,secret" doc:"private key that signs: a file, PEM text or bytes"`
	_ string      `arg:"signing_private_key_passphrase,kw,secret" doc:"passphrase of the key that signs"`
	_ value.Value `arg:"signing_cert,kw" doc:"certificate of the key that signs; default: the certificate signs itself"`
	_ value.Value `arg:"public_key,kw" doc:"public key: a file, PEM text or bytes"`
	_ value.Value `arg:"private_key,kw,secret" doc:"private key whose public key is certified"`
	_ string      `arg:"private_key_passphrase,kw,secret" doc:"passphrase of private_key"`
	_ value.Value `arg:"csr,kw" doc:"request that gives extensions and public key"`
	_ value.Value `arg:"subject,kw,str|list|dict" doc:"subject, as text of RFC 4514, a list of its parts or a mapping; default: the arguments CN, O, C ..."`
	_ value.Value `arg:"serial_number,kw,str|int" doc:"serial number; default: random"`
	_ value.Value `arg:"not_before,kw" doc:"begin of validity, as 2024-01-31 12:00:00 in UTC; default: now"`
	_ value.Value `arg:"not_after,kw" doc:"end of validity; default: after days_valid"`
	_ int64       `arg:"days_valid,kw" unit:"days" doc:"days of validity; default: 365"`
	_ string      `arg:"algorithm,kw" doc:"same as digest"`
	_ bool        `arg:"text,kw" doc:"accepted, has no effect"`
	_ int64       `arg:"version,kw" doc:"accepted; certificates have version 3"`
	_ int64       `arg:"serial_bits,kw" doc:"accepted; serial numbers have 159 bits"`
}

// CertArgs are what a certificate is made from with the older module.
type CertArgs struct {
	_ fun.Arguments
	_ value.Value `arg:"signing_private_key,kw,secret" doc:"private key that signs: a file or PEM text"`
	_ string      `arg:"signing_private_key_passphrase,kw,secret" doc:"passphrase of the key that signs"`
	_ value.Value `arg:"signing_cert,kw" doc:"certificate of the key that signs; default: the certificate signs itself"`
	_ value.Value `arg:"public_key,kw" doc:"public key: a file or PEM text of a key, certificate or request"`
	_ string      `arg:"public_key_passphrase,kw,secret" doc:"passphrase of a private key in public_key"`
	_ value.Value `arg:"csr,kw" doc:"request that gives subject, extensions and public key"`
	_ string      `arg:"signing_policy,kw" doc:"signing policy that overrides arguments: see docs/modules/x509.md"`
	_ string      `arg:"serial_number,kw" doc:"serial number in hexadecimal digits; default: random"`
	_ int64       `arg:"serial_bits,kw" doc:"size of a random serial number; default: 64"`
	_ value.Value `arg:"not_before,kw" doc:"begin of validity, as 2024-01-31 12:00:00 in UTC; default: now"`
	_ value.Value `arg:"not_after,kw" doc:"end of validity; default: after days_valid"`
	_ int64       `arg:"days_valid,kw" unit:"days" doc:"days of validity; default: 365"`
	_ string      `arg:"copypath,kw,path" doc:"directory for a copy of the certificate, named by its serial number"`
	_ bool        `arg:"prepend_cn,kw" doc:"begin the name of the copy with the common name"`
}

// SignArgs are common to certificates and requests of the older module.
type SignArgs struct {
	_ fun.Arguments
	_ string `arg:"algorithm,kw" doc:"digest of the signature; default: sha256"`
	_ int64  `arg:"version,kw" doc:"version; default: 3"`
}

// RequestArgs are what a request is made from with the older module.
type RequestArgs struct {
	_ fun.Arguments
	_ value.Value `arg:"private_key,kw,secret" doc:"private key that signs: a file or PEM text"`
	_ string      `arg:"private_key_passphrase,kw,secret" doc:"passphrase of private_key"`
	_ value.Value `arg:"public_key,kw" doc:"public key of the request; default: that of private_key"`
	_ string      `arg:"public_key_passphrase,kw,secret" doc:"passphrase of a private key in public_key"`
}

// MoreRequestArgs are what a request of x509_v2 takes besides what its row has.
type MoreRequestArgs struct {
	_ fun.Arguments
	_ string `arg:"algorithm,kw" doc:"same as digest"`
	_ bool   `arg:"text,kw" doc:"accepted, has no effect"`
	_ int64  `arg:"version,kw" doc:"accepted, has no effect"`
}
