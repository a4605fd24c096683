package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/cmd/app"
	"brine/internal/core/beacon"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/runner/collect"
)

// visitTime bounds one visit of all machines.
const visitTime = 5 * time.Minute

// A collecting fetches the events of machines into the queue.
type collecting struct {
	*reacting
	env   *fun.Env
	wrong map[string]string // what is wrong with machines, as it was last reported
}

// collect visits machines until ctx ends.
func (r *reacting) collect(ctx context.Context, env *fun.Env) {
	c := &collecting{reacting: r, env: env, wrong: map[string]string{}}
	r.s.Note(fmt.Sprintf("events are collected every %v s from %s", r.o.every, printable.Line(r.o.collect)))
	for ctx.Err() == nil {
		c.visit(ctx)
		r.wait(ctx, app.Seconds(r.o.every))
	}
}

// visit visits machines once. What is wrong with one is reported when it begins, changes or ends.
func (c *collecting) visit(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, visitTime)
	defer cancel()
	v := &collect.Visit{Fleet: c.env.Fleet, Tgt: c.o.collect, TgtType: "compound", Take: c.take}
	found, err := v.Run(ctx)
	if errors.Is(ctx.Err(), context.Canceled) { // the worker stops
		return
	}
	if err == nil && len(found) == 0 {
		err = errors.New("no machine matches")
	}
	c.tellOf(c.o.collect, err)
	for _, m := range found {
		c.tellOf(m.ID, m.Err)
	}
}

// tellOf reports what is wrong with a machine, or with all of them, unless that is known.
func (c *collecting) tellOf(id string, err error) {
	text := ""
	if err != nil {
		text = printable.Line(err.Error())
	}
	before := c.wrong[id]
	if text == before {
		return
	}
	c.wrong[id] = text
	if text == "" {
		c.s.Note(printable.Line(id) + ": events are collected again")
		return
	}
	c.s.Tell(fmt.Errorf("%s: events are not collected: %s", printable.Line(id), text))
}

// take brings an event into the queue before its machine removes it. Those who listen to
// this controller get it as well.
func (c *collecting) take(ctx context.Context, e beacon.Event) error {
	if len(c.m.Match(e.Tag)) > 0 {
		if err := c.bringOne(ctx, arrival{Event: event.Event{Tag: e.Tag, Data: e.Data}}); err != nil {
			return fmt.Errorf("the event %.200s does not get into the queue: %w", e.Tag, err)
		}
	}
	collect.Send(c.env, e)
	return nil
}
