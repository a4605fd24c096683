package salt

import (
	"context"
	"fmt"
	"time"

	"brine/internal/event"
	"brine/internal/fun"
	"brine/internal/value"
)

// waitForEvent waits until an event that matches came for every id.
//
// Events count from the start of the step. Salt: salt/states/saltmod.py
// wait_for_event.
func waitForEvent(ctx context.Context, c *fun.Call) fun.Ret {
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: fmt.Sprintf("Orchestration would wait for event '%s'", c.Name)}
	}
	if c.Env.Bus == nil {
		return fun.Fail("There is no event bus in this run")
	}
	waiting := append([]value.Value(nil), c.List("id_list")...)
	seen := value.NewList()
	start := c.Env.Host.Now()
	limit := seconds(c.Value("timeout"))
	wait, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	after := c.Env.Bus.Seq()
	changes := func() value.Value {
		if seen.Len() == 0 {
			return nil
		}
		return value.MapOf("minions_seen", seen)
	}
	for len(waiting) > 0 {
		e, _, err := c.Env.Bus.Next(wait, after, func(e event.Event) bool { return value.Fnmatch(c.Name, e.Tag) })
		if err != nil {
			if ctx.Err() != nil {
				return fun.Ret{Changes: changes(), Comment: "Interrupted while waiting for event '" + c.Name + "'"}
			}
			return fun.Ret{Changes: changes(), Comment: "Timeout value reached."}
		}
		after = e.Seq
		id, ok := eventID(e.Data, c.Str("event_id"))
		if !ok {
			continue
		}
		for i, w := range waiting {
			if value.Equal(w, id) {
				waiting = append(waiting[:i:i], waiting[i+1:]...)
				seen.Append(id)
				break
			}
		}
	}
	took := c.Env.Host.Now().Sub(start).Truncate(time.Microsecond)
	return fun.Ret{Result: fun.OK, Changes: changes(), Comment: fmt.Sprintf("All events seen in %s seconds.", value.FloatRepr(took.Seconds()))}
}

// eventID returns the id in an event's data, or in the data within it.
func eventID(data *value.Map, key string) (value.Value, bool) {
	if v := data.At(key); v != nil {
		return v, true
	}
	v := data.Map("data").At(key)
	return v, v != nil
}
