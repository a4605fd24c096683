// Package beacon looks at a machine and makes events of what it finds, as Salt's beacons
// do. No process waits: each [Run] looks once, and what it has to know of the one before
// is in a small file (see [Store]). Start at [Read]; [Spool] keeps events until somebody
// collects them.
package beacon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// An Event is what a beacon found: a tag that begins with salt/beacon/ID/NAME/, and data.
type Event struct {
	Tag  string
	Data *value.Map
}

// A Kind is a beacon that the configuration can name.
type Kind struct {
	Name string
	Doc  string // one line
	// keys are its options besides those of all beacons; nil: any, which check looks at.
	keys []key
	// check looks at what keys cannot say; nil: nothing.
	check func(*checking)
	// look returns the data of its events, and an error of what it could not look at:
	// there may be both. The key tag of the data becomes the end of the event's tag.
	look func(context.Context, *look) ([]*value.Map, error)
}

// A key is an option of a beacon.
type key struct {
	name     string
	required bool
	check    func(c *checking, at source.Pos, name string, v value.Value)
}

// A look is one look of a beacon.
type look struct {
	*Entry
	env   *fun.Env
	state *value.Map // what it keeps until the next look; changed in place
	first bool       // it has not looked before
}

// exec calls an execution function.
func (l *look) exec(ctx context.Context, name string, args ...value.Value) (value.Value, error) {
	v, err := l.env.Exec(ctx, name, nil, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

// Kinds returns all beacons, by name.
func Kinds() []Kind {
	return []Kind{
		btmp, certInfo, diskUsage, inotify, journald, load, logFile, memUsage, networkInfo, networkSettings, pkg, ps, service, status, swapUsage, wtmp,
	}
}

// kindOf returns a beacon; nil: there is none of this name.
func kindOf(name string) *Kind {
	all := Kinds()
	i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// Names returns the names of all beacons.
func Names() []string {
	all := Kinds()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}

// events makes events of what a beacon found.
func events(id, name string, found []*value.Map, now time.Time) []Event {
	out := make([]Event, len(found))
	for i, data := range found {
		tag := "salt/beacon/" + id + "/" + name + "/" + data.Str("tag")
		data.Delete("tag")
		if !data.Has("id") {
			data.Set("id", id)
		}
		// Two events with the same data at the same time would count as one.
		data.Set("_stamp", now.UTC().Add(time.Duration(i)*time.Microsecond).Format(event.StampFormat))
		out[i] = Event{Tag: tag, Data: data}
	}
	return out
}
