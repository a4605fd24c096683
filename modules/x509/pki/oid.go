package pki

import (
	"encoding/asn1"
	"fmt"
	"strconv"
	"strings"
)

type oid = asn1.ObjectIdentifier

var (
	oidExtensionRequest = oid{1, 2, 840, 113549, 1, 9, 14}

	// OIDCRLNumber is the extension cRLNumber.
	OIDCRLNumber = oid{2, 5, 29, 20}

	oidSubjectKeyID     = oid{2, 5, 29, 14}
	oidSubjectAltName   = oid{2, 5, 29, 17}
	oidKeyUsage         = oid{2, 5, 29, 15}
	oidIssuerAltName    = oid{2, 5, 29, 18}
	oidBasicConstraints = oid{2, 5, 29, 19}
	oidCRLReason        = oid{2, 5, 29, 21}
	oidInvalidityDate   = oid{2, 5, 29, 24}
	oidDeltaCRL         = oid{2, 5, 29, 27}
	oidIssuingPoint     = oid{2, 5, 29, 28}
	oidCertIssuer       = oid{2, 5, 29, 29}
	oidNameConstraints  = oid{2, 5, 29, 30}
	oidCRLPoints        = oid{2, 5, 29, 31}
	oidPolicies         = oid{2, 5, 29, 32}
	oidAuthorityKeyID   = oid{2, 5, 29, 35}
	oidPolicyConstr     = oid{2, 5, 29, 36}
	oidExtKeyUsage      = oid{2, 5, 29, 37}
	oidFreshestCRL      = oid{2, 5, 29, 46}
	oidInhibitAny       = oid{2, 5, 29, 54}
	oidAuthorityInfo    = oid{1, 3, 6, 1, 5, 5, 7, 1, 1}
	oidTLSFeature       = oid{1, 3, 6, 1, 5, 5, 7, 1, 24}
	oidNoCheck          = oid{1, 3, 6, 1, 5, 5, 7, 48, 1, 5}
	oidNSCertType       = oid{2, 16, 840, 1, 113730, 1, 1}
	oidNSComment        = oid{2, 16, 840, 1, 113730, 1, 13}

	oidAnyPolicy  = oid{2, 5, 29, 32, 0}
	oidCPS        = oid{1, 3, 6, 1, 5, 5, 7, 2, 1}
	oidUserNotice = oid{1, 3, 6, 1, 5, 5, 7, 2, 2}
)

// A named is an object identifier and its names.
type named struct {
	name string
	id   asn1.ObjectIdentifier
	long string // as OpenSSL prints it
}

// extensionNames are the extensions of certificates and revocation lists in
// Salt's order.
var extensionNames = []named{
	{"basicConstraints", oidBasicConstraints, "X509v3 Basic Constraints"},
	{"keyUsage", oidKeyUsage, "X509v3 Key Usage"},
	{"extendedKeyUsage", oidExtKeyUsage, "X509v3 Extended Key Usage"},
	{"subjectKeyIdentifier", oidSubjectKeyID, "X509v3 Subject Key Identifier"},
	{"authorityKeyIdentifier", oidAuthorityKeyID, "X509v3 Authority Key Identifier"},
	{"issuerAltName", oidIssuerAltName, "X509v3 Issuer Alternative Name"},
	{"authorityInfoAccess", oidAuthorityInfo, "Authority Information Access"},
	{"subjectAltName", oidSubjectAltName, "X509v3 Subject Alternative Name"},
	{"crlDistributionPoints", oidCRLPoints, "X509v3 CRL Distribution Points"},
	{"issuingDistributionPoint", oidIssuingPoint, "X509v3 Issuing Distribution Point"},
	{"certificatePolicies", oidPolicies, "X509v3 Certificate Policies"},
	{"policyConstraints", oidPolicyConstr, "X509v3 Policy Constraints"},
	{"inhibitAnyPolicy", oidInhibitAny, "X509v3 Inhibit Any Policy"},
	{"nameConstraints", oidNameConstraints, "X509v3 Name Constraints"},
	{"noCheck", oidNoCheck, "OCSP No Check"},
	{"tlsfeature", oidTLSFeature, "TLS Feature"},
	{"nsComment", oidNSComment, "Netscape Comment"},
	{"nsCertType", oidNSCertType, "Netscape Cert Type"},
	{"cRLNumber", OIDCRLNumber, "X509v3 CRL Number"},
	{"deltaCRLIndicator", oidDeltaCRL, "X509v3 Delta CRL Indicator"},
	{"freshestCRL", oidFreshestCRL, "X509v3 Freshest CRL"},
}

// entryNames are the extensions of an entry of a revocation list.
var entryNames = []named{
	{"certificateIssuer", oidCertIssuer, "X509v3 Certificate Issuer"},
	{"CRLReason", oidCRLReason, "X509v3 CRL Reason Code"},
	{"invalidityDate", oidInvalidityDate, "Invalidity Date"},
}

var usageNames = []named{
	{"serverAuth", oid{1, 3, 6, 1, 5, 5, 7, 3, 1}, "TLS Web Server Authentication"},
	{"clientAuth", oid{1, 3, 6, 1, 5, 5, 7, 3, 2}, "TLS Web Client Authentication"},
	{"codeSigning", oid{1, 3, 6, 1, 5, 5, 7, 3, 3}, "Code Signing"},
	{"emailProtection", oid{1, 3, 6, 1, 5, 5, 7, 3, 4}, "E-mail Protection"},
	{"timeStamping", oid{1, 3, 6, 1, 5, 5, 7, 3, 8}, "Time Stamping"},
	{"OCSPSigning", oid{1, 3, 6, 1, 5, 5, 7, 3, 9}, "OCSP Signing"},
	{"msSmartcardLogin", oid{1, 3, 6, 1, 4, 1, 311, 20, 2, 2}, "Microsoft Smartcard Login"},
	{"pkInitKDC", oid{1, 3, 6, 1, 5, 2, 3, 5}, "Signing KDC Response"},
	{"ipsecIKE", oid{1, 3, 6, 1, 5, 5, 7, 3, 17}, "ipsec Internet Key Exchange"},
	{"msCodeInd", oid{1, 3, 6, 1, 4, 1, 311, 2, 1, 21}, "Microsoft Individual Code Signing"},
	{"msCodeCom", oid{1, 3, 6, 1, 4, 1, 311, 2, 1, 22}, "Microsoft Commercial Code Signing"},
	{"msCTLSign", oid{1, 3, 6, 1, 4, 1, 311, 10, 3, 1}, "Microsoft Trust List Signing"},
	{"msEFS", oid{1, 3, 6, 1, 4, 1, 311, 10, 3, 4}, "Microsoft Encrypted File System"},
	{"ipsecEndSystem", oid{1, 3, 6, 1, 5, 5, 7, 3, 5}, "IPSec End System"},
	{"ipsecTunnel", oid{1, 3, 6, 1, 5, 5, 7, 3, 6}, "IPSec Tunnel"},
	{"ipsecUser", oid{1, 3, 6, 1, 5, 5, 7, 3, 7}, "IPSec User"},
	{"anyExtendedKeyUsage", oid{2, 5, 29, 37, 0}, "Any Extended Key Usage"},
}

var accessNames = []named{
	{"OCSP", oid{1, 3, 6, 1, 5, 5, 7, 48, 1}, "OCSP"},
	{"caIssuers", oid{1, 3, 6, 1, 5, 5, 7, 48, 2}, "CA Issuers"},
	{"caRepository", oid{1, 3, 6, 1, 5, 5, 7, 48, 5}, "CA Repository"},
}

func byName(list []named, name string) (asn1.ObjectIdentifier, bool) {
	for _, n := range list {
		if n.name == name {
			return n.id, true
		}
	}
	return nil, false
}

func byID(list []named, id asn1.ObjectIdentifier) (named, bool) {
	for _, n := range list {
		if n.id.Equal(id) {
			return n, true
		}
	}
	return named{}, false
}

// ExtensionOID returns the object identifier of an extension by Salt's name.
func ExtensionOID(name string) (asn1.ObjectIdentifier, bool) { return byName(extensionNames, name) }

// ExtensionNames returns Salt's names of the extensions of certificates and
// revocation lists, in its order.
func ExtensionNames() []string {
	out := make([]string, len(extensionNames))
	for i, n := range extensionNames {
		out[i] = n.name
	}
	return out
}

// ExtensionLongName returns the name under which an extension is listed as a change.
func ExtensionLongName(id asn1.ObjectIdentifier) string {
	for _, list := range [][]named{extensionNames, entryNames} {
		n, ok := byID(list, id)
		if !ok {
			continue
		}
		switch n.name {
		case "noCheck":
			return "OCSPNoCheck"
		case "tlsfeature":
			return "TLSFeature"
		case "nsComment", "nsCertType":
			return "Unknown OID"
		case "CRLReason":
			return "cRLReason"
		}
		return n.name
	}
	return "Unknown OID"
}

// parseOID reads an object identifier in dotted numbers.
func parseOID(s string) (asn1.ObjectIdentifier, error) {
	bad := fmt.Errorf("Invalid oid: %s", s)
	parts := strings.Split(s, ".")
	if len(parts) < 2 || len(parts) > 64 {
		return nil, bad
	}
	out := make(asn1.ObjectIdentifier, len(parts))
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return nil, bad
		}
		out[i] = int(n)
	}
	if out[0] > 2 || (out[0] < 2 && out[1] > 39) {
		return nil, bad
	}
	return out, nil
}
