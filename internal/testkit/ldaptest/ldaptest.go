// Package ldaptest is a small server of LDAP for tests, in memory and on the loopback.
package ldaptest

import (
	"crypto/tls"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
)

// The account that may log in.
const (
	Admin    = "cn=admin,dc=example,dc=com"
	Password = "plugh22"
)

// An Entry has the values of its attributes.
type Entry map[string][]string

// A Server answers requests from its entries.
type Server struct {
	URL string
	// Answer replaces the answer to a search by bytes, if it is not nil, after which the
	// connection ends; no bytes are no answer.
	Answer func(id int64) []byte
	// Filters are those of the searches, with their values as they came.
	filters []string
	entries map[string]Entry
	order   []string
	changed []string
	mu      sync.Mutex
	tls     *tls.Config
}

// New starts a server with entries by their DN; with a certificate it has StartTLS.
func New(t testing.TB, conf *tls.Config, entries map[string]Entry) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: "ldap://" + l.Addr().String(), entries: maps.Clone(entries), tls: conf}
	s.order = slices.Sorted(maps.Keys(entries))
	var all sync.WaitGroup
	var conns sync.Map
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			conns.Store(c, true)
			all.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		conns.Range(func(c, _ any) bool { _ = c.(net.Conn).Close(); return true })
		all.Wait()
	})
	return s
}

// Changed returns what changed entries so far: "add DN", "modify DN", "delete DN".
func (s *Server) Changed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.changed, "; ")
}

// Filters returns the values that searches compared with, as the server read them.
func (s *Server) Filters() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.filters, "; ")
}

// Entry returns an entry; nil if it does not exist.
func (s *Server) Entry(dn string) Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[dn]
}

// Tags of requests and answers in RFC 4511.
const (
	bind, bound                   = 0, 1
	unbind                        = 2
	search, found, searched       = 3, 4, 5
	modify, modified              = 6, 7
	add, added                    = 8, 9
	remove, removed               = 10, 11
	extended, extendedAnswer      = 23, 24
	noSuchObject                  = 32
	noSuchAttribute               = 16
	invalidCredentials            = 49
	insufficientAccess, unwilling = 50, 53
	entryExists                   = 68
)

func (s *Server) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	admin := false
	for {
		p, err := ber.ReadPacket(c)
		if err != nil || len(p.Children) < 2 {
			return
		}
		id, _ := p.Children[0].Value.(int64)
		req := p.Children[1]
		s.mu.Lock()
		var out []byte
		code, tag := 0, ber.Tag(0)
		switch req.Tag {
		case bind:
			admin = text(req.Children[1]) == Admin && text(req.Children[2]) == Password
			if tag = bound; !admin {
				code = invalidCredentials
			}
		case search:
			tag = searched
			out, code = s.search(id, req)
		case add, modify, remove:
			tag, code = req.Tag+1, insufficientAccess
			if admin {
				code = s.change(req)
			}
		case extended:
			if tag = extendedAnswer; s.tls == nil {
				code = unwilling
			}
		default:
			s.mu.Unlock()
			return
		}
		if answer := s.Answer; answer != nil && req.Tag == search {
			out = answer(id)
		} else {
			out = append(out, message(id, result(tag, code))...)
		}
		s.mu.Unlock()
		if _, err := c.Write(out); err != nil || s.Answer != nil && req.Tag == search && len(out) > 0 {
			return
		}
		if req.Tag == extended && code == 0 {
			c = tls.Server(c, s.tls)
		}
	}
}

// text returns the bytes of a primitive element.
func text(p *ber.Packet) string { return p.Data.String() }

func result(tag ber.Tag, code int) *ber.Packet {
	p := ber.Encode(ber.ClassApplication, ber.TypeConstructed, tag, nil, "")
	p.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagEnumerated, code, ""))
	p.AppendChild(ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, "", ""))
	words := ""
	if code != 0 {
		words = "no\x1b[31m"
	}
	p.AppendChild(ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, words, ""))
	return p
}

func message(id int64, op *ber.Packet) []byte {
	p := ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSequence, nil, "")
	p.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagInteger, id, ""))
	p.AppendChild(op)
	return p.Bytes()
}

// Found is the message of an entry that a search found.
func Found(id int64, dn string, e Entry) []byte {
	p := ber.Encode(ber.ClassApplication, ber.TypeConstructed, found, nil, "")
	p.AppendChild(ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, dn, ""))
	attrs := ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSequence, nil, "")
	for _, name := range slices.Sorted(maps.Keys(e)) {
		a := ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSequence, nil, "")
		a.AppendChild(ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, name, ""))
		set := ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSet, nil, "")
		for _, v := range e[name] {
			set.AppendChild(ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, v, ""))
		}
		a.AppendChild(set)
		attrs.AppendChild(a)
	}
	p.AppendChild(attrs)
	return message(id, p)
}

func (s *Server) search(id int64, req *ber.Packet) (out []byte, code int) {
	base, scope := text(req.Children[0]), req.Children[1].Value.(int64)
	var wanted []string
	for _, a := range req.Children[7].Children {
		wanted = append(wanted, text(a))
	}
	if s.entries[base] == nil {
		return nil, noSuchObject
	}
	for _, dn := range s.order {
		e := s.entries[dn]
		if e == nil {
			continue
		}
		_, parent, _ := strings.Cut(dn, ",")
		below := dn == base
		switch scope {
		case 1:
			below = parent == base
		case 2:
			below = below || strings.HasSuffix(dn, ","+base)
		}
		if !below || !s.matches(req.Children[6], e) {
			continue
		}
		shown := Entry{}
		for name, vals := range e {
			if len(wanted) == 0 || slices.Contains(wanted, name) {
				if shown[name] = vals; req.Children[5].Value == true {
					shown[name] = nil
				}
			}
		}
		out = append(out, Found(id, dn, shown)...)
	}
	return out, 0
}

// matches knows and, or, not, equality and presence.
func (s *Server) matches(f *ber.Packet, e Entry) bool {
	one := func(p *ber.Packet) bool { return s.matches(p, e) }
	switch int(f.Tag) {
	case 0:
		return !slices.ContainsFunc(f.Children, func(p *ber.Packet) bool { return !one(p) })
	case 1:
		return slices.ContainsFunc(f.Children, one)
	case 2:
		return !one(f.Children[0])
	case 3:
		name, v := text(f.Children[0]), text(f.Children[1])
		if x := name + "=" + v; !slices.Contains(s.filters, x) {
			s.filters = append(s.filters, x)
		}
		return slices.Contains(e[name], v)
	}
	return f.Tag == 7 && (text(f) == "objectClass" || len(e[text(f)]) > 0)
}

// change carries out a request that changes an entry.
func (s *Server) change(req *ber.Packet) int {
	if req.Tag == remove {
		dn := text(req)
		if s.entries[dn] == nil {
			return noSuchObject
		}
		delete(s.entries, dn)
		s.changed = append(s.changed, "delete "+dn)
		return 0
	}
	dn := text(req.Children[0])
	if req.Tag == add {
		if s.entries[dn] != nil {
			return entryExists
		}
		e := Entry{}
		for _, a := range req.Children[1].Children {
			e[text(a.Children[0])] = values(a.Children[1])
		}
		s.entries[dn], s.order = e, append(s.order, dn)
		s.changed = append(s.changed, "add "+dn)
		return 0
	}
	if s.entries[dn] == nil {
		return noSuchObject
	}
	e := maps.Clone(s.entries[dn])
	for _, m := range req.Children[1].Children {
		name, vals := text(m.Children[1].Children[0]), values(m.Children[1].Children[1])
		switch op := m.Children[0].Value.(int64); {
		case op == 0:
			e[name] = slices.Concat(e[name], vals)
		case op == 1 && len(vals) > 0:
			for _, v := range vals {
				if !slices.Contains(e[name], v) {
					return noSuchAttribute
				}
			}
			e[name] = slices.DeleteFunc(slices.Clone(e[name]), func(v string) bool { return slices.Contains(vals, v) })
		default:
			e[name] = vals
		}
		if len(e[name]) == 0 {
			delete(e, name)
		}
	}
	s.entries[dn] = e
	s.changed = append(s.changed, "modify "+dn)
	return 0
}

func values(set *ber.Packet) []string {
	var out []string
	for _, v := range set.Children {
		out = append(out, text(v))
	}
	return out
}
