package pki

import (
	"encoding/asn1"
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"brine/internal/py/value"
)

// Text returns the name and the value of an extension as OpenSSL prints them,
// which the older x509 module shows.
func (e Extension) Text() (name, text string) {
	n, ok := byID(extensionNames, e.ID)
	if !ok {
		if n, ok = byID(entryNames, e.ID); !ok {
			return e.ID.String(), dump(e.Value)
		}
	}
	text, ok = opensslText(n.name, e.Value)
	if !ok {
		text = dump(e.Value)
	}
	return n.name, text
}

// LongText is Text with the long name.
func (e Extension) LongText() (name, text string) {
	short, text := e.Text()
	if n, ok := byID(extensionNames, e.ID); ok {
		return n.long, text
	}
	if n, ok := byID(entryNames, e.ID); ok {
		return n.long, text
	}
	return short, text
}

// dump stands for what has no text: its bytes, or its characters.
func dump(b []byte) string {
	for _, c := range b {
		if c < 0x20 || c > 0x7e {
			return hex.EncodeToString(b)
		}
	}
	return string(b)
}

var usageTexts = []string{"Digital Signature", "Non Repudiation", "Key Encipherment", "Data Encipherment", "Key Agreement", "Certificate Sign", "CRL Sign", "Encipher Only", "Decipher Only"}

var nsTexts = []string{"SSL Client", "SSL Server", "S/MIME", "Object Signing", "Unused", "SSL CA", "S/MIME CA", "Object Signing CA"}

var reasonTexts = []string{"Unspecified", "Key Compromise", "CA Compromise", "Affiliation Changed", "Superseded", "Cessation Of Operation", "Certificate Hold", "", "Remove From CRL", "Privilege Withdrawn", "AA Compromise"}

func longLabel(list []named, id asn1.ObjectIdentifier) string {
	if n, ok := byID(list, id); ok {
		return n.long
	}
	return id.String()
}

func opensslText(name string, der []byte) (string, bool) {
	s := cryptobyte.String(der)
	switch name {
	case "basicConstraints":
		ca, pathlen, ok := readBasic(s)
		text := "CA:" + strings.ToUpper(strconv.FormatBool(ca))
		if pathlen != nil {
			text += ", pathlen:" + value.Str(pathlen)
		}
		return text, ok
	case "keyUsage":
		bits, ok := readBits(s, len(usageTexts))
		return strings.Join(setBits(bits, usageTexts), ", "), ok
	case "nsCertType":
		bits, ok := readBits(s, len(nsTexts))
		return strings.Join(setBits(bits, nsTexts), ", "), ok
	case "extendedKeyUsage":
		ids, ok := readOIDs(s)
		texts := make([]string, len(ids))
		for i, id := range ids {
			texts[i] = longLabel(usageNames, id)
		}
		return strings.Join(texts, ", "), ok
	case "subjectKeyIdentifier":
		var id cryptobyte.String
		ok := s.ReadASN1(&id, cbasn1.OCTET_STRING)
		return PrettyHex(id), ok
	case "authorityKeyIdentifier":
		return authorityText(s)
	case "issuerAltName", "subjectAltName", "certificateIssuer":
		var seq cryptobyte.String
		ok := s.ReadASN1(&seq, cbasn1.SEQUENCE)
		return strings.Join(generalTexts(seq, opensslStyle), ", "), ok
	}
	return opensslRest(name, s)
}

func opensslRest(name string, s cryptobyte.String) (string, bool) {
	switch name {
	case "authorityInfoAccess":
		var lines []string
		for _, a := range readAccess(s) {
			lines = append(lines, longLabel(accessNames, a.id)+" - "+a.name.text(opensslStyle))
		}
		return strings.Join(lines, "\n"), true
	case "crlDistributionPoints", "freshestCRL":
		points, ok := readPoints(s)
		return pointsText(points), ok
	case "certificatePolicies":
		return policiesText(s)
	case "policyConstraints":
		var parts []string
		req, inh := readConstraints(s)
		if req != nil {
			parts = append(parts, "Require Explicit Policy:"+value.Str(req))
		}
		if inh != nil {
			parts = append(parts, "Inhibit Policy Mapping:"+value.Str(inh))
		}
		return strings.Join(parts, ", "), true
	case "inhibitAnyPolicy", "cRLNumber", "deltaCRLIndicator":
		n := new(big.Int)
		ok := s.ReadASN1Integer(n)
		return n.String(), ok
	case "nameConstraints":
		return subtreesText(s), true
	case "noCheck":
		return "", true
	case "tlsfeature":
		var parts []string
		for _, n := range readInts(s) {
			parts = append(parts, featureName(n))
		}
		return strings.Join(parts, ", "), true
	case "nsComment":
		return readText(s), true
	case "CRLReason":
		var n int
		if !s.ReadASN1Enum(&n) || n < 0 || n >= len(reasonTexts) {
			return "", false
		}
		return reasonTexts[n], true
	}
	return "", false
}

func authorityText(s cryptobyte.String) (string, bool) {
	a, ok := readAuthorityKey(s)
	if !ok {
		return "", false
	}
	var lines []string
	if a.id != nil {
		label := ""
		if a.hasName || a.serial != nil {
			label = "keyid:"
		}
		lines = append(lines, label+PrettyHex(a.id))
	}
	if a.hasName {
		lines = append(lines, generalTexts(a.issuer, opensslStyle)...)
	}
	if a.serial != nil {
		lines = append(lines, "serial:"+PrettySerial(new(big.Int).SetBytes(a.serial)))
	}
	return strings.Join(lines, "\n"), true
}

func pointsText(points []pointText) string {
	var b strings.Builder
	for i, p := range points {
		if i > 0 {
			b.WriteString("\n")
		}
		switch {
		case len(p.full) > 0:
			b.WriteString("Full Name:")
			for _, g := range p.full {
				b.WriteString("\n  " + g.text(opensslStyle))
			}
		case p.relative != "":
			b.WriteString("Relative Name:\n  " + p.relative)
		}
		if p.reasons != nil {
			b.WriteString("\nReasons:\n  " + strings.Join(setBits(p.reasons, []string{"Unused", "Key Compromise", "CA Compromise", "Affiliation Changed", "Superseded", "Cessation Of Operation", "Certificate Hold", "Privilege Withdrawn", "AA Compromise"}), ", "))
		}
		if len(p.issuer) > 0 {
			b.WriteString("\nCRL Issuer:")
			for _, g := range p.issuer {
				b.WriteString("\n  " + g.text(opensslStyle))
			}
		}
	}
	return b.String()
}

func policiesText(s cryptobyte.String) (string, bool) {
	policies, ok := readPolicies(s)
	var lines []string
	for _, p := range policies {
		id := p.id.String()
		if p.id.Equal(oidAnyPolicy) {
			id = "X509v3 Any Policy"
		}
		lines = append(lines, "Policy: "+id)
		for _, q := range p.quals {
			switch {
			case q.cps != "":
				lines = append(lines, "  CPS: "+q.cps)
			default:
				lines = append(lines, "  User Notice:")
				if q.text != nil {
					lines = append(lines, "    Explicit Text: "+value.Str(q.text))
				}
			}
		}
	}
	return strings.Join(lines, "\n"), ok
}

func subtreesText(s cryptobyte.String) string {
	permitted, excluded := readSubtrees(s)
	var lines []string
	add := func(title string, list []general) {
		if len(list) == 0 {
			return
		}
		lines = append(lines, title+":")
		for _, g := range list {
			t := g.text(opensslStyle)
			if rest, ok := strings.CutPrefix(t, "IP Address:"); ok {
				t = "IP:" + rest
			}
			lines = append(lines, "  "+t)
		}
	}
	add("Permitted", permitted)
	add("Excluded", excluded)
	return strings.Join(lines, "\n")
}
