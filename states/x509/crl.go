package x509

import (
	"context"
	"math/big"
	"time"

	"golang.org/x/crypto/cryptobyte"

	"brine/internal/fun"
	"brine/internal/value"
	mod "brine/modules/x509"
	"brine/modules/x509/pki"
)

// crlManagedV2 manages a revocation list. Salt: states/x509_v2.py crl_managed.
// Difference: an issuer without signing_cert is refused, where Salt fails with an
// exception.
func crlManagedV2(ctx context.Context, c *fun.Call) fun.Ret {
	s, rest := begin(c)
	if c.Kw.Len() > 0 {
		return fun.Raise(unrecognized(c.Kw))
	}
	kw := certKwargs(rest)
	if c.IsNone("days_valid") {
		kw.Set("days_valid", int64(100))
	}
	remaining := c.Int("days_remaining")
	if c.IsNone("days_remaining") {
		remaining = 30
	}
	exts := value.NewMap(0)
	if m := c.Map("extensions"); m != nil {
		exts = m.Copy()
	}
	auto := exts.At("cRLNumber") == "auto"
	if auto {
		exts.Delete("cRLNumber")
	}
	kw.Set("extensions", exts)
	encoding := c.Str("encoding")
	var current *pki.CRL
	look := func(data []byte) error {
		crl, have, err := pki.LoadCRL(data)
		if err != nil {
			s.replace = true
			return nil
		}
		current = crl
		s.noteDigest(crl.Raw, c.Str("digest"))
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
