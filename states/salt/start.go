package salt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A minion says by the event salt/minion/ID/start that it has come up. Where
// there is no minion, the step that waits for such events looks at the machines
// itself and posts the event of each that has started.

// startTag is the tag of the event of a minion that starts.
func startTag(id string) string { return "salt/minion/" + id + "/start" }

// startData is the data of that event. Salt: salt/minion.py
// _fire_master_minion_start, _fire_master.
func startData(id string, at time.Time) *value.Map {
	return value.MapOf(
		"id", id, "cmd", "_minion_event", "pretag", nil,
		"data", "Minion "+id+" started at "+at.Local().Format("Mon Jan _2 15:04:05 2006"), "tag", startTag(id),
	)
}

// starts watches the machines whose start a step waits for.
type starts struct {
	a *waitForEventArgs
	c *fun.Call

	mu    sync.Mutex
	fresh []string // those that were not rebooted
	late  map[string]string
	done  chan struct{}
	stop  context.CancelFunc
}

// watchStarts begins to look at the machines of the fleet whose start is an
// event that the step waits for; nil where there are none.
//
// A tag that names the start takes a new connection to a machine that is not
// about to reboot for its start; one that other events have, too, does not.
func watchStarts(ctx context.Context, c *fun.Call, a *waitForEventArgs, waiting []value.Value) *starts {
	fleet, ok := c.Env.Fleet.(fun.Starter)
	if !ok {
		return nil
	}
	w := fun.StartWait{IDs: startIDs(c, a, waiting), Fresh: strings.HasSuffix(c.Name, "start"), Step: c.Low.ID}
	if len(w.IDs) > 0 {
		w.IDs = fleet.Watched(ctx, w)
	}
	if len(w.IDs) == 0 {
		return nil
	}
	s := &starts{c: c, a: a, late: map[string]string{}, done: make(chan struct{})}
	ctx, s.stop = context.WithCancel(ctx)
	go func() {
		defer close(s.done)
		late := fleet.Starts(ctx, w, func(st fun.Start) {
			if !st.Rebooted {
				s.mu.Lock()
				s.fresh = append(s.fresh, st.ID)
				s.mu.Unlock()
			}
			c.Env.Bus.Fire(startTag(st.ID), startData(st.ID, c.Env.Host.Now()))
		})
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, l := range late {
			s.late[l.ID] = l.Why
		}
	}()
	return s
}

// startIDs returns the machines whose start event the step waits for, whatever
// of its data is the id that it looks at.
func startIDs(c *fun.Call, a *waitForEventArgs, waiting []value.Value) []string {
	wanted := map[string]bool{}
	for _, w := range waiting {
		if s, ok := w.(string); ok {
			wanted[s] = true
		}
	}
	all := make([]string, 0, len(waiting))
	key := a.EventID
	if key == "id" {
		for s := range wanted {
			all = append(all, s)
		}
	} else if ids, err := c.Env.Fleet.Match(context.Background(), "*", "glob"); err == nil {
		all = ids
	}
	var out []string
	for _, id := range all {
		if !value.Fnmatch(c.Name, startTag(id)) {
			continue
		}
		v, ok := eventID(startData(id, time.Time{}), key)
		if s, isStr := v.(string); ok && isStr && wanted[s] {
			out = append(out, id)
		}
	}
	return out
}

// end ends the watch and waits for it.
func (s *starts) end() {
	if s != nil {
		s.stop()
		<-s.done
	}
}

// freshText says which machines were not rebooted, "" where all were. The watch
// is over.
func (s *starts) freshText() string {
	if s == nil || len(s.fresh) == 0 {
		return ""
	}
	return fmt.Sprintf(" No reboot was pending on %s: a new connection counts as the start.", strings.Join(sorted(s.fresh), ", "))
}

// lateText names the ids that are missing, and what is known of each. The watch
// is over.
func (s *starts) lateText(missing []value.Value) string {
	if s == nil || len(missing) == 0 {
		return ""
	}
	parts := make([]string, len(missing))
	for i, v := range missing {
		parts[i] = value.Str(v)
		if why := s.late[parts[i]]; why != "" {
			parts[i] += " (" + why + ")"
		}
	}
	return " Missing: " + strings.Join(parts, ", ") + "."
}

// warnStrangers says which ids no machine of the fleet has: nobody posts their
// start.
func (s *starts) warnStrangers(ctx context.Context, waiting []value.Value) {
	if s == nil || s.a.EventID != "id" {
		return
	}
	ids, err := s.c.Env.Fleet.Match(ctx, "*", "glob")
	if err != nil {
		return
	}
	known := map[value.Value]bool{}
	for _, id := range ids {
		known[id] = true
	}
	for _, w := range waiting {
		if id, ok := w.(string); ok && !known[id] {
			s.c.Env.Warn(fun.Warning{
				Where: s.c.Low.Pos.String(),
				Text:  fmt.Sprintf("%s: %q of id_list is not in the roster, so its start must be told by something else%s", s.c.Low.ID, id, source.DidYouMean(id, ids)),
			})
		}
	}
}

// errInterrupted is why a wait ends when the run is to start nothing new.
var errInterrupted = errors.New("interrupted")

// untilClosed ends a wait when the gate of the run closes: an event is not a
// return on its way. The end of wait is none of the run, whose context is ctx.
func untilClosed(ctx, wait context.Context, c *fun.Call, cancel context.CancelCauseFunc) {
	if c.Env.OnStart == nil {
		return
	}
	t := time.NewTicker(100 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-wait.Done():
			return
		case <-t.C:
			if !c.Env.MayStart(ctx, nil) {
				cancel(errInterrupted)
				return
			}
		}
	}
}
