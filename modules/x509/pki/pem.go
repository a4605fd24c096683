package pki

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// EncodePEM returns a PEM block.
func EncodePEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// HasPEM reports whether data has the beginning of a PEM block.
func HasPEM(data []byte) bool { return bytes.Contains(data, []byte("-----BEGIN")) }

// Salt's patterns of the types of PEM blocks.
const (
	AnyType = "[0-9A-Z ]+"
	KeyPEM  = "(?:RSA )?PRIVATE KEY"
)

// Entry returns the first PEM block of a type, which is a regular expression, with
// blanks and line ends as they should be.
func Entry(text, kind string) (string, error) {
	asked := kind
	if kind == "" {
		kind = AnyType
	}
	text = oneLine(strings.ReplaceAll(text, `\n`, "\n"))
	re, err := regexp.Compile(`(?s)\s*(-----BEGIN ` + kind + `-----)\s+(?:(Proc-Type: 4,ENCRYPTED)\s*)?` +
		`(?:(DEK-Info: (?:DES-[3A-Z\-]+,[0-9A-F]{16}|[0-9A-Z\-]+,[0-9A-F]{32}))\s*)?(.+?)\s+(-----END ` + kind + `-----)\s*`)
	if err != nil {
		return "", errors.New("invalid PEM type " + asked)
	}
	m := re.FindStringSubmatch(text)
	if m == nil || len(m) != 6 {
		if asked != "" {
			return "", errors.New("PEM does not contain a single entry of type " + asked + ":\n" + excerpt(Hide(text)))
		}
		return "", errors.New("PEM text not valid:\n" + excerpt(Hide(text)))
	}
	var b strings.Builder
	b.WriteString(m[1] + "\n")
	if m[2] != "" {
		b.WriteString(m[2] + "\n")
	}
	if m[3] != "" {
		b.WriteString(m[3] + "\n\n")
	}
	body := strings.Join(strings.Fields(m[4]), "")
	for len(body) > 64 {
		b.WriteString(body[:64] + "\n")
		body = body[64:]
	}
	b.WriteString(body + "\n" + m[5] + "\n")
	return b.String(), nil
}

// excerpt returns the beginning of a text that is not PEM: it may be long, and it
// may be a key without its header.
func excerpt(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " ..."
}

// oneLine breaks a PEM text of one line into lines.
func oneLine(text string) string {
	if strings.Count(strings.TrimRight(text, "\r\n"), "\n") > 0 || !strings.HasPrefix(text, "-----") || !strings.HasSuffix(text, "-----") {
		return text
	}
	var parts []string
	for rest := text; rest != ""; {
		if strings.HasPrefix(rest, "-----") {
			end := strings.Index(rest[5:], "-----")
			if end < 0 {
				return text
			}
			parts = append(parts, rest[:end+10])
			rest = rest[end+10:]
			continue
		}
		n := min(64, len(rest))
		if i := strings.IndexByte(rest[:n], '-'); i > 0 {
			n = i
		}
		parts = append(parts, rest[:n])
		rest = rest[n:]
	}
	return strings.Join(parts, "\n")
}

// Hide takes the private keys out of a text that is shown.
func Hide(text string) string {
	const mark = "PRIVATE KEY-----"
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(text, mark)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		b.WriteString(mark)
		text = after
		// what follows the header is hidden up to the next dashes
		_, rest, ok := strings.Cut(text, "-----")
		if !ok {
			b.WriteString(" <hidden>")
			return b.String()
		}
		b.WriteString(" <hidden> -----")
		text = rest
	}
}

// HasPrivate reports whether a text has a private key in PEM.
func HasPrivate(text string) bool { return strings.Contains(text, "PRIVATE KEY-----") }

// blocks returns the PEM blocks of data.
func blocks(data []byte) []*pem.Block {
	var out []*pem.Block
	for {
		var b *pem.Block
		if b, data = pem.Decode(data); b == nil {
			return out
		}
		out = append(out, b)
	}
}

// Block returns the first PEM block of one of some types.
func Block(data []byte, kinds ...string) *pem.Block {
	for _, b := range blocks(data) {
		if slices.Contains(kinds, b.Type) {
			return b
		}
	}
	return nil
}

// Errors of loading, in Salt's words. Err tells more.
var (
	errBinary = errors.New("Could not deserialize binary data, neither as DER nor PKCS#7, PKCS#12.")

	// ErrKeyPEM, ErrKeyBinary and the like are returned by the Load functions.
	ErrKeyPEM    = errors.New("Could not load PEM-encoded private key")
	ErrKeyBinary = errors.New("Could not deserialize binary data, neither as DER nor PKCS#12.")
	ErrCertPEM   = errors.New("Could not load PEM-encoded certificate.")
	ErrCSRPEM    = errors.New("Could not load PEM-encoded certificate signing request.")
	ErrCSRDER    = errors.New("Could not load DER-encoded certificate signing request.")
	ErrCRLPEM    = errors.New("Could not load PEM-encoded certificate revocation list.")
	ErrCRLDER    = errors.New("Could not load DER-encoded certificate revocation list.")
	ErrPubPEM    = errors.New("Could not load PEM-encoded public key.")
	ErrPubDER    = errors.New("Could not load DER-encoded public key.")
)

// LoadKey reads a private key in PEM, DER or PKCS #12 and tells which: "pem",
// "der" or "pkcs12".
func LoadKey(data []byte, pass *string) (*Key, string, error) {
	if !HasPEM(data) {
		k, err := ParseKey(data, pass)
		if err == nil || !errors.Is(err, errKey) && !errors.Is(err, errPBE) {
			return k, "der", err
		}
		p, err := ParsePKCS12(data, pass)
		switch {
		case errors.Is(err, errPFX):
			return nil, "", ErrKeyBinary
		case err != nil:
			return nil, "", err
		case p.Key == nil:
			return nil, "", errors.New("PKCS12-encoded blob does not contain a private key.")
		}
		return p.Key, "pkcs12", nil
	}
	for _, b := range blocks(data) {
		if !strings.HasSuffix(b.Type, "PRIVATE KEY") {
			continue
		}
		k, err := blockKey(b, pass)
		if err == nil || errors.Is(err, ErrBadDecrypt) || errors.Is(err, ErrEncrypted) || errors.Is(err, ErrUnencrypted) {
			return k, "pem", err
		}
		return nil, "", ErrKeyPEM
	}
	return nil, "", ErrKeyPEM
}

func blockKey(b *pem.Block, pass *string) (*Key, error) {
	if b.Headers["DEK-Info"] == "" {
		return ParseKey(b.Bytes, pass)
	}
	der, err := decryptPEM(b, pass)
	if err != nil {
		return nil, err
	}
	k, err := plainKey(der)
	if err != nil {
		return nil, ErrBadDecrypt
	}
	return k, nil
}

// LoadPublic reads a public key in PEM or DER.
func LoadPublic(data []byte) (crypto.PublicKey, error) {
	if HasPEM(data) {
		if b := Block(data, "PUBLIC KEY", "RSA PUBLIC KEY"); b != nil {
			if pub, err := ParsePublic(b.Bytes); err == nil {
				return pub, nil
			}
		}
		return nil, ErrPubPEM
	}
	pub, err := ParsePublic(data)
	if err != nil {
		return nil, ErrPubDER
	}
	return pub, nil
}

// A Loaded is a certificate and what came with it.
type Loaded struct {
	Cert     *x509.Certificate
	Encoding string // pem, der, pkcs7_pem, pkcs7_der or pkcs12
	Chain    []*x509.Certificate
	Bag      *PKCS12 // where the encoding is pkcs12
}

// LoadCert reads a certificate with what follows it, in PEM, DER, PKCS #7 or
// PKCS #12.
func LoadCert(data []byte, pass *string) (*Loaded, error) {
	if HasPEM(data) {
		return loadCertPEM(data)
	}
	if c, err := x509.ParseCertificate(data); err == nil {
		return &Loaded{Cert: c, Encoding: "der"}, nil
	}
	p, err := ParsePKCS12(data, pass)
	switch {
	case err == nil && p.Cert != nil:
		return &Loaded{Cert: p.Cert, Encoding: "pkcs12", Chain: p.Chain, Bag: p}, nil
	case errors.Is(err, ErrBadDecrypt):
		return nil, err
	}
	if certs, err := ParsePKCS7(data); err == nil && len(certs) > 0 {
		return &Loaded{Cert: certs[0], Encoding: "pkcs7_der", Chain: certs[1:]}, nil
	}
	return nil, errBinary
}

func loadCertPEM(data []byte) (*Loaded, error) {
	all := blocks(data)
	if len(all) == 0 {
		return nil, ErrCertPEM
	}
	if all[0].Type == "PKCS7" {
		certs, err := ParsePKCS7(all[0].Bytes)
		if err != nil || len(certs) == 0 {
			return nil, errors.New("Could not load PEM-encoded PKCS#7 blob")
		}
		return &Loaded{Cert: certs[0], Encoding: "pkcs7_pem", Chain: certs[1:]}, nil
	}
	out := &Loaded{Encoding: "pem"}
	for i, b := range all {
		c, err := x509.ParseCertificate(b.Bytes)
		switch {
		case err == nil && b.Type == "CERTIFICATE" && out.Cert == nil:
			out.Cert = c
		case err == nil && b.Type == "CERTIFICATE":
			out.Chain = append(out.Chain, c)
		case i == 0:
			return nil, ErrCertPEM
		}
	}
	return out, nil
}

// LoadCSR reads a certificate signing request in PEM or DER and tells which.
func LoadCSR(data []byte) (*x509.CertificateRequest, string, error) {
	if HasPEM(data) {
		if b := Block(data, "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"); b != nil {
			if r, err := x509.ParseCertificateRequest(b.Bytes); err == nil {
				return r, "pem", nil
			}
		}
		return nil, "", ErrCSRPEM
	}
	r, err := x509.ParseCertificateRequest(data)
	if err != nil {
		return nil, "", ErrCSRDER
	}
	return r, "der", nil
}

// LoadCRL reads a revocation list in PEM or DER and tells which.
func LoadCRL(data []byte) (*CRL, string, error) {
	if HasPEM(data) {
		if b := Block(data, "X509 CRL"); b != nil {
			if r, err := ParseCRL(b.Bytes); err == nil {
				return r, "pem", nil
			}
		}
		return nil, "", ErrCRLPEM
	}
	r, err := ParseCRL(data)
	if err != nil {
		return nil, "", ErrCRLDER
	}
	return r, "der", nil
}

// FromText returns the bytes that text stands for, as Salt guesses: PEM as it is,
// else hexadecimal digits, else base64. ok is false where it is none of these.
func FromText(text string) (data []byte, ok bool) {
	if strings.Contains(text, "-----BEGIN") {
		return []byte(text), true
	}
	if b, err := hexBytes(text); err == nil {
		return b, true
	}
	return looseBase64(text)
}

// looseBase64 decodes base64 as Python does: other characters are left out.
func looseBase64(text string) ([]byte, bool) {
	var digits []byte
	pads := 0
scan:
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '=':
			if len(digits)%4 >= 2 {
				if pads++; len(digits)%4+pads >= 4 {
					break scan
				}
			}
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/':
			digits, pads = append(digits, c), 0
		}
	}
	if n := len(digits) % 4; n != 0 && (n == 1 || n+pads < 4) {
		return nil, false
	}
	out, err := base64.RawStdEncoding.DecodeString(string(digits))
	return out, err == nil
}
