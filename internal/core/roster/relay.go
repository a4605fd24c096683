package roster

import (
	"errors"
	"fmt"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Direct is the word for no relay, as relay and as relay_fallback.
const Direct = "direct"

// relayName reads the name of a relay; False is none.
func relayName(v value.Value) (string, error) {
	if v == false {
		return Direct, nil
	}
	return text(v)
}

// relays checks which relays the entries name. A machine that others name as
// theirs has none by the defaults: roster_defaults hold for it, too.
func (l *loader) relays() {
	relay := map[string]bool{}
	for _, e := range l.r.entries {
		if e.Relay == "" || e.Relay == Direct {
			continue
		}
		relay[e.Relay] = true
		if e.RelayFallback != Direct {
			relay[e.RelayFallback] = true
		}
	}
	for _, e := range l.r.entries {
		inherits := !e.ownRelay && (relay[e.ID] || e.Connection == Local)
		if inherits || e.Relay == Direct || e.Relay == "" {
			e.Relay, e.RelayFallback = "", ""
		}
		if e.RelayFallback == e.Relay {
			e.RelayFallback = "" // nothing else to try
		}
	}
	for _, e := range l.r.entries {
		if e.Relay == "" {
			continue
		}
		at := e.relayAt
		if !e.ownRelay {
			at = e.Pos
		}
		if err := l.relay(e, e.Relay); err != nil {
			e.fail(at, fmt.Errorf("relay: %w", err))
		}
		if f := e.RelayFallback; f != "" && f != Direct {
			if err := l.relay(e, f); err != nil {
				e.fail(at, fmt.Errorf("relay_fallback: %w", err))
			}
		}
	}
}

// relay says why an entry cannot be reached by the machine of another one.
func (l *loader) relay(e *Entry, name string) error {
	r, ok := l.r.index[name]
	switch {
	case e.Connection == Local:
		return errors.New("this machine itself is not reached by a relay")
	case name == e.ID:
		return errors.New("a machine cannot be its own relay; leave it out, or write relay: direct")
	case !ok:
		return l.noRelay(name)
	case r.Connection == Local:
		return fmt.Errorf("%s is this machine, and a relay is another one; leave it out, or write relay: direct", name)
	case r.Relay != "":
		return fmt.Errorf("%s is itself reached by the relay %s, and a relay behind a relay is not supported; give %s relay: direct, or a ProxyJump in ssh_config", name, r.Relay, name)
	}
	return nil
}

// noRelay says that a relay is not in the roster. The search for what may be meant
// is made once for all entries that name it.
func (l *loader) noRelay(name string) error {
	if err, ok := l.unknownRelays[name]; ok {
		return err
	}
	names := []string{Direct}
	for _, x := range l.r.entries {
		names = append(names, x.ID)
	}
	err := fmt.Errorf("there is no entry %q in the roster%s; a relay is an entry of the roster", name, source.DidYouMean(name, names))
	if l.unknownRelays == nil {
		l.unknownRelays = map[string]error{}
	}
	l.unknownRelays[name] = err
	return err
}
