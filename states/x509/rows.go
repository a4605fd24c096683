package x509

import (
	"brine/internal/core/fun"
)

// specs are the functions of the older module.
var specs = []fun.Spec{
	{
		Name: "certificate_managed", Do: certificateManaged, Src: "states/x509.py certificate_managed",
		Doc: "Manage a certificate. Further arguments are those of x509.create_certificate and file.managed.",
	},
	{
		Name: "crl_managed", Do: crlManaged, Src: "states/x509.py crl_managed",
		Doc: "Manage a certificate revocation list.",
	},
	{
		Name: "csr_managed", Do: csrManaged, Src: "states/x509.py csr_managed",
		Doc: "Manage a certificate signing request. Further arguments are those of x509.create_csr and file.managed.",
	},
	{
		Name: "pem_managed", Do: pemManaged, Src: "states/x509.py pem_managed",
		Doc: "Manage a PEM block, properly formatted.",
	},
	{
		Name: "private_key_managed", Do: privateKeyManaged, Src: "states/x509.py private_key_managed",
		Doc: "Manage an RSA key.",
	},
}
