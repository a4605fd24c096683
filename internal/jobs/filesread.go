package jobs

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"brine/internal/event"
	"brine/internal/value"
)

// Job returns a job of the cache; see [Store].
func (f *Files) Job(_ context.Context, jid string) (*Job, error) {
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
	// The lock is looked at before the lines are, so that a job that ends
	// meanwhile does not look interrupted.
	working := held(file)
	j := &Job{JID: jid, Returns: value.NewMap(8), Missing: map[string]string{}, Partial: value.NewMap(0), State: Interrupted}
	if working {
		j.State = Active
	}
	r := bufio.NewReaderSize(file, 64<<10)
	for {
		b, err := r.ReadBytes('\n')
		if err == io.EOF {
			break // what has no end of line was cut short
		}
		if err != nil {
			return nil, err
		}
		if line := decodeLine(b); line != nil {
			j.add(line)
		}
	}
	if j.Load == nil {
		return nil, nil
	}
	if j.State == Interrupted && j.Detached() {
		j.State = Away
	}
	return j, nil
}

// timeOf returns the moment of a stamp as JIDTime has it; "" for none.
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
		case "worker":
			n, _ := value.AsInt(data.At("pid"))
			j.worker = int(n)
		case "killed":
			n, _ := value.AsInt(data.At("signal"))
			j.Killed, j.KilledAt = int(n), timeOf(data.Str("at"))
		}
	case line.Has("stage"):
		j.Missing[line.Str("id")] = line.Str("stage")
		if why := line.Str("why"); why != "" {
			j.Missing[line.Str("id")] += ": " + why
		}
		if states := line.Map("states"); states != nil {
			j.Partial.Set(line.Str("id"), states)
		}
	case line.Has("id"):
		r := value.NewMap(4)
		for _, k := range []string{"return", "retcode", "success", "out"} {
			if v, ok := line.Get(k); ok {
				r.Set(k, v)
			}
		}
		j.Returns.Set(line.Str("id"), r)
	}
}

// Jobs returns the jobs of a time; see [Store].
func (f *Files) Jobs(ctx context.Context, from, to string) ([]Entry, error) {
	hours, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, h := range hours {
		name := h.Name()
		if !h.IsDir() || len(name) != 10 || from != "" && name < from[:10] || to != "" && name > to[:10] {
			continue
		}
		dir := filepath.Join(f.dir, name)
		jobs, err := os.ReadDir(dir)
		if err != nil {
			continue // swept meanwhile
		}
		for _, e := range jobs {
			jid, ok := strings.CutSuffix(e.Name(), suffix)
			if !ok || !IsJID(jid) || jid < from || to != "" && jid > to {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			line, err := firstLine(filepath.Join(dir, e.Name()))
			if err != nil || line.Map("load") == nil {
				continue
			}
			out = append(out, Entry{JID: jid, Load: line.Map("load")})
		}
	}
	return out, nil
}

// Detached returns the jobs that go on without a process of this machine, as far
// as the records know, in order.
func (f *Files) Detached(ctx context.Context) ([]*Job, error) {
	list, err := f.Jobs(ctx, "", "")
	if err != nil {
		return nil, err
	}
	var out []*Job
	for _, e := range list {
		if e.Load.At("detached") != true {
			continue
		}
		j, err := f.Job(ctx, e.JID)
		if err != nil {
			return nil, err
		}
		if j != nil && j.State != Complete {
			out = append(out, j)
		}
	}
	return out, nil
}

// Active returns the jobs that processes of this machine work on, in order.
func (f *Files) Active(ctx context.Context) ([]*Job, error) {
	list, err := f.Jobs(ctx, "", "")
	if err != nil {
		return nil, err
	}
	var out []*Job
	for _, e := range list {
		if !f.active(e.JID) {
			continue
		}
		j, err := f.Job(ctx, e.JID)
		if err != nil {
			return nil, err
		}
		if j != nil && j.State == Active {
			out = append(out, j)
		}
	}
	return out, nil
}
