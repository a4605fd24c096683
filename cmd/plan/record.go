package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/cmd/app"
	"brine/cmd/session"
	"brine/internal/core/printable"
	"brine/internal/fleet/drift"
	"brine/internal/fleet/notify"
	"brine/internal/view/plan"
)

// meaning are flags that say which states a host has.
const meaning = "saltenv pillarenv file-root pillar-root"

// subject is what drift records call a command: the same for all targets of a function,
// since it is about the states of each.
func subject(c plan.Command) string {
	words := slices.Clone(c.Args)
	if c.HasSteps() {
		words = append([]string{c.Kind}, words...)
	}
	for _, f := range c.Flags {
		if slices.Contains(strings.Fields(meaning), f.Name) {
			words = append(words, "--"+f.Name+"="+f.Value)
		}
	}
	return strings.Join(words, " ")
}

// A sight is what a plan found on a host, as far as its steps were gone through.
type sight struct{ drift.Seen }

// weights are the statuses of a host, the one that another takes precedence of first.
var weights = []string{drift.Agrees, drift.Unknown, drift.Deviates, drift.NoPlan, drift.Unreachable}

// worse gives a host a status, unless it has one that takes precedence.
func (x *sight) worse(status, why string) {
	if slices.Index(weights, status) > slices.Index(weights, x.Status) {
		x.Status, x.Why = status, why
	}
}

// take adds the states of a group that the host is in.
func (x *sight) take(g *plan.Group) {
	x.States += len(g.States) + g.Same
	for _, st := range g.States {
		status := drift.Deviates
		if st.Effect == plan.MayFail || st.Effect == plan.Unknown {
			status = drift.Unknown
		}
		x.worse(status, "")
		x.Due = append(x.Due, drift.Deviation{ID: st.ID, Fun: st.Fun, Name: st.Name, SLS: st.SLS, Effect: st.Effect, Text: oneLine(cmp.Or(st.Unknown, st.Comment))})
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// seen returns what a plan found on its hosts. Functions that steps call are not
// states, and do not count; neither do steps with onfail. A host agrees only if all of
// its states were looked at.
func seen(p *plan.Plan) []drift.Seen {
	var order []*sight
	found := map[string]*sight{}
	of := func(id string) *sight {
		if found[id] == nil {
			found[id] = &sight{drift.Seen{Host: id, Status: drift.Agrees}}
			order = append(order, found[id])
		}
		return found[id]
	}
	unplanned := "" // a step of which it is not known on which hosts it has states
	plan.Walk(p.Steps, func(s *plan.Step) bool {
		if s.Fun == "salt.state" && s.Unknown != "" && s.Unknown != failUnknown {
			for _, id := range s.Targets {
				of(id).worse(drift.Unknown, "step "+s.ID+": "+s.Unknown)
			}
		}
		for _, g := range s.Groups {
			for _, id := range g.Hosts {
				of(id).take(g)
			}
		}
		for _, f := range s.Faults {
			switch {
			case f.Unmatched:
			case f.Unreached:
				of(f.Host).worse(drift.Unreachable, oneLine(f.Reason))
			case slices.Contains(s.Targets, f.Host):
				of(f.Host).worse(drift.NoPlan, oneLine(f.Reason))
			default:
				unplanned = "step " + s.ID + " has no plan: " + oneLine(f.Reason)
			}
		}
		return true
	})
	out := make([]drift.Seen, 0, len(order))
	for _, x := range order {
		if unplanned != "" {
			x.worse(drift.Unknown, unplanned)
		}
		if x.States == 0 {
			x.worse(drift.Unknown, "it has no states in this plan")
		}
		out = append(out, x.Seen)
	}
	return out
}

// record keeps what a plan found on its hosts, without secrets.
func (pl *planner) record(ctx context.Context, s *session.Session) error {
	all := seen(pl.p)
	mask := s.Secrets.AnyText
	for i := range all {
		x := &all[i]
		x.Why = mask(x.Why)
		for k, d := range x.Due {
			x.Due[k] = drift.Deviation{ID: mask(d.ID), Fun: mask(d.Fun), Name: mask(d.Name), SLS: mask(d.SLS), Effect: d.Effect, Text: mask(d.Text)}
		}
	}
	warn := func(text string) { fmt.Fprintln(s.App.Err, "brine: "+printable.Line(text)) }
	name, st := mask(subject(pl.p.Command)), drift.New(s.App.Host, s.Cfg.CacheDir)
	var before []*drift.Subject
	notifies := s.Cfg.Opts.At(notify.Option) != nil
	if notifies {
		before, _, _ = st.All() // of what cannot be read, Put warns
	}
	if err := st.Put(name, pl.p.Made, all, warn); err != nil {
		return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("--record: the plan was not recorded: %w", err)}
	}
	if !notifies {
		return nil
	}
	return notifyDrift(ctx, s, name, newlyDeviating(before, name, all))
}

// newlyDeviating are the hosts that deviate and did not when they were looked at before.
func newlyDeviating(before []*drift.Subject, name string, all []drift.Seen) (out []drift.Seen) {
	known := map[string]bool{}
	for _, sub := range before {
		if sub.Name != name {
			continue
		}
		for _, r := range sub.Records {
			known[r.Host] = r.Status == drift.Deviates
		}
	}
	for _, x := range all {
		if x.Status == drift.Deviates && !known[x.Host] {
			out = append(out, x)
		}
	}
	return out
}

// maxNamed is how many hosts a notification names.
const maxNamed = 10

// notifyDrift tells which hosts begin to deviate.
func notifyDrift(ctx context.Context, s *session.Session, name string, hosts []drift.Seen) error {
	if len(hosts) == 0 {
		return nil
	}
	var texts []string
	for _, x := range hosts[:min(len(hosts), maxNamed)] {
		text := x.Host
		if len(x.Due) > 0 {
			text += fmt.Sprintf(": %s (%s)", x.Due[0].ID, x.Due[0].Fun)
		}
		if n := len(x.Due) - 1; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		texts = append(texts, text)
	}
	if n := len(hosts) - maxNamed; n > 0 {
		texts = append(texts, fmt.Sprintf("and %d more hosts", n))
	}
	env := s.Env(ctx, "")
	return s.Notify(env, notify.Message{
		Event: notify.Drift, Kind: "plan", Name: name, User: s.UserName(), Controller: env.ID, Status: drift.Deviates, Cause: strings.Join(texts, "; "),
		Ended: s.App.Host.Now().UTC(), Hosts: len(hosts),
	})
}
