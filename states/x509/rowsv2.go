package x509

import (
	"brine/internal/core/fun"
)

// specsV2 are the functions of x509_v2.
var specsV2 = []fun.Spec{
	{
		Name: "certificate_managed", Do: certificateManagedV2, Src: "states/x509_v2.py certificate_managed",
		Doc: "Manage a certificate. Further arguments are those of x509.create_certificate and file.managed.",
	},
	{
		Name: "crl_managed", Do: crlManagedV2, Src: "states/x509_v2.py crl_managed",
		Doc: "Manage a certificate revocation list.",
	},
	{
		Name: "csr_managed", Do: csrManagedV2, Src: "states/x509_v2.py csr_managed",
		Doc: "Manage a certificate signing request. Further arguments are those of x509.create_csr and file.managed.",
	},
	{
		Name: "pem_managed", Do: pemManagedV2, Src: "states/x509_v2.py pem_managed",
		Doc: "Manage a PEM block, properly formatted.",
	},
	{
		Name: "private_key_managed", Do: privateKeyManagedV2, Src: "states/x509_v2.py private_key_managed",
		Doc: "Manage a private key, which only its owner can read.",
	},
}
