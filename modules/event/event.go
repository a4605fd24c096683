// Package event is Salt's execution module "event".
package event

import (
	"context"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Module returns the execution module "event".
func Module() fun.Module {
	return fun.Module{Name: "event", Kind: fun.Exec, Doc: "Send events to this run, and to other brine runs of this user.", Specs: specs}
}

type fireLocalArgs struct {
	Data *value.Map `arg:"data,required,any" doc:"the data, a mapping"`
	tagArg
	_ time.Duration `arg:"timeout" unit:"s" doc:"accepted; an event does not wait"`
}

func fireLocal(_ context.Context, c *fun.Call, a *fireLocalArgs) (fun.Result, error) {
	data := a.Data
	if c.Env.Bus == nil || data == nil { // Salt: fire_event raises, which is False here
		return fun.Value(false)
	}
	c.Env.Bus.Fire(a.Tag, data.Copy())
	return fun.Value(true)
}

func dict(v value.Value) *value.Map {
	if m, ok := v.(value.Mapping); ok {
		return value.ToMap(m).Copy()
	}
	if v == nil {
		return value.NewMap(0)
	}
	return value.MapOf("data", v)
}

// envelope is an event as it reaches a master: the data within the minion's
// load. Salt: salt/master.py _minion_event.
func envelope(c *fun.Call, tag string, data, preload *value.Map) *value.Map {
	m := value.MapOf("id", c.Env.ID, "tag", tag, "data", data, "cmd", "_minion_event")
	if preload != nil {
		m.Update(preload)
	}
	return m
}

type fireMasterArgs struct {
	Data value.Value `arg:"data,required" doc:"the data, a mapping"`
	tagArg
	preloadArg
}

func fireMaster(ctx context.Context, c *fun.Call, a *fireMasterArgs) (fun.Result, error) {
	return publish(ctx, c, a.Tag, dict(a.Data), a.Preload)
}

// publish puts an event on the bus of this run and hands it to the other runs
// of this user. As in Salt it is False where there is no controller to send to:
// a masterless run that is not an orchestration, and that no other run listens to.
func publish(ctx context.Context, c *fun.Call, tag string, data, preload *value.Map) (fun.Result, error) {
	if c.Env.Post != nil { // the controller makes the rest of it
		if preload.Len() > 0 {
			return fun.Result{}, fun.Errorf("preload cannot be sent with event_api: the controller says who an event is of; put the keys into data")
		}
		if err := c.Env.Post(ctx, tag, data); err != nil {
			return fun.Result{}, fun.Errorf("%v", err)
		}
		return fun.Value(true)
	}
	if c.Env.Bus == nil {
		return fun.Value(false)
	}
	load := envelope(c, tag, data, preload)
	c.Env.Bus.Fire(tag, load)
	runs := 0
	if c.Env.Peers != nil {
		took := c.Env.Peers.Send(tag, load)
		runs = took.Runs
		if c.Env.Run == nil {
			c.Env.Note("event %s: taken by %s", tag, took)
		}
	}
	return fun.Value(runs > 0 || !masterless(c.Env))
}

// masterless reports whether a run stands alone: a call on this machine that
// is neither a step nor an orchestration. Targets of a controller send to it.
// Salt: salt/modules/event.py fire_master.
func masterless(e *fun.Env) bool {
	return e.Opts.Str("__cli") == "salt-call" && e.Opts.Str("file_client") == "local" &&
		!value.Truth(e.Opts.At("use_master_when_local")) && e.OrchJID == "" && e.Journal == nil
}

type sendArgs struct {
	tagArg
	Data value.Value `arg:"data" doc:"the data, a mapping"`
	preloadArg
	WithEnv     value.Value `arg:"with_env,bool|list[str]" default:"False" doc:"add environment variables: True for all, or a list of names"`
	WithGrains  value.Value `arg:"with_grains,bool|list[str]" default:"False" doc:"add grains: True for all, or a list of names"`
	WithPillar  value.Value `arg:"with_pillar,bool|list[str]" default:"False" doc:"add pillar: True for all, or a list of keys"`
	WithEnvOpts bool        `arg:"with_env_opts" default:"False" doc:"add the options saltenv and pillarenv"`
	_           bool        `arg:"show_changed" default:"True" doc:"accepted"`
	_           bool        `arg:"changed" default:"False" doc:"accepted"`
	Rest        fun.Kwargs
}

// send sends an event with extra data. Salt: salt/modules/event.py send.
func send(ctx context.Context, c *fun.Call, a *sendArgs) (fun.Result, error) {
	data := value.NewMap(4)
	if v, on := pick(a.WithEnv); on {
		env := value.NewMap(8)
		for _, kv := range c.Env.Host.Environ() {
			for i := range len(kv) {
				if kv[i] == '=' {
					if v == nil || v[kv[:i]] {
						env.Set(kv[:i], kv[i+1:])
					}
					break
				}
			}
		}
		data.Set("environ", env)
	}
	if v, on := pick(a.WithGrains); on {
		data.Set("grains", selected(c.Env.SubjectGrains(), v))
	}
	if v, on := pick(a.WithPillar); on {
		data.Set("pillar", selected(c.Env.Pillar, v))
	}
	if a.WithEnvOpts {
		saltenv, ok := c.Env.Opts.Get("saltenv")
		if !ok {
			saltenv = "base"
		}
		data.Set("saltenv", saltenv)
		data.Set("pillarenv", c.Env.Opts.At("pillarenv"))
	}
	for k, v := range a.Rest.All() {
		if s := value.Str(k); len(s) < 2 || s[:2] != "__" {
			data.Set(k, v)
		}
	}
	if m := fun.MapOf(a.Data); m != nil {
		data.Update(m)
	} else if v := a.Data; v != nil {
		data.Set("data", v)
	}
	return publish(ctx, c, a.Tag, data, a.Preload)
}

// pick reads True or a list of names; nil names are all.
func pick(v value.Value) (names map[string]bool, on bool) {
	if l, ok := v.(*value.List); ok {
		names = map[string]bool{}
		for _, x := range l.Items {
			names[value.Str(x)] = true
		}
		return names, true
	}
	return nil, value.Truth(v)
}

func selected(m value.Mapping, names map[string]bool) *value.Map {
	out := value.NewMap(8)
	for _, k := range m.Keys() {
		if names == nil || names[value.Str(k)] {
			v, _ := m.Get(k)
			out.Set(k, v)
		}
	}
	return out
}
