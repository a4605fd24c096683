package jobsrun

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// joined completes what a store has of a job with what the cache of this machine
// knows of it: how it ended, which targets gave no return, and returns that the
// store has not. mine is what the cache has where it was read already. A source
// that was asked for by name stands for itself.
func joined(ctx context.Context, c *fun.Call, extSource string, jid string, j, mine *jobs.Job) (*jobs.Job, error) {
	switch {
	case extSource != "":
		mine = nil
	case mine == nil:
		var err error
		if mine, err = files(c.Env).Job(ctx, jid); err != nil {
			return nil, err
		}
	}
	if mine != nil {
		if j == nil || j.Load.Len() == 0 && j.Returns.Len() == 0 {
			warn(c, fmt.Sprintf("the job cache has nothing of job %s: this is the record of this machine", jid))
			return mine, nil
		}
		join(c, j, mine)
	}
	if j != nil {
		warnIncomplete(c, j)
	}
	return j, nil
}

func warn(c *fun.Call, text string) { c.Env.Warn(fun.Warning{Text: text}) }

// adopt has j be in the state that this machine knows the job to be in.
func adopt(j, mine *jobs.Job) {
	if j.Load.List("Minions").Len() == 0 {
		j.Load = mine.Load
	}
	j.State, j.EndTime, j.Killed, j.KilledAt = mine.State, mine.EndTime, mine.Killed, mine.KilledAt
	j.Definition, j.Steps = mine.Definition, mine.Steps
	j.Running, j.Silent = mine.Running, mine.Silent
}

// join adds to j what this machine knows.
func join(c *fun.Call, j, mine *jobs.Job) {
	adopt(j, mine)
	var ours []string
	for k, v := range mine.Returns.All() {
		id := value.Str(k)
		if j.Returns.Has(id) && j.Unread[id] == "" {
			continue
		}
		if why := j.Unread[id]; why != "" {
			warn(c, fmt.Sprintf("target %s: %s; this is what the record of this machine has", id, why))
			delete(j.Unread, id)
		} else {
			ours = append(ours, id)
		}
		delete(j.Missing, id)
		j.Returns.Set(id, v)
	}
	if len(ours) > 0 {
		sort.Strings(ours)
		warn(c, fmt.Sprintf("the job cache has not the returns of %s: they are from the record of this machine", few(ours)))
	}
	for id, why := range mine.Missing {
		if !mine.Returns.Has(id) {
			// A store without a column for it has the reason as a return.
			j.Returns.Delete(id)
			j.Missing[id] = why
		}
	}
	for k, v := range mine.Partial.All() {
		if !j.Returns.Has(value.Str(k)) {
			j.Partial.Set(k, v)
		}
	}
}

// warnIncomplete warns of returns of which nobody has all parts.
func warnIncomplete(c *fun.Call, j *jobs.Job) {
	ids := make([]string, 0, len(j.Unread))
	for id := range j.Unread {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	for _, id := range ids {
		r := value.NewMap(4)
		if known := j.Returns.Map(id); known != nil {
			r = known.Copy()
		}
		r.Set("return", j.Unread[id])
		j.Returns.Set(id, r)
		warn(c, fmt.Sprintf("target %s: %s", id, j.Unread[id]))
	}
}

// few names some of many.
func few(ids []string) string {
	const most = 5
	if len(ids) > most {
		return fmt.Sprintf("%s and %d others", strings.Join(ids[:most], ", "), len(ids)-most)
	}
	return strings.Join(ids, ", ")
}
