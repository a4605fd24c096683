package returner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// The forms are those that the documentation of Salt's returners shows.
func TestSettings(t *testing.T) {
	t.Parallel()
	spec := &Spec{Name: "slack", Aliases: []string{"slack_returner"}, Keys: []Key{{Name: "channel", Default: "#general"}, {Name: "api_key", Required: true}}}
	for _, tt := range []struct {
		opts   *value.Map
		config string
		kwargs *value.Map
		want   string
	}{
		{value.NewMap(0), "", nil, "#general"},
		{value.MapOf("slack.channel", "a"), "", nil, "a"},
		{value.MapOf("slack", value.MapOf("channel", "a")), "", nil, "a"},
		{value.MapOf("slack", value.MapOf("slack.channel", "a")), "", nil, "#general"},
		{value.MapOf("returner.slack.channel", "a"), "", nil, "a"},
		{value.MapOf("slack_returner", value.MapOf("channel", "a")), "", nil, "a"},
		{value.MapOf("slack.channel", "a", "other.slack.channel", "b"), "", nil, "a"},
		{value.MapOf("slack.channel", "a", "other.slack.channel", "b"), "other", nil, "b"},
		{value.MapOf("slack.channel", "a", "other.slack", value.MapOf("channel", "b")), "other", nil, "b"},
		{value.MapOf("slack.channel", "a", "other", value.MapOf("slack", value.MapOf("channel", "b"))), "other", nil, "b"},
		{value.MapOf("slack.channel", "a", "other.returner.slack.channel", "b"), "other", nil, "b"},
		{value.MapOf("slack.channel", "a", "other.slack", value.MapOf("api_key", "b")), "other", nil, "a"},
		{value.MapOf("slack", nil), "", nil, "#general"},
		{value.MapOf("slack", "text"), "", nil, "#general"},
		{value.MapOf("slack.channel", nil), "", nil, "#general"},
		{value.MapOf("slack.channel", "a"), "", value.MapOf("channel", "c"), "c"},
	} {
		s := Settings{Spec: spec, Config: tt.config, Kwargs: tt.kwargs, Env: &fun.Env{Data: fun.Data{Opts: tt.opts}}}
		if got := s.Str("channel"); got != tt.want {
			t.Errorf("%s, configuration %q: %q, want %q", value.Repr(tt.opts), tt.config, got, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	spec := &Spec{Name: "slack", Prepare: Settings.WithProfile, Keys: Keys(`
		api_key* -- token
		username* -- name
		profile -- further settings
		port = 443 -- port
		tries# -- tries
		wait = 1.5 -- seconds
		changes = False -- only changes
		pin#! -- a secret number
	`)}
	for _, tt := range []struct {
		opts *value.Map
		want string
	}{
		{value.NewMap(0), "slack.api_key, slack.username must be configured"},
		{value.MapOf("slack", value.MapOf("api_key", "", "username", "u")), "slack.api_key must be configured"},
		{value.MapOf("slack", value.MapOf("api_key", "k", "username", "u")), ""},
		{value.MapOf("slack", value.MapOf("profile", "bot", "username", "u"), "bot", value.MapOf("slack.api_key", "k")), ""},
		{value.MapOf("slack", value.MapOf("profile", "bto")), `slack.profile: the configuration has no dict "bto"`},
		{value.MapOf("slack.port", "abc"), `slack.port must be a port, 1 to 65535, not 'abc'`},
		{value.MapOf("slack.port", int64(70000)), `slack.port must be a port, 1 to 65535, not 70000`},
		{value.MapOf("slack.port", true), `slack.port must be a port, 1 to 65535, not True`},
		{value.MapOf("slack.port", "8080", "slack.api_key", "k", "slack.username", "u"), ""},
		{value.MapOf("slack.tries", 2.5), `slack.tries must be a whole number, not 2.5`},
		{value.MapOf("slack", value.MapOf("wait", "long")), `slack.wait must be a number, not 'long'`},
		{value.MapOf("slack.changes", "false"), `slack.changes must be True or False, not 'false'`},
		{value.MapOf("slack.pin", "s3cr3t"), `slack.pin must be a whole number, not a str`},
	} {
		_, err := Settings{Spec: spec, Env: &fun.Env{Data: fun.Data{Opts: tt.opts}}}.Check()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", value.Repr(tt.opts), err, tt.want)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	got := Keys(`
		host = salt -- the server
		db = "0" -- the database
		port = 3306 -- its port
		timeout = 5.0 -- seconds
		tls = False -- whether
		subject = Email = from Salt -- it -- says so
		token*! -- a secret
		to@*! -- where

		password! = "" -- another
		ttl# -- seconds
	`)
	want := []Key{
		{Name: "host", Default: "salt", Doc: "the server"},
		{Name: "db", Default: "0", Doc: "the database"},
		{Name: "port", Default: int64(3306), Doc: "its port", Number: true},
		{Name: "timeout", Default: 5.0, Doc: "seconds"},
		{Name: "tls", Default: false, Doc: "whether"},
		{Name: "subject", Default: "Email = from Salt", Doc: "it -- says so"},
		{Name: "token", Doc: "a secret", Secret: true, Required: true},
		{Name: "to", Doc: "where", Secret: true, Required: true, Where: true},
		{Name: "password", Default: "", Doc: "another", Secret: true},
		{Name: "ttl", Doc: "seconds", Number: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestDestination(t *testing.T) {
	t.Parallel()
	spec := &Spec{Name: "x", Keys: Keys(`
		url@ = http://salt/ -- the server
		port@ -- its port
		timeout = 5 -- seconds
		hook@! -- a secret that says where
	`)}
	of := func(opts *value.Map) string {
		return value.Repr(Settings{Spec: spec, Env: &fun.Env{Data: fun.Data{Opts: opts}}}.Destination())
	}
	for _, tt := range []struct {
		opts *value.Map
		want string
	}{
		{value.NewMap(0), "{'url': 'http://salt/'}"},
		{value.MapOf("x.timeout", int64(9), "x.hook", "s3cr3t", "x.port", int64(80)), "{'url': 'http://salt/', 'port': '80'}"},
		{value.MapOf("x.url", "https://zoe:s3cr3t@db.example.org/a@b"), "{'url': 'https://db.example.org/a@b'}"},
		{value.MapOf("x.url", value.Strings("http://a:b@one", "http://a:b@two")), "{'url': \"['http://one', 'http://two']\"}"},
	} {
		if got := of(tt.opts); got != tt.want {
			t.Errorf("%s: %s, want %s", value.Repr(tt.opts), got, tt.want)
		}
	}
	spec = &Spec{Name: "y", Place: "/srv/y"}
	if got := of(value.NewMap(0)); got != "{'place': '/srv/y'}" {
		t.Errorf("a place: %s", got)
	}
}

func TestPlaceOfSettings(t *testing.T) {
	t.Parallel()
	spec := &Spec{Name: "mysql", Keys: Keys("port = 3306 -- port\ncluster.nodes -- servers\npass! -- password"), Others: []string{"pars"}}
	opts := value.MapOf("mysql.port", "abc", "mysql", value.MapOf("prot", int64(1), "charset", "utf8", "cluster", value.MapOf("nodes", "a")), "mysql.pasd", "x", "mysql.pars", "y", "sqlmy.prot", int64(2))
	opts.SetPos("mysql.port", source.Pos{File: "/etc/salt/master", Line: 3, Col: 1})
	opts.SetPos("mysql.pasd", source.Pos{File: "/etc/salt/master", Line: 4, Col: 1})
	s := Settings{Spec: spec, Env: &fun.Env{Data: fun.Data{Opts: opts}}}
	if _, err := s.Check(); err == nil || err.Error() != "/etc/salt/master:3:1: mysql.port must be a port, 1 to 65535, not 'abc'" {
		t.Errorf("Check: %v", err)
	}
	var got []string
	for _, err := range s.Misspelt() {
		got = append(got, err.Error())
	}
	want := []string{
		`the returner mysql has no setting "mysql.prot" (did you mean "mysql.port"?)`,
		`/etc/salt/master:4:1: the returner mysql has no setting "mysql.pasd" (did you mean "mysql.pass"?)`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Misspelt (-want +got):\n%s", d)
	}
}
