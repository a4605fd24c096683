package sink

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/core/event"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/notify"
	"brine/internal/py/pyre"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// The kinds of sinks.
const (
	Webhook  = "webhook"
	Slack    = "slack"
	Logstash = "logstash"
	Syslog   = "syslog"
	File     = "file"
)

// Option is the option of the configuration that has the sinks.
const Option = "event_sinks"

// A Sink is where events go.
type Sink struct {
	Name, Kind string
	// Batch is how many events are sent at once, and Wait how long the first one waits for
	// others.
	Batch int
	Wait  time.Duration
	// Spool is how many bytes of events may wait.
	Spool int64

	tags, exclude           []string // globs or regular expressions of tags
	functions, notFunctions []string // the same of functions
	hook                    *notify.Hook
	to                      line
	path                    string
	secrets                 []string
}

// A line is where lines of text go: a connection.
type line struct {
	network, address, server string // server is the name in its certificate; "": without TLS
	guard                    notify.Guard
	facility                 int // of syslog
}

// Defaults and limits of the settings.
const (
	defaultBatch = 100
	slackBatch   = 20
	maxBatch     = 10_000
	defaultWait  = 1.0 // seconds
	maxWait      = 3600
	defaultSpool = 64 << 20
	maxSpool     = 16 << 30
	minSpool     = 1 << 16
)

// Secrets are the texts of all sinks that nothing may show.
func Secrets(all []*Sink) (out []string) {
	for _, s := range all {
		out = append(out, s.secrets...)
	}
	return out
}

// Where names where events go, without secrets.
func (s *Sink) Where() string {
	switch s.Kind {
	case Webhook, Slack:
		return s.hook.Where()
	case File:
		return s.path
	}
	scheme := s.to.network
	if s.to.server != "" {
		scheme = "tls"
	}
	return scheme + "://" + s.to.address
}

// Wants reports whether a sink takes an event.
func (s *Sink) Wants(e event.Event) bool {
	if !jobs.MatchEvent(e, s.tags, s.exclude) {
		return false
	}
	if len(s.functions) == 0 && len(s.notFunctions) == 0 {
		return true
	}
	names := functionsOf(e.Data)
	match := func(patterns []string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := pyre.Expr(p, name); return ok })
		})
	}
	return (len(s.functions) == 0 || match(s.functions)) && !match(s.notFunctions)
}

// functionsOf returns the functions that an event is about.
func functionsOf(data *value.Map) []string {
	switch f := data.At("fun").(type) {
	case string:
		return []string{f}
	case *value.List:
		return fun(f)
	}
	return nil
}

// fun returns the texts of a list.
func fun(l *value.List) (out []string) {
	for _, x := range l.Items {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Read reads the sinks of a configuration. The secrets of sdb:// are values by now; files are
// read with readFile, and relative paths begin in dir. All faults are returned together.
func Read(opts *value.Map, dir string, readFile func(string) ([]byte, error)) ([]*Sink, error) {
	v := opts.At(Option)
	if v == nil {
		return nil, nil
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("%s must be a mapping of sinks, not %s", Option, value.Kind(v))
	}
	var all []*Sink
	err := notify.EachFields(m, Option, readFile, func(name string, f *notify.Fields) {
		p := &parser{Fields: f, s: &Sink{Name: name}, opts: opts, dir: dir}
		p.parse()
		p.s.secrets = p.Secrets
		all = append(all, p.s)
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// A parser reads one sink.
type parser struct {
	*notify.Fields
	s    *Sink
	opts *value.Map
	dir  string
}

// common are the keys of all kinds.
var common = []string{"kind", "tags", "exclude", "functions", "exclude_functions", "batch", "wait", "spool"}

// own are the keys of each kind.
var own = map[string][]string{
	Webhook:  {"url", "headers", "key", "ca", "allow_private"},
	Slack:    {"url", "headers", "ca", "allow_private"},
	Logstash: {"address", "ca", "allow_private"},
	Syslog:   {"address", "ca", "allow_private", "facility"},
	File:     {"path"},
}

func (p *parser) parse() {
	s := p.s
	if !validName(s.Name) {
		p.Fault("letters, digits, _ and - can be in the name of a sink, 64 at most")
	}
	kinds := []string{File, Logstash, Slack, Syslog, Webhook}
	s.Kind = p.Text("kind")
	keys, ok := own[s.Kind]
	if !ok {
		p.Fault("kind: %q is none of %s%s", s.Kind, strings.Join(kinds, ", "), source.DidYouMean(s.Kind, kinds))
		return
	}
	p.Known(s.Kind, slices.Concat(common, keys))
	p.filters()
	p.limits()
	p.Private()
	p.Authorities()
	switch s.Kind {
	case Webhook, Slack:
		s.hook = p.Hook(s.Kind == Webhook)
	case File:
		if s.path = p.Text("path"); s.path == "" {
			p.Fault("path: it is missing")
		} else if !filepath.IsAbs(s.path) {
			s.path = filepath.Join(p.dir, s.path)
		}
	default:
		p.line()
	}
}

func validName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// filters reads which events are taken. What the sink does not say is said by the options
// for the returners of events.
func (p *parser) filters() {
	for _, x := range []struct {
		key, option string
		at          *[]string
	}{
		{"tags", "event_return_whitelist", &p.s.tags},
		{"exclude", "event_return_blacklist", &p.s.exclude},
		{"functions", "", &p.s.functions},
		{"exclude_functions", "", &p.s.notFunctions},
	} {
		switch {
		case p.Map.Has(x.key):
			*x.at = p.Texts(x.key)
			if len(*x.at) == 0 && len(p.Errs) == 0 && !strings.HasPrefix(x.key, "exclude") {
				p.Fault("%s names nothing: leave it out for all events", x.key)
			}
			if err := jobs.CheckPatterns(x.key, *x.at); err != nil {
				p.Fault("%v", err)
			}
		case x.option != "":
			var err error
			if *x.at, err = jobs.Patterns(x.option, p.opts.At(x.option)); err != nil {
				p.Fault("%v", err)
			}
		}
	}
}

// limits reads how many events are sent at once, and how many may wait.
func (p *parser) limits() {
	s := p.s
	s.Batch = defaultBatch
	if s.Kind == Slack {
		s.Batch = slackBatch
	}
	if n, ok := value.AsInt(p.opts.At("event_return_queue")); ok && n > 0 {
		s.Batch = int(min(n, maxBatch))
	}
	s.Batch = int(p.number("batch", int64(s.Batch), 1, maxBatch))
	s.Spool = p.number("spool", defaultSpool, minSpool, maxSpool)
	wait := defaultWait
	if v := p.Map.At("wait"); v != nil {
		f, err := value.ToFloat(v)
		if err != nil || !(f >= 0 && f <= maxWait) {
			p.Fault("wait must be a number of seconds from 0 to %d, not %s", maxWait, value.Repr(v))
		}
		wait = f
	}
	s.Wait = time.Duration(wait * float64(time.Second))
}

// number reads a number.
func (p *parser) number(key string, def, least, most int64) int64 {
	v := p.Map.At(key)
	if v == nil {
		return def
	}
	n, ok := value.AsInt(v)
	if !ok || n < least || n > most {
		p.Fault("%s must be a number from %d to %d, not %s", key, least, most, value.Repr(v))
		return def
	}
	return n
}

// facilities are those of syslog, by their numbers.
var facilities = []string{
	"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp", "audit", "alert", "clock",
	"local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
}

// line reads where lines go.
func (p *parser) line() {
	text := p.Text("address")
	ports := map[string]string{Logstash: "5000", Syslog: "514"}
	u, err := url.Parse(text)
	bad := func() {
		p.Fault("address: %q is not an address such as tcp://logs.example.com:%s; tls and udp are there, too%s", text, ports[p.s.Kind], map[string]string{Syslog: ", and unix:///dev/log"}[p.s.Kind])
	}
	to := &p.s.to
	if p.s.Kind == Syslog {
		name := cmp.Or(p.Text("facility"), "user")
		if to.facility = slices.Index(facilities, name); to.facility < 0 {
			p.Fault("facility: %q is none of syslog%s", name, source.DidYouMean(name, facilities))
		}
	}
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		bad()
		return
	}
	if u.Scheme == "unix" && p.s.Kind == Syslog && u.Host == "" && len(u.Path) > 1 {
		to.network, to.address = "unix", u.Path
		return
	}
	if u.Path != "" && u.Path != "/" || u.Hostname() == "" {
		bad()
		return
	}
	port := u.Port()
	switch u.Scheme {
	case "tcp", "udp":
		to.network, p.Guard.Clear = u.Scheme, true
	case "tls":
		to.network, to.server = "tcp", u.Hostname()
		if port == "" && p.s.Kind == Syslog {
			port = "6514"
		}
	default:
		bad()
		return
	}
	to.address = net.JoinHostPort(u.Hostname(), cmp.Or(port, ports[p.s.Kind]))
	to.guard = p.Guard
}
