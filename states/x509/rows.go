package x509

import (
	"brine/internal/fun"
	mod "brine/modules/x509"
)

// specs are the functions of the older module.
var specs = []fun.Spec{
	{
		Name: "certificate_managed", State: certificateManaged, VarKw: true, Src: "states/x509.py certificate_managed",
		Doc: "Manage a certificate. Further arguments are those of x509.create_certificate and file.managed.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "file to manage"},
			{Name: "days_remaining", Type: fun.Int, Default: int64(90), Doc: "make it again where fewer days are left; 0: never for that reason"},
			{Name: "append_certs", Doc: "certificates that follow it: a list of files or PEM texts"},
		},
		Shared: [][]fun.Arg{remoteArgs, mod.CertArgs, mod.SignArgs, mod.SubjectArgs, mod.OlderSubjectArgs, mod.ExtArgs, fileManagedArgs},
	},
	{
		Name: "crl_managed", State: crlManaged, VarKw: true, Src: "states/x509.py crl_managed",
		Doc: "Manage a certificate revocation list. Further arguments are those of file.managed: user, group, mode, makedirs ...",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "file to manage"},
			{Name: "signing_private_key", Required: true, Doc: "private key that signs: a file, PEM text or bytes", Secret: true},
			{Name: "signing_private_key_passphrase", Type: fun.Str, Doc: "passphrase of the key that signs", Secret: true},
			{Name: "signing_cert", Doc: "certificate of the key that signs; default: the result signs itself"},
			{Name: "revoked", Type: fun.List, Doc: "revoked certificates: mappings with certificate or serial_number, and revocation_date, not_after, reason or extensions"},
			{Name: "days_valid", Type: fun.Int, Default: int64(100), Unit: "days", Doc: "days for which the result is valid"},
			{Name: "digest", Type: fun.Str, Default: "", Doc: "digest of the signature"},
			{Name: "days_remaining", Type: fun.Int, Default: int64(30), Doc: "make it again where fewer days are left; 0: never for that reason"},
			{Name: "include_expired", Type: fun.Bool, Default: false, Doc: "list certificates that have expired"},
		},
		Shared: [][]fun.Arg{fileManagedArgs},
	},
	{
		Name: "csr_managed", State: csrManaged, VarKw: true, Src: "states/x509.py csr_managed",
		Doc: "Manage a certificate signing request. Further arguments are those of x509.create_csr and file.managed.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "file to manage"},
		},
		Shared: [][]fun.Arg{mod.RequestArgs, mod.SignArgs, mod.SubjectArgs, mod.OlderSubjectArgs, mod.ExtArgs, fileManagedArgs},
	},
	{
		Name: "pem_managed", State: pemManaged, VarKw: true, Src: "states/x509.py pem_managed",
		Doc: "Manage a PEM block, properly formatted. Further arguments are those of file.managed: user, group, mode, makedirs ...",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "file to manage"},
			{Name: "text", Required: true, Doc: "PEM text, or a file that has it", Secret: true},
			{Name: "backup", Type: fun.Str | fun.Bool, Default: false, Doc: "minion: keep a copy of the replaced file"},
		},
		Shared: [][]fun.Arg{fileManagedArgs[1:]},
	},
	{
		Name: "private_key_managed", State: privateKeyManaged, VarKw: true, Src: "states/x509.py private_key_managed",
		Doc: "Manage an RSA key. Further arguments are those of file.managed: user, group, mode, makedirs ...",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "file to manage"},
			{Name: "bits", Type: fun.Int, Default: int64(2048), Doc: "size of the key"},
			{Name: "passphrase", Type: fun.Str, Doc: "passphrase of the private key", Secret: true},
			{Name: "cipher", Type: fun.Str, Default: "aes_128_cbc", Doc: "cipher of an encrypted key: aes_128_cbc, aes_192_cbc, aes_256_cbc, des_ede3_cbc or des_cbc"},
			{Name: "new", Type: fun.Bool, Default: false, Doc: "always make a new key"},
			{Name: "overwrite", Type: fun.Bool, Default: false, Doc: "replace a file that cannot be read as a private key"},
			{Name: "verbose", Type: fun.Bool, Default: true, Doc: "accepted; nothing is printed while the key is made"},
		},
		Shared: [][]fun.Arg{fileManagedArgs},
	},
}
