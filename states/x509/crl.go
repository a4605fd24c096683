package x509

import (
	"context"
	"math/big"
	"time"

	"golang.org/x/crypto/cryptobyte"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	mod "brine/modules/x509"
	"brine/modules/x509/pki"
)

type crlManagedV2Args struct {
	_             string         `arg:"name,required,path" doc:"file to manage"`
	_             value.Value    `arg:"signing_private_key,required,secret" doc:"private key that signs: a file, PEM text or bytes"`
	_             value.Value    `arg:"revoked,required,list" doc:"revoked certificates: mappings with certificate or serial_number, and revocation_date, not_after, reason or extensions"`
	DaysRemaining fun.Opt[int64] `arg:"days_remaining" doc:"make it again where fewer days are left; 0: never for that reason"`
	_             value.Value    `arg:"signing_cert" doc:"certificate of the key that signs; default: the result signs itself"`
	_             string         `arg:"signing_private_key_passphrase,secret" doc:"passphrase of the key that signs"`
	_             bool           `arg:"include_expired" default:"False" doc:"list certificates that have expired"`
	DaysValid     value.Value    `arg:"days_valid,int" unit:"days" doc:"days for which the result is valid"`
	Digest        string         `arg:"digest" default:"sha256" doc:"digest of the signature"`
	Encoding      string         `arg:"encoding" default:"pem" doc:"encoding of the result"`
	Extensions    *value.Map     `arg:"extensions" doc:"extensions of the list: authorityKeyIdentifier, cRLNumber, issuingDistributionPoint ..."`
	fileManagedArgs
	moreFileArgs
	_    bool `arg:"text,kw" doc:"accepted, has no effect"`
	Rest fun.Kwargs
}

// crlManagedV2 manages a revocation list. Salt: states/x509_v2.py crl_managed.
// Difference: an issuer without signing_cert is refused, where Salt fails with an
// exception.
func crlManagedV2(ctx context.Context, c *fun.Call, a *crlManagedV2Args) fun.Ret {
	s, rest := begin(c)
	if a.Rest.Len() > 0 {
		return fun.Raise(unrecognized(a.Rest.Map))
	}
	kw := certKwargs(rest)
	if a.DaysValid == nil {
		kw.Set("days_valid", int64(100))
	}
	remaining := a.DaysRemaining.V
	if !a.DaysRemaining.Given {
		remaining = 30
	}
	exts := value.NewMap(0)
	if m := a.Extensions; m != nil {
		exts = m.Copy()
	}
	auto := exts.At("cRLNumber") == "auto"
	if auto {
		exts.Delete("cRLNumber")
	}
	kw.Set("extensions", exts)
	encoding := a.Encoding
	var current *pki.CRL
	look := func(data []byte) error {
		crl, have, err := pki.LoadCRL(data)
		if err != nil {
			s.replace = true
			return nil
		}
		current = crl
		s.noteDigest(crl.Raw, a.Digest)
		if have != encoding {
			s.changes.Set("encoding", encoding)
		}
		if remaining != 0 && crl.NextUpdate.Before(c.Env.Host.Now().Add(time.Duration(remaining)*24*time.Hour)) {
			s.changes.Set("expiration", true)
		}
		return s.compareCRL(crl, kw, auto)
	}
	create := func() ([]byte, error) {
		if current != nil && s.only("encoding") {
			return mod.EncodeCRL(current.Raw, encoding), nil
		}
		if auto {
			exts.Set("cRLNumber", nextNumber(current))
		}
		der, err := mod.CreateCRL(c.Env.Host, kw)
		return mod.EncodeCRL(der, encoding), err
	}
	return s.run(ctx, work{
		what: "certificate revocation list", correct: "The certificate revocation list is in the correct state", look: look, make: create,
		text: encoding == "pem", current: func() bool { return current != nil },
		empty: func() bool { return len(current.Revoked) == 0 },
	})
}

// nextNumber returns the number of the list that follows crl.
func nextNumber(crl *pki.CRL) int64 {
	if crl != nil {
		if e, ok := pki.Find(crl.Exts, pki.OIDCRLNumber); ok {
			n := new(big.Int)
			s := cryptobyte.String(e.Value)
			if s.ReadASN1Integer(n) && n.IsInt64() {
				return n.Int64() + 1
			}
		}
	}
	return 1
}

// compareCRL notes what a new list would have of its own. auto leaves the number
// of the list out.
func (s *state) compareCRL(crl *pki.CRL, kw *value.Map, auto bool) error {
	want, key, err := mod.BuildCRL(s.c.Env.Host, kw)
	if err != nil {
		return err
	}
	s.noteName("issuer_name", crl.Issuer, want.Issuer)
	if !crl.Signed.VerifiedBy(key.Public()) {
		s.changes.Set("public_key", true)
	}
	if m := compareRevoked(crl.Revoked, want.Revoked); m != nil {
		s.changes.Set("revocations", m)
	}
	have := crl.Exts
	if auto {
		have = nil
		for _, e := range crl.Exts {
			if !e.ID.Equal(pki.OIDCRLNumber) {
				have = append(have, e)
			}
		}
	}
	s.noteExts(have, want.Exts)
	return nil
}

// compareRevoked returns what differs between the entries of two lists; nil where
// nothing does.
func compareRevoked(have, want []pki.Revoked) *value.Map {
	added, changed, removed := value.NewList(), value.NewList(), value.NewList()
	find := func(list []pki.Revoked, n *big.Int) *pki.Revoked {
		for i := range list {
			if list[i].Serial.Cmp(n) == 0 {
				return &list[i]
			}
		}
		return nil
	}
	for _, w := range want {
		cur := find(have, w.Serial)
		switch {
		case cur == nil:
			added.Append(pki.PrettySerial(w.Serial))
		case compareExts(cur.Exts, w.Exts) != nil:
			changed.Append(pki.PrettySerial(w.Serial))
		}
	}
	for _, h := range have {
		if find(want, h.Serial) == nil {
			removed.Append(pki.PrettySerial(h.Serial))
		}
	}
	if added.Len()+changed.Len()+removed.Len() == 0 {
		return nil
	}
	return value.MapOf("added", added, "changed", changed, "removed", removed)
}
