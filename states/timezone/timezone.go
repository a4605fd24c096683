// Package timezone is Salt's state module "timezone".
package timezone

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "timezone".
func States() fun.Module {
	return fun.Module{Name: "timezone", Kind: fun.State, Doc: "Set the time zone.", Avail: fun.Needs("timezone", ""), Specs: specs}
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "system", Doc: "Set the time zone of the system.", Src: "states/timezone.py system", Do: system,
	},
}

type systemArgs struct {
	_   fun.Arguments
	_   string `arg:"name,required" doc:"name of the zone"`
	Utc bool   `arg:"utc" default:"True" doc:"the hardware clock shows UTC; False leaves it as it is"`
}

// system sets the zone and has the hardware clock show UTC.
// Salt: salt/states/timezone.py system.
func system(ctx context.Context, c *fun.Call, a *systemArgs) fun.Ret {
	name := c.Name
	same, err := c.Env.Exec(ctx, "timezone.zone_compare", nil, name)
	if err != nil {
		return fun.Fail("Unable to compare desired timezone '%s' to system timezone: %v", name, err)
	}
	shows, err := c.Env.Exec(ctx, "timezone.get_hwclock", nil)
	if err != nil {
		return fun.Fail("%v", err)
	}
	doZone, doUTC := same != true, a.Utc && (shows == "localtime" || shows == "LOCAL")
	switch {
	case !doZone && !doUTC:
		text := fmt.Sprintf("Timezone %s already set", name)
		if a.Utc {
			text += ", UTC already set to " + name
		}
		return fun.Ret{Result: fun.OK, Comment: text}
	case c.Test:
		var due []string
		if doZone {
			due = append(due, fmt.Sprintf("Timezone %s needs to be set", name))
		}
		if doUTC {
			due = append(due, "UTC needs to be set to True")
		}
		return fun.Ret{Result: fun.WouldChange, Comment: strings.Join(due, ", ")}
	}
	ret := fun.Ret{Result: fun.OK}
	changes := value.NewMap(2)
	var said []string
	if doZone {
		done, err := c.Env.Exec(ctx, "timezone.set_zone", nil, name)
		if err == nil && done == true {
			changes.Set("timezone", name)
			said = append(said, "Set timezone "+name)
		} else {
			ret.Result = fun.Failed
			said = append(said, "Failed to set timezone"+reason(done, err))
		}
	}
	if doUTC {
		done, err := c.Env.Exec(ctx, "timezone.set_hwclock", nil, "UTC")
		if err == nil && done == true {
			changes.Set("utc", true)
			said = append(said, "Set UTC to True")
		} else {
			ret.Result = fun.Failed
			said = append(said, "Failed to set UTC to True"+reason(nil, err))
		}
	}
	ret.Changes, ret.Comment = changes, strings.Join(said, ", ")
	return ret
}

// reason is why a function did not do what it should, after a colon.
func reason(v value.Value, err error) string {
	if err != nil {
		return ": " + err.Error()
	}
	if s, ok := v.(string); ok {
		return ": " + s
	}
	return ""
}
