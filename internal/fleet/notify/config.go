package notify

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/mail"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"brine/internal/fleet/smtp"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// The kinds of destinations.
const (
	Webhook = "webhook"
	Slack   = "slack"
	Matrix  = "matrix"
	Mail    = "mail"
)

// Option is the option of the configuration that has the destinations.
const Option = "notify"

// A Destination is where messages go.
type Destination struct {
	Name, Kind string
	On         []string // events
	Runs       []string // globs for KIND/NAME
	Link       string   // address of brine ui
	guard      Guard
	url        string
	header     http.Header
	key        string // of the signature
	room       string
	relay      smtp.Relay
	secrets    []string
}

// Destinations are those of a configuration.
type Destinations struct{ list []*Destination }

// Find returns a destination; nil if there is none with the name.
func (x *Destinations) Find(name string) *Destination {
	if i := slices.IndexFunc(x.list, func(d *Destination) bool { return d.Name == name }); i >= 0 {
		return x.list[i]
	}
	return nil
}

// Names are the names of the destinations.
func (x *Destinations) Names() []string {
	out := make([]string, len(x.list))
	for i, d := range x.list {
		out[i] = d.Name
	}
	return out
}

// Secrets are the texts that nothing may show.
func (x *Destinations) Secrets() (out []string) {
	for _, d := range x.list {
		out = append(out, d.secrets...)
	}
	return out
}

// CheckNames returns an error for a name that no destination has.
func (x *Destinations) CheckNames(names []string) error {
	for _, n := range names {
		if x.Find(n) == nil {
			return fmt.Errorf("notify: there is no destination %q%s", n, source.DidYouMean(n, x.Names()))
		}
	}
	return nil
}

// Where names a destination without its secrets.
func (d *Destination) Where() string {
	if d.Kind == Mail {
		return d.relay.Host
	}
	u, err := url.Parse(d.url)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$`)

// Parse reads the destinations. The secrets of sdb:// are values by now; those of files
// are read with readFile. All faults are returned together.
func Parse(v value.Value, readFile func(string) ([]byte, error)) (*Destinations, error) {
	x := &Destinations{}
	if v == nil {
		return x, nil
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("notify must be a mapping of destinations, not %s", value.Kind(v))
	}
	var errs []error
	for k, v := range m.All() {
		name := value.Str(k)
		p := &parser{read: readFile, d: &Destination{Name: name}}
		if p.m, ok = v.(*value.Map); !ok {
			p.fault("it must be a mapping with the key kind, not %s", value.Kind(v))
		} else {
			p.parse()
		}
		if pos := m.Pos(k); len(p.errs) > 0 && !pos.IsZero() {
			p.errs[0] = fmt.Errorf("%s: %w", pos, p.errs[0])
		}
		errs = append(errs, p.errs...)
		x.list = append(x.list, p.d)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return x, nil
}

// A parser reads one destination.
type parser struct {
	m    *value.Map
	d    *Destination
	read func(string) ([]byte, error)
	errs []error
}

func (p *parser) fault(format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("notify: %s: %s", p.d.Name, fmt.Sprintf(format, args...)))
}

// common are the keys of all kinds.
var common = []string{"kind", "events", "runs", "link", "ca", "allow_private"}

// own are the keys of each kind.
var own = map[string][]string{
	Webhook: {"url", "headers", "key"},
	Slack:   {"url", "headers"},
	Matrix:  {"url", "room", "token"},
	Mail:    {"server", "tls", "user", "password", "from", "to"},
}

func (p *parser) parse() {
	d := p.d
	if !namePattern.MatchString(d.Name) {
		p.fault("letters, digits, _ and - can be in the name of a destination")
	}
	kinds := []string{Mail, Matrix, Slack, Webhook}
	d.Kind = p.text("kind")
	keys, ok := own[d.Kind]
	if !ok {
		p.fault("kind: %q is none of %s%s", d.Kind, strings.Join(kinds, ", "), source.DidYouMean(d.Kind, kinds))
		return
	}
	known := slices.Concat(common, keys)
	for k := range p.m.All() {
		if name := value.Str(k); !slices.Contains(known, name) {
			p.fault("unknown key %q%s; a %s has %s", name, source.DidYouMean(name, known), d.Kind, strings.Join(known, ", "))
		}
	}
	p.events()
	p.private()
	p.authorities()
	if d.Link = strings.TrimSuffix(p.text("link"), "/"); d.Link != "" {
		p.address("link", d.Link)
	}
	if d.Kind == Mail {
		p.mail()
		return
	}
	p.web()
}

// events reads which runs and events are asked for.
func (p *parser) events() {
	p.d.On, p.d.Runs = defaultEvents, []string{"*"}
	if p.m.Has("events") {
		p.d.On = p.texts("events")
	}
	for _, e := range p.d.On {
		if !slices.Contains(Events(), e) {
			p.fault("events: %q is none of %s%s", e, strings.Join(Events(), ", "), source.DidYouMean(e, Events()))
		}
	}
	if p.m.Has("runs") {
		p.d.Runs = p.texts("runs")
	}
	for _, g := range p.d.Runs {
		if _, err := path.Match(g, ""); err != nil {
			p.fault("runs: %q is not a glob", g)
		}
	}
}

// private reads the networks that are permitted.
func (p *parser) private() {
	if !p.m.Has("allow_private") {
		return
	}
	for _, text := range p.texts("allow_private") {
		net, err := netip.ParsePrefix(text)
		if ip, ierr := netip.ParseAddr(text); ierr == nil {
			net, err = netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()), nil
		}
		if err != nil {
			p.fault("allow_private: %q is not an address or a network such as 10.0.0.0/8", text)
			continue
		}
		p.d.guard.Private = append(p.d.guard.Private, net.Masked())
	}
}

// authorities reads who may have signed the certificate, where that is not who the machine
// trusts.
func (p *parser) authorities() {
	name := p.text("ca")
	if name == "" {
		return
	}
	text, err := p.read(name)
	if err != nil {
		p.fault("ca: %s", err)
		return
	}
	p.d.guard.Roots = x509.NewCertPool()
	if !p.d.guard.Roots.AppendCertsFromPEM(text) {
		p.fault("ca: %s has no certificate in PEM", name)
	}
}

// address checks an address of the web.
func (p *parser) address(key, text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Fragment != "" {
		p.fault("%s: it is not an address such as https://hooks.example.com/brine", key) // which may be a secret
		return nil
	}
	return u
}

// web reads what messages over HTTP need.
func (p *parser) web() {
	d := p.d
	d.header = http.Header{}
	d.url = p.secret("url")
	u := p.address("url", d.url)
	if u == nil {
		return
	}
	d.secrets = append(d.secrets, d.url)
	if len(u.Path) > 1 {
		d.secrets = append(d.secrets, u.Path)
	}
	if u.RawQuery != "" {
		d.secrets = append(d.secrets, u.RawQuery)
	}
	d.guard.Clear = u.Scheme == "http"
	if d.Kind == Matrix {
		if d.room = p.text("room"); !strings.HasPrefix(d.room, "!") {
			p.fault("room: %q is not the ID of a room, such as !abc:example.org", d.room)
		}
		d.header.Set("Authorization", "Bearer "+p.needed("token"))
		return
	}
	if p.m.Has("key") {
		d.key = p.needed("key")
	}
	p.headers()
}

// headers reads further headers.
func (p *parser) headers() {
	v := p.m.At("headers")
	m, ok := v.(*value.Map)
	if v != nil && !ok {
		p.fault("headers must be a mapping, not %s", value.Kind(v))
		return
	}
	for k := range m.All() {
		name := value.Str(k)
		text := p.secretIn(m, name)
		if strings.ContainsAny(name+text, "\r\n\x00") || strings.ContainsAny(name, " :") || name == "" {
			p.fault("headers: %q is not a header", name)
			continue
		}
		p.d.header.Set(name, text)
	}
}

// mail reads what mails need.
func (p *parser) mail() {
	r := &p.d.relay
	server := p.text("server")
	var err error
	if r.Host, r.Port, err = net.SplitHostPort(server); err != nil {
		r.Host, r.Port = server, "587"
	}
	if r.Host == "" {
		p.fault("server: give the mail server, such as smtp.example.com:587")
	}
	switch tls := p.text("tls"); tls {
	case "", "starttls":
		r.TLS = true
	case "none":
		p.d.guard.Clear = true
	default:
		p.fault("tls: %q is neither starttls nor none", tls)
	}
	if p.m.Has("user") {
		r.User, r.Password = p.text("user"), p.needed("password")
	}
	r.From, r.To = p.text("from"), p.texts("to")
	if len(r.To) == 0 {
		p.fault("to: give at least one address")
	}
	for _, a := range append([]string{r.From}, r.To...) {
		if _, err := mail.ParseAddress(a); err != nil || strings.ContainsAny(a, "\r\n") {
			p.fault("from, to: %q is not an address of mail", a)
		}
	}
	r.Connect, r.Roots = p.d.guard.Dial, p.d.guard.Roots
}

// text returns a text; "" where there is none.
func (p *parser) text(key string) string {
	v := p.m.At(key)
	s, ok := v.(string)
	if v != nil && !ok {
		p.fault("%s must be a string, not %s", key, value.Kind(v))
	}
	return s
}

// texts returns a list of texts; one text is a list of one.
func (p *parser) texts(key string) []string {
	v := p.m.At(key)
	if s, ok := v.(string); ok {
		return []string{s}
	}
	l, ok := v.(*value.List)
	if !ok {
		p.fault("%s must be a list of strings", key)
		return nil
	}
	out := make([]string, l.Len())
	for i, x := range l.Items {
		if out[i], ok = x.(string); !ok {
			p.fault("%s must be a list of strings", key)
			return nil
		}
	}
	return out
}

// secret returns a text that is a secret.
func (p *parser) secret(key string) string { return p.secretIn(p.m, key) }

// needed returns a secret that must be there.
func (p *parser) needed(key string) string {
	s := p.secret(key)
	if s == "" {
		p.fault("%s: it is missing", key)
	}
	return s
}

// secretIn returns a secret of a mapping: a text, or {file: PATH} with the text of a file.
func (p *parser) secretIn(m *value.Map, key string) string {
	s := ""
	switch v := m.At(key).(type) {
	case nil:
		return ""
	case string:
		s = v
	case *value.Map:
		name, ok := v.At("file").(string)
		if !ok || v.Len() != 1 {
			p.fault("%s must be a string or {file: PATH}", key)
			return ""
		}
		text, err := p.read(name)
		if err != nil {
			p.fault("%s: %s", key, err)
			return ""
		}
		s = strings.TrimSpace(string(text))
	default:
		p.fault("%s must be a string or {file: PATH}, not %s", key, value.Kind(v))
		return ""
	}
	if strings.HasPrefix(s, "sdb://") {
		p.fault("%s: %s has no value: its profile is not in the configuration", key, s)
		return ""
	}
	if len(s) >= minSecret {
		p.d.secrets = append(p.d.secrets, s)
	}
	return s
}

// minSecret is the length from which on a text is taken for a secret: a shorter one would
// be masked in the middle of words.
const minSecret = 4
