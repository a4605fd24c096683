package jobs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"brine/internal/core/event"
	"brine/internal/py/value"
)

// Job returns a job of the cache; see [Store].
func (f *Files) Job(ctx context.Context, jid string) (*Job, error) { return f.job(ctx, jid, nil) }

// job reads a job; trim says what is read of its returns, nil: all.
func (f *Files) job(_ context.Context, jid string, trim *Trim) (*Job, error) {
	if !IsJID(jid) {
		return nil, nil
	}
	file, err := os.Open(f.path(jid))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return nil, err
	}
	// The lock is looked at before the lines are, so that a job that ends
	// meanwhile does not look interrupted.
	working := held(file)
	if st.Size() == 0 && (working || justCreated(st)) {
		return nil, nil // the id is reserved
	}
	j := &Job{JID: jid, Returns: value.NewMap(8), Missing: map[string]string{}, Partial: value.NewMap(0), State: Interrupted, trim: trim}
	if working {
		j.State = Active
	}
	r := bufio.NewReaderSize(file, 64<<10)
	for n := 1; ; n++ {
		b, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		whole := err == nil
		if text := bytes.TrimSpace(b); len(text) > 0 && (whole || !working) {
			j.take(n, text, whole)
		}
		if !whole {
			break
		}
	}
	if j.Load == nil && working {
		return nil, nil // its load is being written
	}
	j.assessDamage()
	if j.State == Interrupted && j.Detached() {
		j.State = Detached
	}
	return j, nil
}

// timeOf returns the time of a stamp in the format of JIDTime; "" for none.
func timeOf(stamp string) string {
	t, err := time.Parse(event.StampFormat, stamp)
	if err != nil {
		return ""
	}
	return t.Format("2006, Jan 02 15:04:05.000000")
}

// add takes in one line of a job's file.
func (j *Job) add(line *value.Map) {
	switch {
	case line.Map("load") != nil:
		j.Load = line.Map("load")
	case line.Has("end"):
		j.State = Complete
		j.EndTime = timeOf(line.Str("end"))
	case line.Has("note"):
		data := line.Map("data")
		switch line.Str("note") {
		case "definition":
			j.Definition = data
		case "step":
			j.Steps = append(j.Steps, data)
		case passedNote:
			j.Pass(data)
		case "worker":
			n, _ := value.AsInt(data.At("pid"))
			j.worker = int(n)
		case "killed":
			n, _ := value.AsInt(data.At("signal"))
			j.Killed, j.KilledAt = int(n), timeOf(data.Str("at"))
		case "repaired":
			n, _ := value.AsInt(data.At("faults"))
			j.explained, j.Repaired = int(n), data.Str("damage")
		}
	case line.Has("stage"):
		j.Missing[line.Str("id")] = line.Str("stage")
		if why := line.Str("why"); why != "" {
			j.Missing[line.Str("id")] += ": " + why
		}
		if states := line.Map("states"); states != nil {
			j.Partial.Set(line.Str("id"), states)
		}
		j.setLost(line.Str("id"), line.At("away") == true, line.Str("fleet_jid"))
	case line.Has("lost"):
		id := line.Str("id")
		j.lost(id, line, line.Str("lost"))
		j.fault(id, "the return of %s could not be recorded: %s", id, line.Str("lost"))
	case line.Has("id"):
		r := value.NewMap(4)
		for _, k := range []string{"return", "retcode", "success", "out"} {
			if v, ok := line.Get(k); ok {
				r.Set(k, v)
			}
		}
		id := line.Str("id")
		j.Returns.Set(id, r)
		if _, away := j.lostTargets[id]; away {
			delete(j.Missing, id)
			j.setLost(id, false, "")
		}
	}
}

// Jobs returns the jobs of a time; see [Store].
func (f *Files) Jobs(ctx context.Context, from, to string) ([]Entry, error) {
	var out []Entry
	err := f.Walk(ctx, from, to, func(r *Row) bool {
		out = append(out, Entry{JID: r.JID, Load: r.Brief(true).Load})
		return true
	})
	slices.Reverse(out)
	return out, err
}

// UnderWay returns the jobs that processes of this machine work on, and those that
// go on without one as far as the records know, both in order. A job may be both.
func (f *Files) UnderWay(ctx context.Context) (active, detached []*Job, err error) {
	var failed error
	err = f.Walk(ctx, "", "", func(r *Row) bool {
		if !r.Open() {
			return true
		}
		var j *Job
		if j, failed = f.Job(ctx, r.JID); j == nil || j.State == Complete {
			return failed == nil
		}
		if j.State == Active {
			active = append(active, j)
		}
		if j.Detached() {
			detached = append(detached, j)
		}
		return true
	})
	slices.Reverse(active)
	slices.Reverse(detached)
	return active, detached, errors.Join(err, failed)
}
