package notify

import (
	"fmt"
	"net"
	"net/mail"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

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
	hook       *Hook
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
	return d.hook.Where()
}

var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$`) })

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
	err := EachFields(m, "notify", readFile, func(name string, f *Fields) {
		p := &parser{Fields: f, d: &Destination{Name: name}}
		p.parse()
		p.d.secrets = p.Secrets
		x.list = append(x.list, p.d)
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// A parser reads one destination.
type parser struct {
	*Fields
	d *Destination
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
	if !namePattern().MatchString(d.Name) {
		p.Fault("letters, digits, _ and - can be in the name of a destination")
	}
	kinds := []string{Mail, Matrix, Slack, Webhook}
	d.Kind = p.Text("kind")
	keys, ok := own[d.Kind]
	if !ok {
		p.Fault("kind: %q is none of %s%s", d.Kind, strings.Join(kinds, ", "), source.DidYouMean(d.Kind, kinds))
		return
	}
	p.Known(d.Kind, slices.Concat(common, keys))
	p.events()
	p.Private()
	p.Authorities()
	if d.Link = strings.TrimSuffix(p.Text("link"), "/"); d.Link != "" {
		p.Address("link", d.Link)
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
	if p.Map.Has("events") {
		p.d.On = p.Texts("events")
	}
	for _, e := range p.d.On {
		if !slices.Contains(Events(), e) {
			p.Fault("events: %q is none of %s%s", e, strings.Join(Events(), ", "), source.DidYouMean(e, Events()))
		}
	}
	if p.Map.Has("runs") {
		p.d.Runs = p.Texts("runs")
	}
	for _, g := range p.d.Runs {
		if _, err := path.Match(g, ""); err != nil {
			p.Fault("runs: %q is not a glob", g)
		}
	}
}

// web reads what messages over HTTP need.
func (p *parser) web() {
	p.d.hook = p.Hook(p.d.Kind == Webhook)
	if p.d.Kind != Matrix {
		return
	}
	if p.d.room = p.Text("room"); !strings.HasPrefix(p.d.room, "!") {
		p.Fault("room: %q is not the ID of a room, such as !abc:example.org", p.d.room)
	}
	p.d.hook.header.Set("Authorization", "Bearer "+p.Needed("token"))
	p.d.hook.secrets = p.Secrets
}

// mail reads what mails need.
func (p *parser) mail() {
	r := &p.d.relay
	server := p.Text("server")
	var err error
	if r.Host, r.Port, err = net.SplitHostPort(server); err != nil {
		r.Host, r.Port = server, "587"
	}
	if r.Host == "" {
		p.Fault("server: give the mail server, such as smtp.example.com:587")
	}
	switch tls := p.Text("tls"); tls {
	case "", "starttls":
		r.TLS = true
	case "none":
		p.Guard.Clear = true
	default:
		p.Fault("tls: %q is neither starttls nor none", tls)
	}
	if p.Map.Has("user") {
		r.User, r.Password = p.Text("user"), p.Needed("password")
	}
	r.From, r.To = p.Text("from"), p.Texts("to")
	if len(r.To) == 0 {
		p.Fault("to: give at least one address")
	}
	for _, a := range append([]string{r.From}, r.To...) {
		if _, err := mail.ParseAddress(a); err != nil || strings.ContainsAny(a, "\r\n") {
			p.Fault("from, to: %q is not an address of mail", a)
		}
	}
	r.Connect, r.Roots = p.Guard.Dial, p.Guard.Roots
}
