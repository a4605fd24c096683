package x509

import (
	"brine/internal/fun"
	mod "brine/modules/x509"
)

// specsV2 are the functions of x509_v2.
var specsV2 = []fun.Spec{
	{
		Name: "certificate_managed", State: certificateManagedV2, VarKw: true, Src: "states/x509_v2.py certificate_managed",
		Doc: "Manage a certificate. Further arguments are those of x509.create_certificate and file.managed.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "file to manage"},
			{Name: "days_remaining", Type: fun.Int, Doc: "make it again where fewer days are left; 0: never for that reason"},
			{Name: "ca_server", Type: fun.Str, Doc: "machine that signs, by publish.publish"},
			{Name: "signing_policy", Type: fun.Str, Doc: "signing policy that overrides arguments: see docs/modules/x509.md"},
			{Name: "encoding", Type: fun.Str, Default: "pem", Doc: "encoding of the result"},
			{Name: "append_certs", Doc: "certificates that follow it: a list of files or PEM texts"},
			{Name: "copypath", Type: fun.Path, Doc: "directory for a copy of the certificate, named by its serial number"},
			{Name: "prepend_cn", Type: fun.Bool, Default: false, Doc: "begin the name of the copy with the common name"},
			{Name: "digest", Type: fun.Str, Default: "sha256", Doc: "digest of the signature"},
			{Name: "signing_private_key", Doc: "private key that signs: a file, PEM text or bytes", Secret: true},
			{Name: "signing_private_key_passphrase", Type: fun.Str, Doc: "passphrase of the key that signs", Secret: true},
			{Name: "signing_cert", Doc: "certificate of the key that signs; default: the result signs itself"},
			{Name: "public_key", Doc: "public key: a file, PEM text or bytes of a key, certificate or request"},
			{Name: "private_key", Doc: "private key: a file, PEM text or bytes", Secret: true},
			{Name: "private_key_passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
			{Name: "csr", Doc: "certificate signing request: a file, PEM text or bytes"},
			{Name: "subject", Type: fun.Str | fun.List | fun.Dict, Doc: "subject, as text of RFC 4514, a list of its parts or a mapping; default: the arguments CN, O, C ..."},
			{Name: "serial_number", Type: fun.Str | fun.Int, Doc: "serial number; default: random"},
			{Name: "not_before", Doc: "begin of validity, as 2024-01-31 12:00:00 in UTC; default: now"},
			{Name: "not_after", Doc: "end of validity; default: after days_valid"},
			{Name: "days_valid", Type: fun.Int, Unit: "days", Doc: "days for which the result is valid"},
			{Name: "pkcs12_passphrase", Type: fun.Str, Doc: "passphrase of PKCS #12; default: nothing is encrypted", Secret: true},
			{Name: "pkcs12_encryption_compat", Type: fun.Bool, Default: false, Doc: "encrypt PKCS #12 with triple DES and SHA-1, for old programs"},
			{Name: "pkcs12_friendlyname", Type: fun.Str, Doc: "name of the certificate within PKCS #12"},
		},
		Shared: [][]fun.Arg{algorithmArg, mod.SubjectArgs, mod.OlderSubjectArgs, mod.ExtArgs, fileManagedArgs, moreFileArgs},
	},
	{
		Name: "crl_managed", State: crlManagedV2, VarKw: true, Src: "states/x509_v2.py crl_managed",
		Doc: "Manage a certificate revocation list. Further arguments are those of file.managed: user, group, mode, makedirs ...",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "file to manage"},
			{Name: "signing_private_key", Required: true, Doc: "private key that signs: a file, PEM text or bytes", Secret: true},
			{Name: "revoked", Type: fun.List, Required: true, Doc: "revoked certificates: mappings with certificate or serial_number, and revocation_date, not_after, reason or extensions"},
			{Name: "days_remaining", Type: fun.Int, Doc: "make it again where fewer days are left; 0: never for that reason"},
			{Name: "signing_cert", Doc: "certificate of the key that signs; default: the result signs itself"},
			{Name: "signing_private_key_passphrase", Type: fun.Str, Doc: "passphrase of the key that signs", Secret: true},
			{Name: "include_expired", Type: fun.Bool, Default: false, Doc: "list certificates that have expired"},
			{Name: "days_valid", Type: fun.Int, Unit: "days", Doc: "days for which the result is valid"},
			{Name: "digest", Type: fun.Str, Default: "sha256", Doc: "digest of the signature"},
			{Name: "encoding", Type: fun.Str, Default: "pem", Doc: "encoding of the result"},
			{Name: "extensions", Type: fun.Dict, Doc: "extensions of the list: authorityKeyIdentifier, cRLNumber, issuingDistributionPoint ..."},
		},
		Shared: [][]fun.Arg{fileManagedArgs, moreFileArgs, textArg},
	},
	{
		Name: "csr_managed", State: csrManagedV2, VarKw: true, Src: "states/x509_v2.py csr_managed",
		Doc: "Manage a certificate signing request. Further arguments are those of x509.create_csr and file.managed.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "file to manage"},
			{Name: "private_key", Required: true, Doc: "private key: a file, PEM text or bytes", Secret: true},
			{Name: "private_key_passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
			{Name: "digest", Type: fun.Str, Default: "sha256", Doc: "digest of the signature"},
			{Name: "encoding", Type: fun.Str, Default: "pem", Doc: "encoding of the result"},
			{Name: "subject", Type: fun.Str | fun.List | fun.Dict, Doc: "subject, as text of RFC 4514, a list of its parts or a mapping; default: the arguments CN, O, C ..."},
		},
		Shared: [][]fun.Arg{mod.MoreRequestArgs, mod.SubjectArgs, mod.OlderSubjectArgs, mod.ExtArgs, fileManagedArgs, moreFileArgs},
	},
	{
		Name: "pem_managed", State: pemManagedV2, VarKw: true, Src: "states/x509_v2.py pem_managed",
		Doc: "Manage a PEM block, properly formatted. Further arguments are those of file.managed: user, group, mode, makedirs ...",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "file to manage"},
			{Name: "text", Required: true, Doc: "PEM text, or a file that has it", Secret: true},
		},
		Shared: [][]fun.Arg{fileManagedArgs, moreFileArgs},
	},
	{
		Name: "private_key_managed", State: privateKeyManagedV2, VarKw: true, Src: "states/x509_v2.py private_key_managed",
		Doc: "Manage a private key, which only its owner can read. Further arguments are those of file.managed: user, group, mode, makedirs ...",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "file to manage"},
			{Name: "algo", Type: fun.Str, Default: "rsa", Doc: "kind of the key: rsa, ec or ed25519"},
			{Name: "keysize", Type: fun.Int, Doc: "size of the key: 2048, 3072 or 4096 (rsa), 256, 384 or 521 (ec); default: 2048 and 256"},
			{Name: "passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
			{Name: "encoding", Type: fun.Str, Default: "pem", Doc: "encoding of the result"},
			{Name: "new", Type: fun.Bool, Default: false, Doc: "always make a new key"},
			{Name: "overwrite", Type: fun.Bool, Default: false, Doc: "replace a file that cannot be read as a private key"},
			{Name: "pkcs12_encryption_compat", Type: fun.Bool, Default: false, Doc: "encrypt PKCS #12 with triple DES and SHA-1, for old programs"},
		},
		Shared: [][]fun.Arg{fileManagedArgs, moreFileArgs, olderKeyArgs},
	},
}
