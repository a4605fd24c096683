package firewalld

import (
	"context"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A planned is firewalld in a plan: what it says, and on top of that what was changed since.
type planned struct {
	mu    sync.Mutex
	made  map[string]bool // new zones and services, as the option that names one
	edits []edit
	zone  string // the default one; "": as it is
}

// An edit is one of a list of a zone or service: what is "port", "rich-rule" and so on.
type edit struct {
	scope, verb, what, item string
}

// leaves has an overlay have the zones and services that a state leaves.
func leaves(ctx context.Context, c *fun.Call, o *host.Overlay) error {
	if err := o.Simulate("firewalld", func(host.Host) (map[string]host.Simulation, error) {
		r := &planned{made: map[string]bool{}}
		return map[string]host.Simulation{"firewall-cmd": r.run}, nil
	}); err != nil {
		return err
	}
	c.Test = false
	switch ret := c.Spec.State(ctx, c); {
	case ret.Err != nil:
		return ret.Err
	case ret.Result != fun.OK:
		return &fun.TrialError{Comment: value.Str(ret.Comment)}
	}
	return nil
}

// run answers for firewall-cmd with the options that states use.
func (r *planned) run(ctx context.Context, h host.Host, c host.Cmd) (host.Output, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	scope, option := "", ""
	for _, w := range c.Argv[1:] {
		switch {
		case strings.HasPrefix(w, "--zone="), strings.HasPrefix(w, "--service="):
			scope = w
		case w != "--permanent":
			option = w
		}
	}
	name, item, _ := strings.Cut(strings.TrimPrefix(option, "--"), "=")
	verb, what, _ := strings.Cut(name, "-")
	done := host.Output{Stdout: []byte("success\n")}
	switch verb {
	case "reload":
		return done, nil
	case "new":
		r.made["--"+what+"="+item] = true
		return done, nil
	case "set":
		if what != "default-zone" {
			break
		}
		r.zone = item
		return done, nil
	case "add", "remove", "change":
		r.edits = append(r.edits, edit{scope, verb, what, item})
		return done, nil
	case "get", "list":
		return r.look(ctx, h, c, scope, what)
	}
	return host.Output{}, fun.Errorf("firewall-cmd %s is not known in a plan", option)
}

// look answers for what only looks.
func (r *planned) look(ctx context.Context, h host.Host, c host.Cmd, scope, what string) (host.Output, error) {
	var out host.Output
	if !r.made[scope] {
		var err error
		if out, err = h.Run(ctx, c); err != nil || out.Status != 0 {
			return out, err
		}
	}
	var have []string
	if what == "rich-rules" || what == "forward-ports" || what == "all" {
		have = value.SplitLines(string(out.Stdout), false)
	} else {
		have = strings.Fields(string(out.Stdout))
	}
	switch {
	case what == "default-zone" && r.zone != "":
		have = []string{r.zone}
	case what == "zones" || what == "services" && scope == "":
		for made := range r.made {
			if name, ok := strings.CutPrefix(made, "--"+strings.TrimSuffix(what, "s")+"="); ok {
				have = append(have, name)
			}
		}
	case what == "all":
		for _, e := range r.edits {
			if e.scope == scope && e.what == "masquerade" {
				have = slices.DeleteFunc(have, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "masquerade:") })
				have = append(have, "  masquerade: "+map[bool]string{true: "yes", false: "no"}[e.verb == "add"])
			}
		}
	default:
		have = r.edited(have, scope, what)
	}
	out.Stdout = []byte(strings.Join(have, "\n") + "\n")
	return out, nil
}

// edited returns a list with what was changed of it.
func (r *planned) edited(have []string, scope, what string) []string {
	for _, e := range r.edits {
		if e.what+"s" != what {
			continue
		}
		is := func(s string) bool { return s == e.item }
		switch {
		case e.verb == "change" && e.scope != scope: // it is in one zone alone
			have = slices.DeleteFunc(have, is)
		case e.scope != scope:
		case e.verb == "remove":
			have = slices.DeleteFunc(have, is)
		case !slices.ContainsFunc(have, is):
			have = append(have, e.item)
		}
	}
	return have
}
