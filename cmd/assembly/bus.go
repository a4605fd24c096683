//go:build !slim

package assembly

import (
	"context"
	"fmt"

	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/returner"
	"brine/internal/returner/sqldb"
	"brine/internal/value"
)

// OpenBus opens the bus between controllers that the option event_bus names; nil
// where there is none. The error is one of configuration.
func OpenBus(ctx context.Context, env *fun.Env, o sqldb.BusOptions) (*sqldb.Bus, error) {
	var set returner.Settings
	var name string
	switch v := env.Opts.At("event_bus").(type) {
	case nil:
		return nil, nil
	case string:
		name = v
	case *value.Map:
		set.Kwargs = v.Copy()
		name = v.Str("store")
		switch tags := v.At("tags").(type) {
		case nil:
		case string:
			o.Tags = jobs.Names(tags)
		case *value.List:
			for _, t := range tags.Items {
				o.Tags = append(o.Tags, value.Str(t))
			}
		default:
			return nil, fmt.Errorf("event_bus: tags: %s is not a list of globs", value.Repr(tags))
		}
		set.Kwargs.Delete("store")
		set.Kwargs.Delete("tags")
	default:
		return nil, fmt.Errorf("event_bus: %s is neither postgres nor a mapping such as {store: postgres, host: db1}", value.Repr(v))
	}
	if name == "" {
		name = "postgres"
	}
	if name != "postgres" && name != "pgjsonb" {
		return nil, fmt.Errorf("event_bus: %q is neither postgres nor pgjsonb", name)
	}
	if err := UnknownSettings("event_bus", []string{name}, set.Kwargs); err != nil {
		return nil, err
	}
	checked, err := CheckSettings(ctx, env, name, set)
	if err != nil {
		return nil, fmt.Errorf("event_bus: %w", err)
	}
	return sqldb.OpenBus(ctx, checked, o)
}
