package tls

import (
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	configmod "brine/modules/config"
	pillarmod "brine/modules/pillar"
	"brine/modules/tls"
)

func TestAuthority(t *testing.T) {
	h := host.NewFake()
	h.SetNow(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	r := calltest.New(h,
		fun.Entry{Kind: fun.Exec, Name: "tls", Load: tls.Module},
		fun.Entry{Kind: fun.Exec, Name: "config", Load: configmod.Module},
		fun.Entry{Kind: fun.Exec, Name: "pillar", Load: pillarmod.Module},
		fun.Entry{Kind: fun.State, Name: "tls", Load: States})
	r.Steps(t, []calltest.Step{
		{"call tls.ca_exists [koji]", "False"},
		{"call tls.create_csr {ca_name: koji}", "'Certificate for CA named \"koji\" does not exist, please create it first.'"},
		{"call tls.create_ca {ca_name: koji, CN: ca, unless: true}", "None"},
		{"call tls.create_ca {ca_name: koji, CN: ca, days: 100}", "'Created Private Key: \"/etc/pki/koji/koji_ca_cert.key\" Created CA \"koji\": \"/etc/pki/koji/koji_ca_cert.crt\"'"},
		{"call tls.create_ca {ca_name: koji, CN: ca}", "'Certificate for CA named \"koji\" already exists'"},
		{"call tls.create_ca {ca_name: ../koji, CN: ca}", "error: ca_name must not have a slash: \"../koji\""},
		{"call tls.ca_exists [koji]", "True"},
		{"call tls.get_ca [koji]", "'/etc/pki/koji/koji_ca_cert.crt'"},
		{"call tls.get_ca [none]", "error: Certificate does not exist for none"},
		{"call tls.create_csr {ca_name: koji, CN: www, subjectAltName: ['DNS:www', 'IP:10.0.0.1']}", "'Created Private Key: \"/etc/pki/koji/certs/www.key\" Created CSR for \"www\": \"/etc/pki/koji/certs/www.csr\"'"},
		{"call tls.create_csr {ca_name: koji, CN: www}", "'Certificate Request \"/etc/pki/koji/certs/www.csr\" already exists'"},
		{"call tls.create_ca_signed_cert {ca_name: koji, CN: none}", "{'retcode': 1, 'comment': 'There is no CSR that matches the CN \"none\"'}"},
		{"call tls.create_ca_signed_cert {ca_name: none, CN: www}", "{'retcode': 1, 'comment': 'There is no CA named \"none\"'}"},
		{"call tls.create_ca_signed_cert {ca_name: koji, CN: www, days: 10}", "'Created Certificate for \"www\": \"/etc/pki/koji/certs/www.crt\"'"},
		{"call tls.create_ca_signed_cert {ca_name: koji, CN: www}", "'Certificate \"www\" already exists'"},
		{"call tls.get_ca_signed_cert [koji, www]", "'/etc/pki/koji/certs/www.crt'"},
		{"call tls.get_ca_signed_key [koji, www]", "'/etc/pki/koji/certs/www.key'"},
		{"call tls.get_expiration_date [/etc/pki/koji/certs/www.crt]", "'2026-03-11'"},
		{"call tls.create_pkcs12 [koji, www, secret]", "'Created PKCS#12 Certificate for \"www\": \"/etc/pki/koji/certs/www.p12\"'"},
		{"call tls.create_empty_crl [koji]", "'Created an empty CRL: \"/etc/pki/koji/crl.pem\"'"},
		{"call tls.create_empty_crl [koji]", "'CRL \"/etc/pki/koji/crl.pem\" already exists'"},
		{"call tls.validate [/etc/pki/koji/certs/www.crt, koji, /etc/pki/koji/crl.pem]", "{'valid': True}"},
		{"call tls.get_extensions [client]", "{'csr': {'basicConstraints': 'CA:FALSE', 'extendedKeyUsage': 'clientAuth', 'keyUsage': 'nonRepudiation, digitalSignature, keyEncipherment'}, 'cert': {'authorityKeyIdentifier': 'keyid,issuer:always', 'subjectKeyIdentifier': 'hash'}}"},
		{"state tls.valid_certificate {name: /etc/pki/koji/certs/www.crt, weeks: 1}", "True: Certificate is valid for 10 days, 0:00:00 {}"},
		{"state tls.valid_certificate {name: /etc/pki/koji/certs/www.crt, weeks: 1, days: 3, hours: 1}", "False: Certificate will expire in 10 days, 0:00:00, which is less than 10 days, 1:00:00 {}"},
		{"state tls.valid_certificate {name: /none}", "False: [Errno 2] No such file or directory: '/none' {}"},
		{"call tls.create_self_signed_cert {CN: own}", "'Created Private Key: \"/etc/pki/tls/certs/own.key\" Created Certificate: \"/etc/pki/tls/certs/own.crt\"'"},
		{"call tls.set_ca_path [/srv/pki]", "'/srv/pki'"},
		{"call tls.cert_base_path []", "'/srv/pki'"},
		{"call tls.ca_exists {ca_name: koji, cacert_path: /etc/pki}", "True"},
	})
	got := r.Fn(t, "tls.revoke_cert", "[koji, www]")
	if !strings.HasPrefix(got, "'Revoked Certificate: \"/etc/pki/koji/certs/www.crt\", serial number: ") {
		t.Errorf("revoke_cert = %s", got)
	}
	if again := r.Fn(t, "tls.revoke_cert", "[koji, www]"); !strings.HasPrefix(again, "'\"/etc/pki/koji/certs/www.crt\" was already revoked, serial number: ") {
		t.Errorf("revoke_cert again = %s", again)
	}
	if got := r.Fn(t, "tls.validate", "[/etc/pki/koji/certs/www.crt, koji, /etc/pki/koji/crl.pem]"); !strings.HasPrefix(got, "{'error': 'certificate revoked'") {
		t.Errorf("validate = %s", got)
	}
	info := r.Fn(t, "tls.cert_info", "[/etc/pki/koji/certs/www.crt]")
	for _, want := range []string{"'subject': {'C': 'US', 'ST': 'Utah', 'L': 'Salt Lake City', 'O': 'SaltStack', 'CN': 'www'}", "'not_after': 1773230400", "'subject_alt_names': ['www', '10.0.0.1']", "'signature_algorithm': 'sha256WithRSAEncryption'"} {
		if !strings.Contains(info, want) {
			t.Errorf("cert_info = %s\nlacks %s", info, want)
		}
	}
	for _, name := range []string{"/etc/pki/koji/koji_ca_cert.key", "/etc/pki/koji/certs/www.key", "/etc/pki/koji/certs/www.p12"} {
		if st, err := h.Stat(name); err != nil || st.Perm() != 0o600 {
			t.Errorf("%s has mode %o, %v", name, st.Perm(), err)
		}
	}
	h.SetNow(h.Now().Add(11 * 24 * time.Hour))
	r.Steps(t, []calltest.Step{{"state tls.valid_certificate {name: /etc/pki/koji/certs/www.crt}", "False: Certificate is expired {}"}})
	h.SetNow(h.Now().Add(-20 * 24 * time.Hour))
	r.Steps(t, []calltest.Step{{"state tls.valid_certificate {name: /etc/pki/koji/certs/www.crt}", "False: Certificate is not yet valid {}"}})
}
