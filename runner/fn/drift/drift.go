// Package driftrun is the runner module "drift", which Salt does not have: which hosts
// agree with their states, by what 'brine plan --record' kept.
package driftrun

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/drift"
	"brine/internal/py/value"
)

// Exit statuses of report: those of brine plan --detailed-exitcode.
const (
	notLooked = 1 // nothing is kept, or of a host it is not known how it is now
	deviates  = 2
)

// whichArgs say which records are meant.
type whichArgs struct {
	_    fun.Arguments
	Host string `arg:"host" default:"*" doc:"only hosts with this id, a glob"`
	Plan string `arg:"plan" default:"*" doc:"only what was planned by this name, such as 'state.apply web', a glob"`
}

type reportArgs struct {
	whichArgs
	MaxAge int64 `arg:"max_age" default:"36" unit:"hours" doc:"hosts that agreed longer ago are outdated; 0: no limit"`
}

type forgetArgs struct {
	_    fun.Arguments
	Host string `arg:"host,required" doc:"id of the hosts, a glob"`
	Plan string `arg:"plan" default:"*" doc:"only what was planned by this name, a glob"`
}

type metricsArgs struct {
	_    fun.Arguments
	Path string `arg:"path,path" doc:"file to write, for the textfile collector of node_exporter; without it the text is returned"`
}

// Runners returns the rows of the runner module "drift".
func Runners() fun.Module {
	return fun.Module{Name: "drift", Kind: fun.Runner, Doc: "Report which hosts agree with their states, by the plans that were recorded.", Specs: []fun.Spec{
		{
			Name: "forget", Do: forget,
			Doc: "Remove the records of hosts, such as those that no longer exist, and return how many there were.",
		},
		{
			Name: "metrics", Do: metrics,
			Doc: "Write the records in the text format of Prometheus, or return them.",
		},
		{
			Name: "report", Lookup: true, Do: report,
			Doc: "Return when hosts last agreed with their states, and what deviates.\n" +
				"The exit status is 0 if all hosts agree, 2 if a host deviates or it is not known whether it does, and 1 if\n" +
				"a host was not reached, has no plan or is outdated, or if no host is recorded.",
		},
	}}
}

// match reports whether arguments mean a record.
func (a *whichArgs) match(plan, id string) bool {
	return value.Fnmatch(a.Host, id) && value.Fnmatch(a.Plan, plan)
}

// records returns what is kept, and how many records and files cannot be read: of
// these it warns.
func records(c *fun.Call) (subjects []*drift.Subject, unreadable int, err error) {
	subjects, faults, err := drift.New(c.Env.Host, c.Env.CacheDir).All()
	if err != nil {
		return nil, 0, fun.Errorf("the drift records cannot be read: %v", err)
	}
	for _, f := range faults {
		c.Env.Warn(fun.Warning{Text: "drift records: " + f.Error()})
	}
	for _, s := range subjects {
		if s.Damaged > 0 {
			c.Env.Warn(fun.Warning{Text: fmt.Sprintf("drift records of %s: %d are damaged, and left out", s.Name, s.Damaged)})
		}
		unreadable += s.Damaged
	}
	return subjects, unreadable + len(faults), nil
}

func report(_ context.Context, c *fun.Call, a *reportArgs) (fun.Result, error) {
	if a.MaxAge < 0 || a.MaxAge > 24*366*10 {
		return fun.Result{}, fun.Errorf("invalid max_age %d: give hours, or 0 for no limit", a.MaxAge)
	}
	subjects, unreadable, err := records(c)
	if err != nil {
		return fun.Result{}, err
	}
	now, age := c.Env.Host.Now(), time.Duration(a.MaxAge)*time.Hour
	count := map[string]int64{}
	hosts := map[string]*value.Map{}
	for _, s := range subjects {
		for i := range s.Records {
			r := &s.Records[i]
			if !a.match(s.Name, r.Host) {
				continue
			}
			count[r.At(now, age)]++
			if hosts[r.Host] == nil {
				hosts[r.Host] = value.NewMap(1)
			}
			hosts[r.Host].Set(s.Name, described(r, r.At(now, age)))
		}
	}
	res := fun.Result{Value: value.MapOf("hosts", sorted(hosts), "summary", summary(count, unreadable))}
	switch {
	case len(hosts) == 0, unreadable > 0, count[drift.Unreachable]+count[drift.NoPlan]+count[drift.Outdated] > 0:
		res.Retcode = notLooked
	case count[drift.Deviates]+count[drift.Unknown] > 0:
		res.Retcode = deviates
	}
	if len(hosts) == 0 {
		c.Env.Warn(fun.Warning{Text: "no host is recorded: 'brine plan --record' records what it finds"})
	}
	return res, nil
}

func sorted(hosts map[string]*value.Map) *value.Map {
	out := value.NewMap(len(hosts))
	for _, id := range slices.Sorted(maps.Keys(hosts)) {
		out.Set(id, hosts[id])
	}
	return out
}

// summary counts hosts by status, once for each plan.
func summary(count map[string]int64, unreadable int) *value.Map {
	out := value.NewMap(len(count))
	for _, status := range drift.Statuses() {
		if n := count[status]; n > 0 {
			out.Set(status, n)
		}
	}
	if unreadable > 0 {
		out.Set("unreadable", int64(unreadable))
	}
	return out
}

// described is a record as it is returned.
func described(r *drift.Record, status string) *value.Map {
	out := value.MapOf("status", status)
	if r.Why != "" {
		out.Set("why", r.Why)
	}
	out.Set("tried", stamp(r.Tried))
	out.Set("looked", stamp(r.Looked))
	out.Set("agreed", stamp(r.Agreed))
	if !r.Since.IsZero() {
		out.Set("since", stamp(r.Since))
	}
	if r.Looked.IsZero() {
		return out
	}
	out.Set("states", int64(r.States))
	if r.Due == 0 {
		return out
	}
	list := value.NewList()
	for _, d := range r.Deviations {
		m := value.MapOf("id", d.ID, "fun", d.Fun)
		for _, x := range [...][2]string{{"name", d.Name}, {"sls", d.SLS}, {"effect", d.Effect}, {"comment", d.Text}} {
			if x[1] != "" {
				m.Set(x[0], x[1])
			}
		}
		list.Append(m)
	}
	out.Set("deviating", int64(r.Due))
	out.Set("deviations", list)
	return out
}

// stamp is a time in UTC; "never" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

func forget(_ context.Context, c *fun.Call, a *forgetArgs) (fun.Result, error) {
	w := whichArgs{Host: a.Host, Plan: a.Plan}
	n, err := drift.New(c.Env.Host, c.Env.CacheDir).Forget(func(plan, id string) bool { return w.match(plan, id) })
	if err != nil {
		return fun.Result{}, fun.Errorf("the drift records cannot be changed: %v", err)
	}
	return fun.Value(int64(n))
}

func metrics(_ context.Context, c *fun.Call, a *metricsArgs) (fun.Result, error) {
	subjects, unreadable, err := records(c)
	if err != nil {
		return fun.Result{}, err
	}
	for _, s := range subjects {
		unreadable -= s.Damaged // Metrics counts these
	}
	var b strings.Builder
	if err := drift.Metrics(&b, subjects, unreadable); err != nil {
		return fun.Result{}, err
	}
	if a.Path == "" {
		return fun.Result{Value: b.String(), Out: "txt"}, nil
	}
	mode := fs.FileMode(0o644)
	if err := c.Env.Host.WriteFile(a.Path, strings.NewReader(b.String()), host.WriteOptions{Mode: &mode}); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(a.Path)
}
