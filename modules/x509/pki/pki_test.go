package pki

import (
	"bytes"
	"crypto/x509"
	"errors"
	"math/big"
	"testing"
	"time"

	"brine/internal/py/value"
)

func name(t testing.TB, text string) ([]byte, Name) {
	t.Helper()
	n, err := ParseText(text)
	if err != nil {
		t.Fatal(err)
	}
	der, err := n.DER()
	if err != nil {
		t.Fatal(err)
	}
	return der, n
}

func TestNameHashes(t *testing.T) {
	tests := []struct{ text, salt, old string }{
		{"CN=changed", "66:E2:4F:5B", "C9:26:AD:45"},
		{"CN=req", "", "92:85:DC:89"},
		{"O=Org,CN=rec-ca,C=DE", "", "71:90:31:F4"},
		{"CN=leaf.example.org", "", "91:E0:20:58"},
	}
	for _, tt := range tests {
		der, n := name(t, tt.text)
		if got := Hash(der); tt.salt != "" && got != tt.salt {
			t.Errorf("Hash(%s) = %s, want %s", tt.text, got, tt.salt)
		}
		if got := OldHash(der); got != tt.old {
			t.Errorf("OldHash(%s) = %s, want %s", tt.text, got, tt.old)
		}
		if got := n.String(); got != tt.text {
			t.Errorf("String = %s, want %s", got, tt.text)
		}
	}
}

// keys are one of each kind.
func keys(t testing.TB) []*Key {
	t.Helper()
	r, err := GenerateRSA(2048)
	if err != nil {
		t.Fatal(err)
	}
	e, err := GenerateEC(256)
	if err != nil {
		t.Fatal(err)
	}
	d, err := GenerateEd25519()
	if err != nil {
		t.Fatal(err)
	}
	return []*Key{r, e, d}
}

func selfSigned(t testing.TB, k *Key, digest string, exts ...Extension) *x509.Certificate {
	t.Helper()
	subject, _ := name(t, "CN=me,O=Org")
	pub, err := MarshalPublic(k.Public())
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &Template{Version: 3, Serial: big.NewInt(77), Subject: subject, Issuer: subject, NotBefore: time.Unix(1e9, 0), NotAfter: time.Unix(3e9, 0), PublicKey: pub, Exts: exts}
	der, err := tmpl.Sign(k, digest)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestKeysAndContainers(t *testing.T) {
	pass, wrong := "geheim", "falsch"
	for _, k := range keys(t) {
		kind := KeyType(k.Public())
		t.Run(kind, func(t *testing.T) {
			for _, p := range []*string{nil, &pass} {
				text, err := k.PEM(p)
				if err != nil {
					t.Fatal(err)
				}
				got, enc, err := LoadKey([]byte(text), p)
				if err != nil || enc != "pem" || !SamePublic(got.Public(), k.Public()) {
					t.Errorf("LoadKey = %v, %s, %v", got, enc, err)
				}
				der, err := k.PKCS8(p)
				if err != nil {
					t.Fatal(err)
				}
				if got, enc, err := LoadKey(der, p); err != nil || enc != "der" || !SamePublic(got.Public(), k.Public()) {
					t.Errorf("LoadKey der = %v, %s, %v", got, enc, err)
				}
			}
			enc, _ := k.PEM(&pass)
			plain, _ := k.PEM(nil)
			for _, tt := range []struct {
				text string
				pass *string
				want error
			}{{enc, &wrong, ErrBadDecrypt}, {enc, nil, ErrEncrypted}, {plain, &pass, ErrUnencrypted}} {
				if _, _, err := LoadKey([]byte(tt.text), tt.pass); !errors.Is(err, tt.want) {
					t.Errorf("LoadKey: error %v, want %v", err, tt.want)
				}
			}
			c := selfSigned(t, k, "sha256")
			s, err := ParseSigned(c.Raw)
			if err != nil || !s.VerifiedBy(k.Public()) {
				t.Errorf("the certificate does not verify: %v", err)
			}
			if err := c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature); err != nil {
				t.Error(err)
			}
			for _, compat := range []bool{false, true} {
				for _, p := range []*string{nil, &pass} {
					box := &PKCS12{Key: k, Cert: c, Chain: []*x509.Certificate{c}, FriendlyName: "mein Schlüssel"}
					der, err := box.Encode(p, compat)
					if err != nil {
						t.Fatal(err)
					}
					l, err := LoadCert(der, p)
					if err != nil || l.Encoding != "pkcs12" || len(l.Chain) != 1 || l.Bag.FriendlyName != box.FriendlyName {
						t.Errorf("LoadCert pkcs12 (compat %v) = %+v, %v", compat, l, err)
					}
					if got, enc, err := LoadKey(der, p); err != nil || enc != "pkcs12" || !SamePublic(got.Public(), k.Public()) {
						t.Errorf("LoadKey pkcs12 = %v, %s, %v", got, enc, err)
					}
					if p == nil {
						continue
					}
					if _, err := LoadCert(der, &wrong); !errors.Is(err, ErrBadDecrypt) {
						t.Errorf("LoadCert with a wrong passphrase: %v", err)
					}
				}
			}
			der, err := PKCS7([]*x509.Certificate{c, c})
			if err != nil {
				t.Fatal(err)
			}
			if l, err := LoadCert(der, nil); err != nil || l.Encoding != "pkcs7_der" || len(l.Chain) != 1 {
				t.Errorf("LoadCert pkcs7 = %+v, %v", l, err)
			}
			if l, err := LoadCert([]byte(EncodePEM("PKCS7", der)), nil); err != nil || l.Encoding != "pkcs7_pem" {
				t.Errorf("LoadCert pkcs7 PEM = %+v, %v", l, err)
			}
		})
	}
}

func TestOldPEM(t *testing.T) {
	k := keys(t)[0]
	der, err := k.PKCS1()
	if err != nil {
		t.Fatal(err)
	}
	pass, wrong := "p", "q"
	for _, c := range []string{"aes_128_cbc", "aes_192_cbc", "aes_256_cbc", "des_ede3_cbc", "des_cbc", "des3"} {
		text, err := EncryptPEM("RSA PRIVATE KEY", der, pass, c)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := LoadKey([]byte(text), &pass); err != nil || !SamePublic(got.Public(), k.Public()) {
			t.Errorf("%s: %v", c, err)
		}
		if _, _, err := LoadKey([]byte(text), &wrong); !errors.Is(err, ErrBadDecrypt) {
			t.Errorf("%s with a wrong passphrase: %v", c, err)
		}
		entry, err := Entry(text, KeyPEM)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := LoadKey([]byte(entry), &pass); err != nil {
			t.Errorf("%s after Entry: %v", c, err)
		}
	}
	if _, err := EncryptPEM("RSA PRIVATE KEY", der, pass, "rot13"); err == nil {
		t.Error("an unknown cipher is taken")
	}
}

func TestDigests(t *testing.T) {
	for _, k := range keys(t) {
		for _, s := range signatures {
			if s.kind != KeyType(k.Public()) {
				continue
			}
			c := selfSigned(t, k, s.name)
			got, err := ParseSigned(c.Raw)
			if err != nil || got.Digest() != s.name || !got.VerifiedBy(k.Public()) || got.AlgorithmName() != s.text {
				t.Errorf("%s %s: %+v, %v", s.kind, s.name, got, err)
			}
		}
	}
	if _, err := keys(t)[1].algorithm("md5"); err == nil {
		t.Error("md5 with an EC key is taken")
	}
}

func TestExtensions(t *testing.T) {
	k := keys(t)[1]
	pub, _ := MarshalPublic(k.Public())
	issuer, _ := name(t, "CN=ca,O=Org")
	ca := &CAInfo{Issuer: issuer, Serial: []byte{2, 1, 5}, PublicKey: pub, Exts: []Extension{{ID: oidSubjectAltName, Value: []byte{0x30, 3, 0x82, 1, 'a'}}}}
	ctx := Context{Subject: pub, CA: ca}
	m := value.MapOf
	l := func(v ...value.Value) *value.List { return value.NewList(v...) }
	tests := []struct {
		name string
		val  value.Value
		want string // as x509_v2 shows it; "error: text" where it is refused
		text string // as OpenSSL prints it
	}{
		{"basicConstraints", "critical, CA:TRUE, pathlen:1", "{'critical': True, 'ca': True, 'pathlen': 1}", "CA:TRUE, pathlen:1"},
		{"basicConstraints", "critical CA:true", "{'critical': True, 'ca': True, 'pathlen': None}", "CA:TRUE"},
		{"basicConstraints", m("critical", true, "ca", false), "{'critical': True, 'ca': False, 'pathlen': None}", "CA:FALSE"},
		{"basicConstraints", "pathlen:1", "error: Invalid configuration for basicContraints: 'ca'", ""},
		{"basicConstraints", "CA:FALSE, pathlen:0", "error: path_length must be None when ca is False", ""},
		{"keyUsage", "critical cRLSign, keyCertSign", "{'critical': True, 'cRLSign': True, 'dataEncipherment': False, 'decipherOnly': False, 'digitalSignature': False, 'encipherOnly': False, 'keyAgreement': False, 'keyCertSign': True, 'keyEncipherment': False, 'nonRepudiation': False}", "Certificate Sign, CRL Sign"},
		{"keyUsage", l("keyAgreement", "decipherOnly"), "{'critical': False, 'cRLSign': False, 'dataEncipherment': False, 'decipherOnly': True, 'digitalSignature': False, 'encipherOnly': False, 'keyAgreement': True, 'keyCertSign': False, 'keyEncipherment': False, 'nonRepudiation': False}", "Key Agreement, Decipher Only"},
		{"keyUsage", "nothing", "error: keyUsage 'nothing' names no usage", ""},
		{"extendedKeyUsage", "critical, serverAuth, 1.2.3.4", "{'critical': True, 'value': ['serverAuth', '1.2.3.4']}", "TLS Web Server Authentication, 1.2.3.4"},
		{"extendedKeyUsage", "nonsense", "error: Invalid oid: nonsense", ""},
		{"subjectKeyIdentifier", "01:02:ff", "{'critical': False, 'value': '01:02:FF'}", "01:02:FF"},
		{"subjectKeyIdentifier", "xyz", "error: Value must be precomputed hash", ""},
		{"subjectAltName", "DNS:a.example, IP:127.0.0.1, email:me@b.example, URI:http://ü.example/x, RID:1.2.3", "{'critical': False, 'value': ['DNS:a.example', 'IP:127.0.0.1', 'mail:me@b.example', 'URI:http://xn--tda.example/x', 'RID:1.2.3']}", "DNS:a.example, IP Address:127.0.0.1, email:me@b.example, URI:http://xn--tda.example/x, Registered ID:1.2.3"},
		{"subjectAltName", l("dns:bücher.example", m("ip", "::1"), "dirName:CN=x,O=y"), "{'critical': False, 'value': ['DNS:xn--bcher-kva.example', 'IP:0000:0000:0000:0000:0000:0000:0000:0001', 'dirName:CN=x,O=y']}", "DNS:xn--bcher-kva.example, IP Address:0:0:0:0:0:0:0:1, DirName:O = y, CN = x"},
		{"subjectAltName", "IP:1.2.3", "error: Provided value 1.2.3 does not seem to be an IP address or network range.", ""},
		{"subjectAltName", "othername:x", "error: otherName is currently not implemented", ""},
		{"subjectAltName", "bad", "error: GeneralName type bad is invalid", ""},
		{"issuerAltName", "issuer:copy, DNS:b", "{'critical': False, 'value': ['DNS:a', 'DNS:b']}", "DNS:a, DNS:b"},
		{"authorityInfoAccess", "OCSP;URI:http://o/, caIssuers;URI:http://i/", "{'critical': False, 'value': [{'OCSP': 'http://o/'}, {'caIssuers': 'http://i/'}]}", "OCSP - URI:http://o/\nCA Issuers - URI:http://i/"},
		{"crlDistributionPoints", "URI:http://c/a.crl", "{'critical': False, 'value': [{'crlissuer': [], 'fullname': ['URI:http://c/a.crl'], 'reasons': [], 'relativename': None}]}", "Full Name:\n  URI:http://c/a.crl"},
		{"crlDistributionPoints", l(m("fullname", "URI:http://c", "reasons", l("superseded", "keyCompromise"), "crlissuer", "dirName:CN=c")), "{'critical': False, 'value': [{'crlissuer': ['dirName:CN=c'], 'fullname': ['URI:http://c'], 'reasons': ['keyCompromise', 'superseded'], 'relativename': None}]}", "Full Name:\n  URI:http://c\nReasons:\n  Key Compromise, Superseded\nCRL Issuer:\n  DirName:CN = c"},
		{"issuingDistributionPoint", m("critical", true, "onlyCA", true, "relativename", "CN=x"), "{'critical': True, 'fullname': [], 'onysomereasons': [], 'relativename': 'CN=x', 'onlyuser': False, 'onlyCA': True, 'onlyAA': False, 'indirectCRL': False}", ""},
		{"certificatePolicies", "critical, 1.2.4.5, 1.2.3.4", "{'critical': True, 'value': [{'1.2.4.5': []}, {'1.2.3.4': []}]}", "Policy: 1.2.4.5\nPolicy: 1.2.3.4"},
		{"certificatePolicies", m("1.2.3", l("http://cps", m("organization", "o", "noticeNumbers", l(int64(1)), "text", "t"))), "{'critical': False, 'value': [{'1.2.3': [{'practice_statement': 'http://cps'}, {'organizataion': 'o', 'notice_numbers': [1], 'explicit_text': 't'}]}]}", "Policy: 1.2.3\n  CPS: http://cps\n  User Notice:\n    Explicit Text: t"},
		{"policyConstraints", "requireExplicitPolicy:3,inhibitPolicyMapping:1", "{'critical': False, 'inhibitPolicyMapping': 1, 'requireExplicitPolicy': 3}", "Require Explicit Policy:3, Inhibit Policy Mapping:1"},
		{"inhibitAnyPolicy", int64(2), "{'critical': False, 'value': 2}", "2"},
		{"nameConstraints", "permitted;IP:192.168.0.0/255.255.255.0, excluded;IP:10.0.0.0/0.255.255.255", "{'critical': False, 'excluded': ['IP:10.0.0.0/8'], 'permitted': ['IP:192.168.0.0/24']}", "Permitted:\n  IP:192.168.0.0/255.255.255.0\nExcluded:\n  IP:10.0.0.0/255.0.0.0"},
		{"nameConstraints", "critical, permitted;IP:192.168.0.0/24, permitted;email:.example.com, excluded;email:.com", "{'critical': True, 'excluded': ['mail:.com'], 'permitted': ['IP:192.168.0.0/24', 'mail:.example.com']}", "Permitted:\n  IP:192.168.0.0/255.255.255.0\n  email:.example.com\nExcluded:\n  email:.com"},
		{"noCheck", true, "{'critical': False, 'value': True}", ""},
		{"tlsfeature", "status_request", "{'critical': False, 'value': ['status_request']}", "status_request"},
		{"nsComment", "hello", "{'critical': False, 'value': 'hello'}", "hello"},
		{"nsCertType", "client, server", "{'critical': False, 'value': ['client', 'server']}", "SSL Client, SSL Server"},
		{"cRLNumber", int64(5), "{'critical': False, 'value': 5}", "5"},
		{"deltaCRLIndicator", "critical 7", "{'critical': True, 'value': 7}", "7"},
		{"authorityKeyIdentifier", "issuer:always", "{'critical': False, 'keyid': None, 'issuer': ['dirName:CN=ca,O=Org'], 'issuer_sn': '05'}", "DirName:O = Org, CN = ca\nserial:05"},
		{"nonsense", "x", "error: Unknown extension nonsense", ""},
	}
	for _, tt := range tests {
		e, err := Build(tt.name, tt.val, ctx)
		if err != nil {
			if got := "error: " + err.Error(); got != tt.want {
				t.Errorf("Build(%s, %s): %s, want %s", tt.name, value.Repr(tt.val), got, tt.want)
			}
			continue
		}
		if got := value.Repr(Render([]Extension{e}).At(tt.name)); got != tt.want {
			t.Errorf("Render %s of %s =\n%s, want\n%s", tt.name, value.Repr(tt.val), got, tt.want)
		}
		if _, got := e.Text(); tt.text != "" && got != tt.text {
			t.Errorf("Text %s of %s = %q, want %q", tt.name, value.Repr(tt.val), got, tt.text)
		}
		c := selfSigned(t, k, "sha256", e)
		if len(c.Extensions) != 1 {
			t.Errorf("%s is not in the certificate", tt.name)
		}
	}
	for _, tt := range []struct{ name, val, want string }{
		{"CRLReason", "keyCompromise", "{'CRLReason': {'critical': False, 'value': 'keyCompromise'}}"},
		{"invalidityDate", "critical 2024-01-02 03:04:05", "{'invalidityDate': {'critical': True, 'value': '2024-01-02 03:04:05'}}"},
		{"certificateIssuer", "DNS:x", "{'certificateIssuer': {'critical': False, 'value': ['DNS:x']}}"},
	} {
		e, err := Build(tt.name, tt.val, ctx)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got := value.Repr(RenderEntry([]Extension{e})); got != tt.want {
			t.Errorf("%s = %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestCRL(t *testing.T) {
	k := keys(t)[0]
	issuer, _ := name(t, "CN=ca")
	num, _ := Build("cRLNumber", int64(3), Context{})
	for _, c := range []*CRL{
		{Version: 1, Issuer: issuer, LastUpdate: time.Unix(1e9, 0), NextUpdate: time.Unix(2e9, 0)},
		{Version: 2, Issuer: issuer, LastUpdate: time.Unix(1e9, 0), NextUpdate: time.Unix(2e9, 0), Exts: []Extension{num}, Revoked: []Revoked{{Serial: big.NewInt(9), Date: time.Unix(1e9, 0)}}},
	} {
		der, err := c.Sign(k, "sha256")
		if err != nil {
			t.Fatal(err)
		}
		got, enc, err := LoadCRL([]byte(EncodePEM("X509 CRL", der)))
		if err != nil || enc != "pem" || got.Version != c.Version || len(got.Revoked) != len(c.Revoked) || !got.Signed.VerifiedBy(k.Public()) {
			t.Errorf("LoadCRL = %+v, %s, %v", got, enc, err)
		}
	}
}

func TestEntry(t *testing.T) {
	want := "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
	for _, in := range []string{want, "-----BEGIN CERTIFICATE-----AAAA-----END CERTIFICATE-----", "x\n  -----BEGIN CERTIFICATE-----\n  AA\n AA\n  -----END CERTIFICATE-----", `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`} {
		if got, err := Entry(in, ""); err != nil || got != want {
			t.Errorf("Entry(%q) = %q, %v", in, got, err)
		}
	}
	_, err := Entry("-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----", "CERTIFICATE")
	if err == nil || err.Error() != "PEM does not contain a single entry of type CERTIFICATE:\n-----BEGIN PRIVATE KEY----- <hidden> -----END PRIVATE KEY----- <hidden>" {
		t.Errorf("the error shows a key, or too little: %v", err)
	}
	if _, err := Entry("x", "("); err == nil {
		t.Error("an invalid pattern is taken")
	}
}

func TestFromText(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"00 ff", "\x00\xff"}, {"AAAA", "\xaa\xaa"}, {"nonsense", "\x9e\x89\xec\x7a\x7b\x1e"}, {"eA==", "x"}, {"/x/none.pem", "!"}, {"e A = =", "x"},
	} {
		got, ok := FromText(tt.in)
		if !ok {
			got = []byte("!")
		}
		if string(got) != tt.want {
			t.Errorf("FromText(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// FuzzLoad feeds every parser the same bytes: none may panic.
func FuzzLoad(f *testing.F) {
	pass := "p"
	k, err := GenerateEC(256)
	if err != nil {
		f.Fatal(err)
	}
	ext, _ := Build("subjectAltName", "DNS:a, IP:1.2.3.4, dirName:CN=x", Context{})
	c := selfSigned(f, k, "sha256", ext)
	key, _ := k.PKCS8(&pass)
	seven, _ := PKCS7([]*x509.Certificate{c})
	twelve, _ := (&PKCS12{Key: k, Cert: c, FriendlyName: "n"}).Encode(nil, false)
	for _, b := range [][]byte{c.Raw, seven, twelve, []byte(EncodePEM("CERTIFICATE", c.Raw)), []byte(EncodePEM("X509 CRL", c.Raw)), key[:40]} {
		f.Add(b)
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		for _, p := range []*string{nil, &pass} {
			if len(data) < 4096 && cheap(data) {
				_, _, _ = LoadKey(data, p)
			}
			if l, err := LoadCert(data, nil); err == nil {
				exts := Extensions(l.Cert)
				_ = Render(exts)
				for _, e := range exts {
					_, _ = e.LongText()
				}
			}
		}
		_, _ = LoadPublic(data)
		_, _, _ = LoadCSR(data)
		_, _, _ = LoadCRL(data)
		if n, err := ParseName(data); err == nil {
			_, _ = n.String(), n.OneLine()
		}
		for _, x := range extensionNames {
			e := Extension{ID: x.id, Value: data}
			_, _ = e.Text()
			_ = Render([]Extension{e})
		}
		for _, x := range entryNames {
			_ = RenderEntry([]Extension{{ID: x.id, Value: data}})
		}
		if s, err := ParseSigned(data); err == nil {
			_ = s.Digest()
		}
	})
}

// cheap reports whether data asks for no key derivation, whose rounds would only
// slow the fuzzer down.
func cheap(data []byte) bool {
	for i := range data {
		if data[i] == 0x2a && i+5 < len(data) && data[i+1] == 0x86 && data[i+2] == 0x48 && data[i+3] == 0x86 && data[i+4] == 0xf7 {
			return false
		}
	}
	return true
}

// FuzzText feeds the parsers of text.
func FuzzText(f *testing.F) {
	for _, s := range []string{"CN=a+O=b,C=\\2C", "critical, CA:TRUE, pathlen:1", "permitted;IP:10.0.0.0/8", "DNS:ü.example", "-----BEGIN X-----AAAA-----END X-----", "1.2.3.4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, x := range extensionNames {
			_, _ = Build(x.name, s, Context{})
			_, _ = Build(x.name, value.NewList(s), Context{})
			_, _ = Build(x.name, value.MapOf(s, s, "ca", s, "value", s, "permitted", value.NewList(s)), Context{})
		}
		if n, err := ParseText(s); err == nil {
			der, err := n.DER()
			if err != nil {
				return
			}
			// The parts of a multi-valued RDN have an order of their own in DER.
			again, err := ParseName(der)
			if err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			if second, err := again.DER(); err != nil || !bytes.Equal(second, der) {
				t.Errorf("%q: %v, %q becomes %q", s, err, n.String(), again.String())
			}
		}
		_, _ = Entry(s, "")
		_ = Hide(s)
		_, _ = FromText(s)
		_, _ = ParseSerial(s)
	})
}
