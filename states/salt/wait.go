package salt

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

const waitDoc = `Wait for an event from every ID of a list.

Events count from the start of the step. For salt/minion/*/start, which a
minion sends when it comes up, brine looks at the machines of id_list that it
reaches over SSH and posts the event itself: when a new connection finds
another boot than the one known when the step before began, however the reboot
was asked for, and even if it was over before the wait began. A machine that is
up and about to reboot is not back yet. Where no reboot is pending, a new
connection and agent count as the start, and the comment says so.

Past the timeout the step fails; the ids that are missing are named, in the
comment where brine looked at machines, else on stderr.`

type waitForEventArgs struct {
	_       fun.Arguments
	_       string                 `arg:"name,required" doc:"glob for the tag of the event"`
	IDList  fun.Opt[[]value.Value] `arg:"id_list,required,list|none" doc:"IDs to wait for"`
	EventID string                 `arg:"event_id" default:"id" doc:"key of the event data that holds the ID"`
	Timeout time.Duration          `arg:"timeout" default:"300" unit:"s" doc:"fail after this time"`
	_       string                 `arg:"node" default:"master" doc:"accepted without effect; there is one event bus"`
}

// waitForEvent waits until an event that matches came for every id.
//
// Events count from the start of the step; those of machines that start are
// posted here: see starts. Salt: salt/states/saltmod.py wait_for_event.
func waitForEvent(ctx context.Context, c *fun.Call, a *waitForEventArgs) fun.Ret {
	if !a.IDList.Given { // what a template's loop over no ids leaves
		if !value.Truth(c.Env.Opts.At("orchestrate_no_targets")) {
			return fun.Fail("id_list must be a list, not None: the SLS names no ids")
		}
		return fun.Ret{Result: fun.OK, Comment: "no targets"}
	}
	if c.Test {
		return fun.Due("Orchestration would wait for event '%s'", c.Name)
	}
	if c.Env.Bus == nil {
		return fun.Fail("There is no event bus in this run")
	}
	timeout := a.Timeout
	waiting, outside := within(ctx, c, a)
	if len(waiting) == 0 && len(outside) > 0 {
		return notRun("no id is within --limit. ", outside)
	}
	seen := value.NewList()
	start := c.Env.Host.Now()
	stoppable, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	waits, cancel := context.WithTimeout(stoppable, timeout)
	defer cancel()
	go untilClosed(ctx, waits, c, stop)
	after := c.Env.Bus.Seq()
	if m, ok := c.Env.Fleet.(fun.Masters); ok {
		m.Listen(waits)
	}
	watch := watchStarts(waits, c, a, waiting)
	defer watch.end()
	watch.warnStrangers(ctx, waiting)
	changes := func() value.Value {
		if seen.Len() == 0 {
			return nil
		}
		return value.MapOf("minions_seen", seen)
	}
	forgotten := uint64(0)
	for len(waiting) > 0 {
		e, lost, err := c.Env.Bus.Next(waits, after, func(e event.Event) bool { return value.Fnmatch(c.Name, e.Tag) })
		forgotten += lost
		if err != nil {
			watch.end()
			if stoppable.Err() != nil {
				comment := "Interrupted while waiting for event '" + c.Name + "'"
				if late := watch.lateText(waiting); late != "" {
					comment += "." + late
				}
				return fun.Ret{Changes: changes(), Comment: comment}
			}
			warnMissing(c, waiting)
			return fun.Ret{Changes: changes(), Comment: "Timeout value reached." + forgottenText(forgotten) + watch.lateText(waiting)}
		}
		after = e.Seq
		id, ok := eventID(e.Data, a.EventID)
		if !ok {
			continue
		}
		var came []value.Value
		waiting, came = arrived(waiting, id)
		seen.Append(came...)
	}
	watch.end()
	took := c.Env.Host.Now().Sub(start).Truncate(time.Microsecond)
	comment := fmt.Sprintf("All events seen in %s seconds.", value.FloatRepr(took.Seconds())) + watch.freshText()
	ret := fun.Ret{Result: fun.OK, Changes: changes(), Comment: comment}
	if len(outside) > 0 {
		ret.Comment, ret.Extra = lines(comment, outsideText(outside)), value.MapOf("outside", value.Strings(outside...))
	}
	return ret
}

// forgottenText says that events came faster than they were looked at: those that a step
// waits for may have been among them.
func forgottenText(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %d events were forgotten before this step had looked at them.", n)
}

// within returns the ids of the list whose events the step waits for, and the machines
// among them that --limit leaves out: no step does anything to them, so their events may
// never come. Ids of others are waited for.
func within(ctx context.Context, c *fun.Call, a *waitForEventArgs) (waiting []value.Value, outside []string) {
	waiting = append([]value.Value(nil), a.IDList.V...)
	f, ok := c.Env.Fleet.(fun.Limited)
	if !ok || a.EventID != "id" {
		return waiting, nil
	}
	var ids []string
	for _, v := range waiting {
		if id, isText := v.(string); isText {
			ids = append(ids, id)
		}
	}
	if _, outside = f.Cut(ids); len(outside) == 0 {
		return waiting, nil
	}
	machines, err := c.Env.Fleet.Match(ctx, value.Strings(outside...), "list")
	if err != nil {
		return waiting, nil // the wait says what it lacks
	}
	cut := map[value.Value]bool{}
	for _, id := range machines {
		cut[id] = true
	}
	return slices.DeleteFunc(waiting, func(v value.Value) bool { return cut[v] }), machines
}

// arrived takes from waiting what an event has come of: its id, or each of a
// list of ids.
func arrived(waiting []value.Value, id value.Value) (left, came []value.Value) {
	several, isList := id.(*value.List)
	for _, w := range waiting {
		same := func(v value.Value) bool { return value.Equal(w, v) }
		if isList && slices.ContainsFunc(several.Items, same) || !isList && len(came) == 0 && same(id) {
			came = append(came, w)
		} else {
			left = append(left, w)
		}
	}
	return left, came
}

// warnMissing names the ids that did not come in time.
func warnMissing(c *fun.Call, missing []value.Value) {
	names := make([]string, len(missing))
	for i, v := range missing {
		names[i] = value.Str(v)
	}
	c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("%s: no event %q came of %s", c.Low.ID, c.Name, strings.Join(names, ", "))})
}

func sorted(ids []string) []string {
	out := append([]string(nil), ids...)
	sort.Strings(out)
	return out
}

// eventID returns the id in an event's data, or in the data within it.
func eventID(data *value.Map, key string) (value.Value, bool) {
	if v := data.At(key); v != nil {
		return v, true
	}
	v := data.Map("data").At(key)
	return v, v != nil
}
