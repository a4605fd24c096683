package notify

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Fields reads the settings of something that is sent to: texts, secrets, and which
// addresses are permitted. Its faults are collected.
type Fields struct {
	Of  string // whose settings these are, for faults
	Map *value.Map
	// Read reads the files of secrets.
	Read func(string) ([]byte, error)
	// Secrets are the texts that nothing may show, as far as they were read.
	Secrets []string
	// Guard is what Private and Authorities read.
	Guard Guard
	Errs  []error
}

// EachFields calls parse with the name and the settings of each of a mapping, which is
// that of the option of. It returns all faults, the first of each with its place.
func EachFields(m *value.Map, of string, read func(string) ([]byte, error), parse func(name string, f *Fields)) error {
	var errs []error
	for k, v := range m.All() {
		f := &Fields{Of: of + ": " + value.Str(k), Read: read}
		var ok bool
		if f.Map, ok = v.(*value.Map); !ok {
			f.Fault("it must be a mapping with the key kind, not %s", value.Kind(v))
		} else {
			parse(value.Str(k), f)
		}
		if pos := m.Pos(k); len(f.Errs) > 0 && !pos.IsZero() {
			f.Errs[0] = fmt.Errorf("%s: %w", pos, f.Errs[0])
		}
		errs = append(errs, f.Errs...)
	}
	return errors.Join(errs...)
}

// Fault notes what is wrong.
func (p *Fields) Fault(format string, args ...any) {
	p.Errs = append(p.Errs, fmt.Errorf("%s: %s", p.Of, fmt.Sprintf(format, args...)))
}

// Known notes a fault for each key that is none of known, which are those of a kind.
func (p *Fields) Known(kind string, known []string) {
	for k := range p.Map.All() {
		if name := value.Str(k); !slices.Contains(known, name) {
			p.Fault("unknown key %q%s; a %s has %s", name, source.DidYouMean(name, known), kind, strings.Join(known, ", "))
		}
	}
}

// Private reads the networks that are permitted.
func (p *Fields) Private() {
	if !p.Map.Has("allow_private") {
		return
	}
	for _, text := range p.Texts("allow_private") {
		net, err := netip.ParsePrefix(text)
		if ip, ierr := netip.ParseAddr(text); ierr == nil {
			net, err = netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()), nil
		}
		if err != nil {
			p.Fault("allow_private: %q is not an address or a network such as 10.0.0.0/8", text)
			continue
		}
		p.Guard.Private = append(p.Guard.Private, net.Masked())
	}
}

// Authorities reads who may have signed the certificate, where that is not who the machine
// trusts.
func (p *Fields) Authorities() {
	name := p.Text("ca")
	if name == "" {
		return
	}
	text, err := p.Read(name)
	if err != nil {
		p.Fault("ca: %s", err)
		return
	}
	p.Guard.Roots = x509.NewCertPool()
	if !p.Guard.Roots.AppendCertsFromPEM(text) {
		p.Fault("ca: %s has no certificate in PEM", name)
	}
}

// Address checks an address of the web.
func (p *Fields) Address(key, text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Fragment != "" {
		p.Fault("%s: it is not an address such as https://hooks.example.com/brine", key) // which may be a secret
		return nil
	}
	return u
}

// Hook reads where messages over HTTP go: url, headers and, where keyed is true, the key
// of their signature.
func (p *Fields) Hook(keyed bool) *Hook {
	h := &Hook{header: http.Header{}, url: p.Secret("url")}
	u := p.Address("url", h.url)
	if u == nil {
		return h
	}
	p.Secrets = append(p.Secrets, h.url)
	if len(u.Path) > 1 {
		p.Secrets = append(p.Secrets, u.Path)
	}
	if u.RawQuery != "" {
		p.Secrets = append(p.Secrets, u.RawQuery)
	}
	p.Guard.Clear = u.Scheme == "http"
	if keyed && p.Map.Has("key") {
		h.key = p.Needed("key")
	}
	p.headers(h.header)
	h.guard, h.secrets = p.Guard, p.Secrets
	return h
}

// headers reads further headers.
func (p *Fields) headers(to http.Header) {
	v := p.Map.At("headers")
	m, ok := v.(*value.Map)
	if v != nil && !ok {
		p.Fault("headers must be a mapping, not %s", value.Kind(v))
		return
	}
	for k := range m.All() {
		name := value.Str(k)
		text := p.secretIn(m, name)
		if strings.ContainsAny(name+text, "\r\n\x00") || strings.ContainsAny(name, " :") || name == "" {
			p.Fault("headers: %q is not a header", name)
			continue
		}
		to.Set(name, text)
	}
}

// Text returns a text; "" where there is none.
func (p *Fields) Text(key string) string {
	v := p.Map.At(key)
	s, ok := v.(string)
	if v != nil && !ok {
		p.Fault("%s must be a string, not %s", key, value.Kind(v))
	}
	return s
}

// Texts returns a list of texts; one text is a list of one.
func (p *Fields) Texts(key string) []string {
	v := p.Map.At(key)
	if s, ok := v.(string); ok {
		return []string{s}
	}
	l, ok := v.(*value.List)
	if !ok {
		p.Fault("%s must be a list of strings", key)
		return nil
	}
	out := make([]string, l.Len())
	for i, x := range l.Items {
		if out[i], ok = x.(string); !ok {
			p.Fault("%s must be a list of strings", key)
			return nil
		}
	}
	return out
}

// Secret returns a text that is a secret.
func (p *Fields) Secret(key string) string { return p.secretIn(p.Map, key) }

// Needed returns a secret that must be there.
func (p *Fields) Needed(key string) string {
	s := p.Secret(key)
	if s == "" {
		p.Fault("%s: it is missing", key)
	}
	return s
}

// secretIn returns a secret of a mapping: a text, or {file: PATH} with the text of a file.
func (p *Fields) secretIn(m *value.Map, key string) string {
	s := ""
	switch v := m.At(key).(type) {
	case nil:
		return ""
	case string:
		s = v
	case *value.Map:
		name, ok := v.At("file").(string)
		if !ok || v.Len() != 1 {
			p.Fault("%s must be a string or {file: PATH}", key)
			return ""
		}
		text, err := p.Read(name)
		if err != nil {
			p.Fault("%s: %s", key, err)
			return ""
		}
		s = strings.TrimSpace(string(text))
	default:
		p.Fault("%s must be a string or {file: PATH}, not %s", key, value.Kind(v))
		return ""
	}
	if strings.HasPrefix(s, "sdb://") {
		p.Fault("%s: %s has no value: its profile is not in the configuration", key, s)
		return ""
	}
	if len(s) >= minSecret {
		p.Secrets = append(p.Secrets, s)
	}
	return s
}

// minSecret is the length from which on a text is taken for a secret: a shorter one would
// be masked in the middle of words.
const minSecret = 4
