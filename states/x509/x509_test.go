package x509

import (
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	configmod "brine/modules/config"
	mod "brine/modules/x509"
	"brine/modules/x509/pki"
	"brine/states/file"
)

func rig(v2 bool) (*calltest.Rig, *host.Fake) {
	h := host.NewFake()
	h.SetNow(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	h.PutDir("/pki", 0o755)
	r := calltest.New(h,
		fun.Entry{Kind: fun.Exec, Name: "x509", Virtual: "x509", Load: mod.Module},
		fun.Entry{Kind: fun.Exec, Name: "x509_v2", Virtual: "x509", Load: mod.ModuleV2},
		fun.Entry{Kind: fun.Exec, Name: "config", Load: configmod.Module},
		fun.Entry{Kind: fun.State, Name: "x509", Virtual: "x509", Load: States},
		fun.Entry{Kind: fun.State, Name: "x509_v2", Virtual: "x509", Load: StatesV2},
		fun.Entry{Kind: fun.State, Name: "file", Load: file.States})
	r.Env.Opts.Set("features", value.MapOf("x509_v2", v2))
	r.Env.Opts.Set("x509_signing_policies", value.MapOf("www", value.NewList(
		value.MapOf("minions", "www*"), value.MapOf("signing_private_key", "/pki/ca.key"), value.MapOf("signing_cert", "/pki/ca.crt"),
		value.MapOf("O", "Policy"), value.MapOf("days_valid", int64(40)), value.MapOf("copypath", "/pki")),
		"old", value.MapOf("minions", "*", "signing_private_key", "/pki/ca.key", "signing_cert", "/pki/ca.crt", "X509v3 Basic Constraints", "critical CA:FALSE", "days_valid", int64(40)),
		"bare", value.MapOf("minions", "*", "days_valid", int64(40))))
	return r, h
}

// A step is a call "test|state|call NAME ARGS", and what its return begins with
// and contains.
type step struct{ call, begins, has string }

func run(t *testing.T, v2 bool, steps []step) *host.Fake {
	t.Helper()
	r, h := rig(v2)
	for i, s := range steps {
		verb, rest, _ := strings.Cut(s.call, " ")
		name, args, _ := strings.Cut(rest, " ")
		got := ""
		switch verb {
		case "after":
			d, err := time.ParseDuration(rest)
			if err != nil {
				t.Fatal(err)
			}
			h.SetNow(h.Now().Add(d))
			continue
		case "put":
			h.PutFile(name, strings.ReplaceAll(args, `\n`, "\n"), 0o644)
			continue
		case "call":
			res, err := r.Env.Invoker.Invoke(t.Context(), fun.Exec, name, fun.Args{Kw: calltest.YAML(t, args).(*value.Map)})
			got = value.Repr(res.Value)
			if err != nil {
				got = "error: " + err.Error()
			}
		default:
			mod, spec, err := r.Env.Find(fun.State, name)
			if err != nil {
				t.Fatal(err)
			}
			c, err := r.Env.Invoker.Bind(mod, spec, fun.Args{Kw: calltest.YAML(t, args).(*value.Map)})
			if err != nil {
				t.Fatal(err)
			}
			before := len(h.Writes())
			c.Test = verb == "test"
			ret := spec.State(t.Context(), c)
			changes := ret.Changes
			if changes == nil {
				changes = value.NewMap(0)
			}
			got = value.Repr(ret.Result.Value()) + ": " + value.Str(ret.Comment) + " " + value.Repr(changes)
			if ret.Err != nil {
				got = "error: " + ret.Err.Error()
			}
			if c.Test && len(h.Writes()) > before {
				t.Errorf("step %d: test mode wrote %v", i+1, h.Writes()[before:])
			}
			if ret.Extra != nil && strings.Contains(value.Repr(ret.Extra), "PRIVATE KEY") || strings.Contains(got, "PRIVATE KEY") {
				t.Errorf("step %d shows a private key: %s", i+1, got)
			}
		}
		if !strings.HasPrefix(got, s.begins) || !strings.Contains(got, s.has) {
			t.Errorf("step %d: %s\n%s\nwant it to begin with %q and to contain %q", i+1, s.call, got, s.begins, s.has)
		}
	}
	return h
}

const caArgs = "{name: /pki/ca.crt, signing_private_key: /pki/ca.key, CN: ca, O: Org, basicConstraints: 'critical CA:true', keyUsage: 'critical cRLSign, keyCertSign', subjectKeyIdentifier: hash, authorityKeyIdentifier: 'keyid,issuer:always', days_valid: 100, days_remaining: 0}"

func TestV2(t *testing.T) {
	h := run(t, true, []step{
		{"test x509.private_key_managed {name: /pki/ca.key}", "None: The private key would have been created {'created': '/pki/ca.key'}", ""},
		{"state x509.private_key_managed {name: /pki/ca.key}", "True: The private key has been created {'created': '/pki/ca.key'}", ""},
		{"state x509.private_key_managed {name: /pki/ca.key}", "True: The private key is in the correct state {}", ""},
		{"test x509.private_key_managed {name: /pki/ca.key, keysize: 3072}", "None: The private key would have been recreated {'keysize': 3072}", ""},
		{"test x509.private_key_managed {name: /pki/ca.key, algo: ec}", "None: The private key would have been recreated {'algo': 'ec'}", ""},
		{"test x509.private_key_managed {name: /pki/ca.key, new: true}", "None: The private key would have been recreated {'replaced': '/pki/ca.key'}", ""},
		{"state x509.private_key_managed {name: /pki/l.key, algo: ec, passphrase: p}", "True: The private key has been created", ""},
		{"state x509.private_key_managed {name: /pki/l.key, algo: ec, passphrase: q}", "False: The provided passphrase cannot decrypt the private key. Pass overwrite: true to force regeneration {}", ""},
		{"state x509.private_key_managed {name: /pki/l.key, algo: ec}", "False: The existing file is encrypted. Pass overwrite: true to force regeneration without passphrase {}", ""},
		{"state x509.private_key_managed {name: /pki/l.key, algo: ec, passphrase: p, encoding: der}", "True: The private key has been recreated {'encoding': 'der'}", ""},
		{"state x509.private_key_managed {name: /pki/l.key, algo: ec, passphrase: p, encoding: der}", "True: The private key is in the correct state {}", ""},
		{"state x509.private_key_managed {name: /pki/l.key, algo: ed25519, overwrite: true}", "True: The private key has been recreated {'passphrase': True, 'created': '/pki/l.key'}", ""},
		{"state x509.private_key_managed {name: /pki/l.key, algo: ed25519, keysize: 5}", "False: keysize is an invalid parameter for ed25519 {}", ""},
		{"state x509.private_key_managed {name: /pki/l.key, algo: ed25519, passphrase: n}", "True: The private key has been recreated {'passphrase': True}", ""},
		{"state x509.private_key_managed {name: /pki/l.key, algo: ed25519, passphrase: n}", "True: The private key is in the correct state {}", ""},
		{"state x509.private_key_managed {name: /pki/x.key, algo: ed448}", "False: ed448 keys are not supported: use ed25519 {}", ""},
		{"state x509.private_key_managed {name: /none/x.key}", "False: Could not create file, see file.managed output {}", ""},
		{"state x509.private_key_managed {name: /pki/none.key, create: false}", "True: The private key is in the correct state {}", ""},

		{"test x509.certificate_managed " + caArgs, "None: The certificate would have been created {'created': '/pki/ca.crt'}", ""},
		{"state x509.certificate_managed " + strings.Replace(caArgs, ",issuer:always", "", 1), "True: The certificate has been created {'created': '/pki/ca.crt'}", ""},
		{"state x509.certificate_managed " + caArgs, "False: Could not add authority_cert_issuer and authority_cert_serial_number, but was set to always. {}", ""},
		{"state x509.certificate_managed " + strings.Replace(caArgs, ",issuer:always", "", 1), "True: The certificate is in the correct state {}", ""},
		{"test x509.certificate_managed " + strings.Replace(strings.Replace(caArgs, "CN: ca", "CN: other, digest: sha512", 1), ",issuer:always", "", 1), "None: The certificate would have been recreated {'digest': 'sha512', 'subject_name': 'CN=other,O=Org', 'issuer_name': 'CN=other,O=Org'", ""},
		{"call x509.read_certificate {certificate: /pki/ca.crt}", "{'version': 3, 'key_size': 2048, 'key_type': 'rsa'", "'subject_str': 'CN=ca,O=Org'"},

		{"state x509.certificate_managed {name: /pki/l.crt, private_key: /pki/l.key, private_key_passphrase: n, signing_policy: www, CN: l, subjectAltName: ['DNS:l'], days_remaining: 5}", "True: The certificate has been created", ""},
		{"state x509.certificate_managed {name: /pki/l.crt, private_key: /pki/l.key, private_key_passphrase: n, signing_policy: www, CN: l, subjectAltName: ['DNS:l'], days_remaining: 5}", "True: The certificate is in the correct state {}", ""},
		{"test x509.certificate_managed {name: /pki/l.crt, private_key: /pki/l.key, private_key_passphrase: n, signing_policy: www, CN: l, days_remaining: 5, append_certs: [/pki/ca.crt]}", "None: The certificate would have been recreated {'additional_certs': True, 'extensions': {'added': [], 'changed': [], 'removed': ['subjectAltName']}}", ""},
		{"call x509.read_certificate {certificate: /pki/l.crt}", "", "'subject': {'O': 'Policy', 'CN': 'l'}"},
		{"call x509.verify_signature {certificate: /pki/l.crt, signing_pub_key: /pki/ca.crt}", "True", ""},
		{"call x509.verify_private_key {private_key: /pki/l.key, public_key: /pki/l.crt, passphrase: n}", "True", ""},
		{"state x509.certificate_managed {name: /pki/l.p12, private_key: /pki/l.key, private_key_passphrase: n, signing_policy: www, CN: l, days_remaining: 5, encoding: pkcs12, pkcs12_passphrase: z, append_certs: /pki/ca.crt}", "True: The certificate has been created", ""},
		{"state x509.certificate_managed {name: /pki/l.p12, private_key: /pki/l.key, private_key_passphrase: n, signing_policy: www, CN: l, days_remaining: 5, encoding: pkcs12, pkcs12_passphrase: z, append_certs: /pki/ca.crt}", "True: The certificate is in the correct state {}", ""},
		{"state x509.certificate_managed {name: /pki/l.p12, private_key: /pki/l.key, private_key_passphrase: n, signing_policy: www, CN: l, days_remaining: 5, encoding: pkcs7_pem, pkcs12_passphrase: z, append_certs: /pki/ca.crt}", "True: The certificate has been recreated {'encoding': 'pkcs7_pem'}", ""},
		{"after 900h", "", ""},
		{"test x509.certificate_managed {name: /pki/l.crt, private_key: /pki/l.key, private_key_passphrase: n, signing_policy: www, CN: l, subjectAltName: ['DNS:l'], days_remaining: 5}", "None: The certificate would have been recreated {'expiration': True}", ""},
		{"call x509.will_expire {certificate: /pki/l.crt, days: 5}", "{'check_days': 5, 'path': '/pki/l.crt', 'cn': 'l', 'will_expire': True}", ""},
		{"call x509.expires {certificate: /pki/l.crt}", "False", ""},
		{"state x509.certificate_managed {name: /pki/y.crt, signing_private_key: /pki/none.key, CN: y}", "False: Could not deserialize binary data, neither as DER nor PKCS#12. {}", ""},
		{"state x509.certificate_managed {name: /pki/y.crt, signing_policy: www, ca_server: ca, CN: y, private_key: /pki/ca.key}", "False: a certificate of ca_server ca needs publish.publish", ""},

		{"state x509.csr_managed {name: /pki/l.csr, private_key: /pki/ca.key, CN: l, keyUsage: 'critical dataEncipherment'}", "True: The certificate signing request has been created", ""},
		{"state x509.csr_managed {name: /pki/l.csr, private_key: /pki/ca.key, CN: l, keyUsage: 'critical dataEncipherment'}", "True: The certificate signing request is in the correct state {}", ""},
		{"state x509.csr_managed {name: /pki/l.csr, private_key: /pki/ca.key, CN: m}", "True: The certificate signing request has been recreated {'subject_name': 'CN=m', 'extensions': {'added': [], 'changed': [], 'removed': ['keyUsage']}}", ""},
		{"call x509.read_csr {csr: /pki/l.csr}", "{'key_size': 2048, 'key_type': 'rsa', 'subject': {'CN': 'm'}", ""},

		{"state x509.crl_managed {name: /pki/ca.crl, signing_private_key: /pki/ca.key, signing_cert: /pki/ca.crt, revoked: [{serial_number: 'AB:CD', extensions: {CRLReason: keyCompromise}}], extensions: {cRLNumber: auto}}", "True: The certificate revocation list has been created", ""},
		{"state x509.crl_managed {name: /pki/ca.crl, signing_private_key: /pki/ca.key, signing_cert: /pki/ca.crt, revoked: [{serial_number: 'AB:CD', reason: keyCompromise}], extensions: {cRLNumber: auto}}", "True: The certificate revocation list is in the correct state {}", ""},
		{"state x509.crl_managed {name: /pki/ca.crl, signing_private_key: /pki/ca.key, signing_cert: /pki/ca.crt, revoked: [{certificate: /pki/l.crt}], extensions: {cRLNumber: auto}}", "True: The certificate revocation list has been recreated {'revocations': {'added': [", "'removed': ['AB:CD']"},
		{"call x509.read_crl {crl: /pki/ca.crl}", "{'issuer': {'O': 'Org', 'CN': 'ca'}", "'cRLNumber': {'critical': False, 'value': 2}"},
		{"call x509.verify_crl {crl: /pki/ca.crl, cert: /pki/ca.crt}", "True", ""},
		{"state x509.crl_managed {name: /pki/none.crl, signing_private_key: /pki/ca.key, signing_cert: /pki/ca.crt, revoked: []}", "True: The certificate revocation list has been created {'created': '/pki/none.crl'}", ""},
		{"state x509.crl_managed {name: /pki/none.crl, signing_private_key: /pki/ca.key, signing_cert: /pki/ca.crt, revoked: [{serial_number: 'AB:CD'}]}", "True: The certificate revocation list has been created {'revocations': {'added': ['AB:CD']", ""},

		{"state x509.pem_managed {name: /pki/p.pem, text: /pki/ca.crt}", "True: File /pki/p.pem updated", ""},
		{"state x509.pem_managed {name: /pki/p.pem, text: /pki/ca.crt}", "True: File /pki/p.pem is in the correct state {}", ""},
		{"state x509.pem_managed {name: /pki/p.pem, text: /pki/ca.key}", "True: File /pki/p.pem updated {'mode': '0640', 'diff': '<show_changes=False>'}", ""},
		{"state x509.pem_managed {name: /pki/p.pem, text: nonsense}", "False: PEM text not valid", ""},
		{"call x509.sign_remote_certificate {signing_policy: www, kwargs: {csr: /pki/l.csr, CN: z}, __pub_id: www1}", "{'data': b'", "'errors': []"},
		{"call x509.sign_remote_certificate {signing_policy: www, kwargs: {public_key: /pki/l.crt, CN: z}, __pub_id: db1}", "{'data': None, 'errors': ['minion not permitted to use specified signing policy']}", ""},
		{"call x509.get_signing_policy {signing_policy: www}", "{'minions': 'www*', 'signing_private_key': '/pki/ca.key', 'signing_cert': '/pki/ca.crt'", ""},
	})
	for path, mode := range map[string]uint32{"/pki/ca.key": 0o400, "/pki/l.key": 0o400} {
		st, err := h.Stat(path)
		if err != nil || st.Perm() != mode {
			t.Errorf("%s has mode %o, want %o (%v)", path, st.Perm(), mode, err)
		}
	}
}

// TestHostilePolicies has a machine ask for what the policy, which it may use, does not
// grant: a CA, a longer life, keys of the CA's machine and files there.
func TestHostilePolicies(t *testing.T) {
	t.Parallel()
	const remote = "call x509.sign_remote_certificate "
	h := run(t, true, []step{
		{"state x509.private_key_managed {name: /pki/ca.key}", "True", ""},
		{"state x509.certificate_managed " + strings.Replace(caArgs, "keyid,issuer:always", "keyid", 1), "True", ""},
		{"state x509.private_key_managed {name: /pki/l.key}", "True", ""},
		{"state x509.csr_managed {name: /pki/l.csr, private_key: /pki/l.key, CN: l}", "True", ""},
		{remote + "{signing_policy: www, kwargs: {csr: /pki/l.csr, CN: z}}", "{'data': None, 'errors': ['minion sending this request could not be identified']}", ""},
		{remote + "{signing_policy: none, kwargs: {csr: /pki/l.csr, CN: z}, __pub_id: www1}", "{'data': None, 'errors': ['signing_policy must be specified", ""},
		{remote + "{signing_policy: '', kwargs: {csr: /pki/l.csr, CN: z, signing_private_key: /pki/ca.key, signing_cert: /pki/ca.crt}, __pub_id: www1}", "{'data': None, 'errors': ['signing_policy must be specified", ""},
		{remote + "{signing_policy: bare, kwargs: {csr: /pki/l.csr, CN: z, signing_private_key: /pki/ca.key, signing_cert: /pki/ca.crt}, __pub_id: www1}", "{'data': None, 'errors': [", ""},
		{remote + "{signing_policy: old, kwargs: {csr: /pki/l.csr, CN: z, copypath: /pki/mine, prepend_cn: true}, __pub_id: www1}", "{'data': b'", "'errors': []"},
		{remote + "{signing_policy: www, kwargs: {}, get_signing_policy_only: true, __pub_id: www1}", "{'data': {'signing_cert': b'", ""},
		{"call x509.create_certificate {signing_policy: old, csr: /pki/l.csr, CN: z, path: /pki/o.crt, basicConstraints: 'critical CA:TRUE', not_after: '2099-01-01 00:00:00', days_valid: 4000}", "", ""},
		{"call x509.read_certificate {certificate: /pki/o.crt}", "", "'basicConstraints': {'critical': True, 'ca': False"},
		{"call x509.read_certificate {certificate: /pki/o.crt}", "", "'not_after': '2026-04-10 12:00:00'"},
		{"call x509.create_certificate {signing_policy: www, csr: /pki/l.csr, subject: 'O=Other,CN=z', path: /pki/s.crt}", "", ""},
		{"call x509.read_certificate {certificate: /pki/s.crt}", "", "'subject': {'O': 'Policy'}"},
	})
	if names, err := h.ReadDir("/pki/mine"); err == nil {
		t.Errorf("the other machine says where certificates are stored: %q", names)
	}
}

func TestV1(t *testing.T) {
	run(t, false, []step{
		{"test x509.private_key_managed {name: /pki/ca.key}", "None: The file /pki/ca.key is set to be changed", "{'new': 'New private key generated'}"},
		{"state x509.private_key_managed {name: /pki/ca.key}", "True: File /pki/ca.key updated {'new': 'New private key generated'}", ""},
		{"state x509.private_key_managed {name: /pki/ca.key}", "True: File /pki/ca.key is in the correct state {}", ""},
		{"test x509.private_key_managed {name: /pki/ca.key, new: true}", "None:", "New private key generated"},
		{"state x509.private_key_managed {name: /pki/l.key, passphrase: p}", "True: File /pki/l.key updated", ""},
		{"state x509.private_key_managed {name: /pki/l.key, passphrase: p}", "True: File /pki/l.key is in the correct state {}", ""},
		{"state x509.private_key_managed {name: /pki/l.key, passphrase: q}", "error: The provided passphrase cannot decrypt the private key.", ""},
		{"test x509.private_key_managed {name: /pki/l.key, passphrase: q, overwrite: true}", "None:", "New private key generated"},
		{"state x509.certificate_managed {name: /pki/ca.crt}", "error: public_key, signing_private_key, or csr must be specified.", ""},
		{"test x509.certificate_managed " + caArgs, "None: Certificate /pki/ca.crt will be created {'File': {'newfile': '/pki/ca.crt'}, 'Status': {'Old': '/pki/ca.crt does not exist', 'New': 'Certificate will be valid and up to date'}}", ""},
		{"state x509.certificate_managed " + caArgs, "True: Certificate /pki/ca.crt is valid and up to date {'File': {'diff': 'New file'}, 'Certificate': {'Old': {}, 'New': {'Version': 3, 'Key Size': 2048", "'Status': {'Old': '/pki/ca.crt does not exist'"},
		{"state x509.certificate_managed " + caArgs, "True: Certificate /pki/ca.crt is valid and up to date {}", ""},
		{"test x509.certificate_managed " + strings.Replace(caArgs, "CN: ca", "CN: other", 1), "None:", "Certificate properties are different: Subject, Issuer"},
		{"state x509.certificate_managed {name: /pki/l.crt, public_key: /pki/l.key, public_key_passphrase: p, signing_policy: www, CN: l, subjectAltName: 'DNS:l, IP Address:1.2.3.4', days_remaining: 5}", "True:", "'X509v3 Extensions': {'subjectAltName': 'DNS:l, IP Address:1.2.3.4'}"},
		{"state x509.certificate_managed {name: /pki/l.crt, public_key: /pki/l.key, public_key_passphrase: p, signing_policy: www, CN: l, subjectAltName: 'DNS:l, IP Address:1.2.3.4', days_remaining: 5}", "True: Certificate /pki/l.crt is valid and up to date {}", ""},
		{"after 900h", "", ""},
		{"test x509.certificate_managed {name: /pki/l.crt, public_key: /pki/l.key, public_key_passphrase: p, signing_policy: www, CN: l, subjectAltName: 'DNS:l, IP Address:1.2.3.4', days_remaining: 5}", "None:", "Certificate needs renewal: 2 days remaining but it needs to be at least 5"},
		{"state x509.certificate_managed {name: /pki/l2.crt, public_key: /pki/l.key, public_key_passphrase: p, signing_policy: www, CN: l, append_certs: [/pki/none]}", "False: /pki/none is not a valid certificate file, cannot append it to the certificate /pki/l2.crt.", ""},
		{"state x509.csr_managed {name: /pki/l.csr, private_key: /pki/ca.key, CN: l, keyUsage: 'critical dataEncipherment'}", "True: File /pki/l.csr updated {'Old': '/pki/l.csr is not a valid csr.', 'New': {'Version': 3, 'Subject': {'CN': 'l'}", "'X509v3 Extensions': {'keyUsage': 'critical Data Encipherment'}"},
		{"state x509.csr_managed {name: /pki/l.csr, private_key: /pki/ca.key, CN: l, keyUsage: 'critical dataEncipherment'}", "True: File /pki/l.csr is in the correct state {}", ""},
		{"state x509.certificate_managed {name: /pki/c.crt, csr: /pki/l.csr, signing_private_key: /pki/ca.key, signing_cert: /pki/ca.crt, days_remaining: 0}", "True:", "'Subject': {'CN': 'l'}"},
		{"state x509.crl_managed {name: /pki/ca.crl, signing_private_key: /pki/ca.key, signing_cert: /pki/ca.crt, revoked: [{web: [{certificate: /pki/l.crt}, {reason: keyCompromise}]}]}", "True: File /pki/ca.crl updated {'Old': '/pki/ca.crl does not exist.'", "'X509v3 CRL Reason Code': 'Key Compromise'"},
		{"after 1h", "", ""},
		{"state x509.crl_managed {name: /pki/ca.crl, signing_private_key: /pki/ca.key, signing_cert: /pki/ca.crt, revoked: [{web: [{certificate: /pki/l.crt}, {reason: keyCompromise}]}]}", "True: File /pki/ca.crl is in the correct state {}", ""},
		{"call x509.verify_crl {crl: /pki/ca.crl, cert: /pki/ca.crt}", "True", ""},
		{"state x509.pem_managed {name: /pki/p.pem, text: /pki/ca.key}", "True: File /pki/p.pem updated {'diff': 'New file'}", ""},
		{"state x509.pem_managed {name: /pki/p.pem, text: /pki/ca.crt}", "True: File /pki/p.pem updated {'diff': '<show_changes=False>'}", ""},
		{"state x509.pem_managed {name: /pki/p.pem, text: nonsense}", "error: PEM text not valid:\nnonsense", ""},
		{"call x509.create_certificate {}", "error: Either path or text must be specified.", ""},
		{"call x509.create_private_key {path: /pki/n.key, bits: 1024}", "'PEM written to /pki/n.key'", ""},
		{"call x509.get_private_key_size {private_key: /pki/n.key}", "1024", ""},
		{"call x509.get_private_key_size {private_key: /pki/n.key, passphrase: not needed}", "1024", ""},
		{"call x509.get_private_key_size {private_key: /pki/l.key, passphrase: p}", "2048", ""},
		{"call x509.get_private_key_size {private_key: /pki/l.key}", "error: ", "password"},
		{"call x509.verify_private_key {private_key: /pki/ca.key, public_key: /pki/ca.crt}", "True", ""},
		{"call x509.get_signing_policy {signing_policy_name: www}", "{'minions': 'www*', 'signing_cert': b'-----BEGIN", ""},
		{"call x509.get_signing_policy {signing_policy_name: none}", "'Signing policy none does not exist.'", ""},
		{"call x509.sign_remote_certificate {argdic: {signing_policy: www, public_key: /pki/ca.crt, CN: z}, __pub_id: db1}", "'db1 not permitted to use signing policy www'", ""},
		{"call x509.sign_remote_certificate {argdic: {signing_policy: www, public_key: /pki/ca.crt, CN: z}, __pub_id: www1}", "'-----BEGIN CERTIFICATE-----", ""},
		{"call x509.expired {certificate: /pki/ca.crt}", "{'path': '/pki/ca.crt', 'cn': 'ca', 'expired': False}", ""},
		{"call x509.read_certificates {glob_path: '/pki/*.crt'}", "{'/pki/", "'/pki/ca.crt': {'Version': 3"},
	})
}

// A list has every entry but those of certificates that are known to have expired,
// also on a clock that goes on between two readings. It is what Salt 3006 writes.
func TestRevoked(t *testing.T) {
	t.Parallel()
	const entries = `[{serial_number: 01337A}, {serial_number: 'AB:CD', not_after: '2020-01-01 00:00:00'}, {serial_number: 'AB:CE', not_after: '2040-01-01 00:00:00'}, ` +
		`{serial_number: '11', revocation_date: '2015-03-01 00:00:00'}, {serial_number: '12', reason: keyCompromise}]`
	const signer = "signing_private_key: /pki/ca.key, signing_cert: /pki/ca.crt, revoked: " + entries
	for _, v2 := range []bool{false, true} {
		r, h := rig(v2)
		h.SetTick(time.Second)
		for _, p := range []string{"x509.private_key_managed {name: /pki/ca.key}", "x509.certificate_managed " + caArgs} {
			name, args, _ := strings.Cut(p, " ")
			if got := r.State(t, name, args, false); !strings.HasPrefix(got, "True: ") {
				t.Fatal(got)
			}
		}
		for call, want := range map[string]string{
			"state x509.crl_managed {name: /pki/t.crl, " + signer + "}":                        "01337A ABCE 11 12",
			"state x509.crl_managed {name: /pki/t.crl, include_expired: true, " + signer + "}": "01337A ABCD ABCE 11 12",
			"call x509.create_crl {path: /pki/t.crl, " + signer + "}":                          "01337A ABCE 11 12",
			"call x509.create_crl {path: /pki/t.crl, include_expired: true, " + signer + "}":   "01337A ABCD ABCE 11 12",
		} {
			verb, rest, _ := strings.Cut(call, " ")
			name, args, _ := strings.Cut(rest, " ")
			got := ""
			if verb == "state" {
				got = r.State(t, name, args, false)
			} else {
				got = r.Fn(t, name, args)
			}
			data, err := h.ReadFile("/pki/t.crl")
			if err != nil {
				t.Errorf("v2 %t: %s: %v\n%s", v2, call, err, got)
				continue
			}
			crl, _, err := pki.LoadCRL(data)
			if err != nil {
				t.Fatal(err)
			}
			var have []string
			for _, e := range crl.Revoked {
				have = append(have, strings.ReplaceAll(pki.PrettySerial(e.Serial), ":", ""))
				if e.Date.After(crl.LastUpdate) {
					t.Errorf("v2 %t: %s: %s was revoked after the list was made", v2, call, have[len(have)-1])
				}
			}
			if got := strings.Join(have, " "); got != want {
				t.Errorf("v2 %t: %s\nrevokes %s, want %s", v2, call, got, want)
			}
		}
	}
}
