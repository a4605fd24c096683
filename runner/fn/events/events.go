// Package events has Salt's runner functions about events: state.event and
// event.send.
package events

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/jmespath"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
)

// A Log keeps events. Read calls each with those since a time, in their order, until each
// returns false.
type Log struct {
	Name string
	Read func(ctx context.Context, since time.Time, each func(event.Event) bool) error
	// Now is the time by the clock of a stream, which decides what since means.
	Now func(context.Context) (time.Time, error)
}

// An OpenLog returns the log of the events of before; the error says why there is none.
type OpenLog func(ctx context.Context, env *fun.Env) (Log, error)

// StateSpecs are the rows that the runner module "state" has from here.
func StateSpecs(open OpenLog) []fun.Spec {
	return []fun.Spec{{
		Name: "event", Src: "runners/state.py event",
		Do: func(ctx context.Context, c *fun.Call, a *watchArgs) (fun.Result, error) {
			return watch(ctx, c, a, open)
		},
		Doc: "Print the events of brine runs, one per line: the tag, a tab and the data as JSON.\nIt shows current and future runs of this user on this machine, and with since also what a log of events has.",
	}}
}

// Runners returns the rows of the runner module "event".
func Runners() fun.Module {
	return fun.Module{Name: "event", Kind: fun.Runner, Doc: "Send events.", Specs: eventSpecs}
}

type sendArgs struct {
	Tag  string      `arg:"tag,required" doc:"tag of the event"`
	Data value.Value `arg:"data" doc:"data of the event, usually a mapping"`
	Rest fun.Kwargs
}

// send fires an event as it is. Salt: salt/runners/event.py send.
func send(_ context.Context, c *fun.Call, a *sendArgs) (fun.Result, error) {
	data := value.NewMap(4)
	switch v := a.Data.(type) {
	case nil:
	case *value.Map:
		data = v.Copy()
	default:
		data.Set("data", v)
	}
	for k, v := range a.Rest.All() {
		if s := value.Str(k); len(s) < 2 || s[:2] != "__" {
			data.Set(k, v)
		}
	}
	if c.Env.Bus == nil {
		return fun.Value(false)
	}
	c.Env.Bus.Fire(a.Tag, data)
	if c.Env.Peers != nil {
		c.Env.Note("event %s: taken by %s", a.Tag, c.Env.Peers.Send(a.Tag, data))
	}
	return fun.Value(true)
}

// A source of events: event.Peers.
type source interface {
	Watch(ctx context.Context, ready func(), each func(event.Event) bool) error
	Runs() int
}

type watchArgs struct {
	_        fun.Arguments
	Tagmatch string        `arg:"tagmatch" default:"*" doc:"glob or regular expression of the tags to print"`
	Count    int64         `arg:"count" default:"-1" doc:"stop after this many events; -1 continues until Ctrl-C"`
	Quiet    bool          `arg:"quiet" default:"False" doc:"wait without printing anything"`
	_        string        `arg:"sock_dir,path" doc:"accepted without effect; every user has their own sockets"`
	Pretty   bool          `arg:"pretty" default:"False" doc:"print indented data with sorted keys"`
	_        string        `arg:"node" default:"master" doc:"accepted without effect; there is one event bus"`
	Timeout  time.Duration `arg:"timeout" unit:"s" doc:"fail if the events do not arrive within this time"`
	Query    string        `arg:"query" doc:"JMESPath expression on tag and data: only events for which it is true"`
	Since    string        `arg:"since" doc:"first print the events of a log since this jid, time (UTC, such as '2026-11-20 14:00') or duration (15m)"`
	Follow   bool          `arg:"follow" default:"True" doc:"with since: go on with the events that come; False ends after those of the log"`
}

// watch prints events. Salt: salt/modules/state.py event.
func watch(ctx context.Context, c *fun.Call, a *watchArgs, open OpenLog) (fun.Result, error) {
	from, ok := c.Env.Peers.(source)
	if !ok {
		return fun.Result{}, fun.Errorf("the events of other processes cannot be seen here")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timedOut := errors.New("timed out")
	limit := a.Timeout
	left := a.Count
	if limit > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeoutCause(ctx, limit, timedOut)
		defer done()
	}
	go until(ctx, c.Env.OnStart, cancel)
	wanted, err := filter(a.Query)
	if err != nil {
		return fun.Result{}, err
	}
	p, err := newPast(ctx, c, a, open)
	if err != nil {
		return fun.Result{}, err
	}
	pretty, quiet, pat := a.Pretty, a.Quiet, a.Tagmatch
	lines := c.Env.Opts.Str("output") == "ndjson"
	var mu sync.Mutex // events of this machine and those of others come at once
	show := func(e event.Event) bool {
		mu.Lock()
		defer mu.Unlock()
		if ok, _ := pyre.Expr(pat, e.Tag); !ok || left == 0 || !wanted(e) {
			return left != 0
		}
		switch {
		case quiet:
		case lines:
			c.Env.Print(printable.Text(encoded(value.MapOf("tag", e.Tag, "data", e.Data), false)))
		default:
			c.Env.Print(line(e, pretty))
		}
		left--
		return left != 0
	}
	if left == 0 {
		return fun.Result{Out: "quiet"}, nil
	}
	if p != nil && !a.Follow {
		c.Env.Note("events %s of %s since %s", pat, p.log.Name, p.since.Format(time.RFC3339))
		if err := p.log.Read(ctx, p.since, show); err != nil && ctx.Err() == nil {
			return fun.Result{}, fun.Errorf("%s: %v", p.log.Name, err)
		}
		return ended(ctx, timedOut, left, limit)
	}
	var wg sync.WaitGroup
	if c.Env.Bus != nil {
		wg.Go(func() { remote(ctx, c.Env, p.live(show), cancel) })
	}
	err = from.Watch(ctx, func() {
		c.Env.Note("listening for events %s of this user's runs (%d now)", pat, from.Runs())
		if p != nil {
			c.Env.Note("before them, those of %s since %s", p.log.Name, p.since.Format(time.RFC3339))
			wg.Go(func() {
				if !p.read(ctx, c, show) {
					cancel()
				}
			})
		}
	}, p.live(show))
	res, terr := ended(ctx, timedOut, left, limit)
	if err != nil && ctx.Err() == nil {
		terr = err
	}
	cancel()
	wg.Wait()
	if perr := p.failed(); perr != nil {
		return fun.Result{}, perr
	}
	return res, terr
}

// ended is how a watch ended: with an error if there was not enough when its time had passed.
func ended(ctx context.Context, timedOut error, left int64, limit time.Duration) (fun.Result, error) {
	if errors.Is(context.Cause(ctx), timedOut) && left > 0 {
		return fun.Result{Out: "quiet", Retcode: 1}, fun.Errorf("%d more events were waited for when %s had passed", left, limit)
	}
	return fun.Result{Out: "quiet"}, nil
}

// remote shows the events that came from other controllers, until ctx ends or show
// has enough, which it cancels for.
func remote(ctx context.Context, env *fun.Env, show func(event.Event) bool, cancel func()) {
	for after := env.Bus.Seq(); ; {
		e, lost, err := env.Bus.Next(ctx, after, func(e event.Event) bool { return e.Remote })
		if lost > 0 {
			env.Warn(fun.Warning{Text: fmt.Sprintf("%d events came faster than they were shown: those of other controllers among them are missing here", lost)})
		}
		if err != nil {
			return
		}
		if !show(e) {
			cancel()
			return
		}
		after = e.Seq
	}
}

// until cancels when the gate of the run closes: Ctrl-C ends the watch.
func until(ctx context.Context, gate func(context.Context, *fun.Chunk) bool, cancel func()) {
	if gate == nil {
		return
	}
	t := time.NewTicker(50 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if !gate(ctx, nil) {
				cancel()
				return
			}
		}
	}
}

// filter returns whether an event is wanted, by a JMESPath expression on its tag and data.
func filter(query string) (func(event.Event) bool, error) {
	if query == "" {
		return func(event.Event) bool { return true }, nil
	}
	q, err := jmespath.Compile(query)
	if err != nil {
		return nil, fun.Errorf("query %q is not a JMESPath expression, such as data.id=='web1': %v", query, err)
	}
	return func(e event.Event) bool {
		found, err := q.Search(value.MapOf("tag", e.Tag, "data", e.Data))
		return err == nil && value.Truth(found) // data of another shape is not wanted
	}, nil
}

// line prints an event as Salt does: its tag, a tab, its data.
func line(e event.Event, pretty bool) string {
	// A line is one event: whoever fired it must not make two of it.
	return printable.Line(e.Tag) + "\t" + printable.Text(encoded(e.Data, pretty))
}

// encoded is data as JSON.
func encoded(data *value.Map, pretty bool) string {
	o := value.JSONOptions{Repr: true, Strict: true, SkipKeys: true, EscapeNonASCII: true}
	if pretty {
		o.Indent, o.SortKeys = 4, true
	}
	b, err := value.AppendJSON(nil, data, o)
	if err != nil {
		b = value.StrictJSON(data)
	}
	return string(b)
}
