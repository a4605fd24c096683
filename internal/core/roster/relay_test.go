package roster_test

import (
	"strings"
	"testing"

	"brine/internal/core/roster"
	"brine/internal/py/value"
)

func TestRelays(t *testing.T) {
	t.Parallel()
	const text = `
b1: {host: b1}
b2: {host: b2}
b3: {host: b3, relay: b1}
here: {connection: local}
web: {host: web, relay: b1, relay_fallback: b2}
home: {host: home, relay: direct}
none: {host: none, relay: false}
bare: {host: bare, relay_fallback: direct, relay: b2}
typo: {host: typo, relay: b11}
self: {host: self, relay: self}
deep: {host: deep, relay: b3}
mine: {host: mine, relay: here}
own: {connection: local, relay: b1}
spare: {host: spare, relay: b1, relay_fallback: b9}
list: {host: list, relay: [b1]}
`
	r := load(t, files{"/r": text}, roster.Options{}, roster.Source{Kind: "flat", Path: "/r"})
	for id, want := range map[string]string{
		"b1": "/", "b2": "/", "b3": "b1/", "web": "b1/b2", "home": "/", "none": "/", "bare": "b2/direct", "here": "/",
		"typo":  `relay: there is no entry "b11" in the roster (did you mean "b1"?)`,
		"self":  "a machine cannot be its own relay",
		"deep":  "b3 is itself reached by the relay b1, and a relay behind a relay is not supported; give b3 relay: direct",
		"mine":  "here is this machine",
		"own":   "this machine itself is not reached by a relay",
		"spare": `relay_fallback: there is no entry "b9"`,
		"list":  "relay: needs text, not a list",
	} {
		e, _ := r.Get(id)
		got := e.Relay + "/" + e.RelayFallback
		if e.Err != nil {
			got = e.Err.Error()
		}
		if got != want && (e.Err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if e, _ := r.Get("typo"); e.Err != nil && !strings.Contains(e.Err.Error(), "r:10:") {
		t.Errorf("the error does not say where: %v", e.Err)
	}
}

// TestRelayDefaults: defaults hold for all but the relays themselves.
func TestRelayDefaults(t *testing.T) {
	t.Parallel()
	const text = "b1: b1\nb2: b2\nhere: {connection: local}\nweb: web\nedge: {host: edge, relay: b2}\nhome: {host: home, relay: direct}\n"
	r := load(t, files{"/r": text}, roster.Options{Defaults: value.MapOf("relay", "b1", "relay_fallback", "b2")}, roster.Source{Kind: "flat", Path: "/r"})
	for id, want := range map[string]string{"b1": "/", "b2": "/", "here": "/", "web": "b1/b2", "home": "/"} {
		if e, _ := r.Get(id); e.Err != nil || e.Relay+"/"+e.RelayFallback != want {
			t.Errorf("%s: %s/%s, want %s: %v", id, e.Relay, e.RelayFallback, want, e.Err)
		}
	}
	// Its fallback by default is the relay that it names.
	if e, _ := r.Get("edge"); e.Err != nil || e.Relay != "b2" || e.RelayFallback != "" {
		t.Errorf("edge: %s/%s: %v", e.Relay, e.RelayFallback, e.Err)
	}
}
