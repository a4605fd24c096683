package jobs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"brine/internal/py/value"
)

// Pauses are the requests that state runs of this machine wait or end before a
// state: a file a job, a JSON dict of state IDs.
// Salt: the directory state_pause below the cachedir.
type Pauses struct {
	dir string
	// More returns requests that came another way; nil: there are none.
	More func(jid string) *value.Map
	// OnWait is called when a job begins to wait before a state; nil: nothing is called.
	OnWait func(jid, id string)
}

// pauseDir is the directory of the requests, in the cache directory.
const pauseDir = "state_pause"

// NewPauses returns the requests in a cache directory.
func NewPauses(cacheDir string) *Pauses {
	return &Pauses{dir: filepath.Join(cacheDir, pauseDir)}
}

// AllStates stands for the state that is next, whatever its ID.
const AllStates = "__all__"

// pausePoll is how often a run that waits looks whether it may go on.
const pausePoll = 100 * time.Millisecond

func (p *Pauses) path(jid string) (string, error) {
	if !IsJID(jid) {
		return "", errors.New("a jid is 20 digits, not " + jid)
	}
	return filepath.Join(p.dir, jid), nil
}

// read returns the requests for a job; nil if there are none.
func (p *Pauses) read(jid string) *value.Map {
	path, err := p.path(jid)
	if err != nil {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return decodeLine(b)
}

// write replaces the requests for a job.
func (p *Pauses) write(jid string, m *value.Map) error {
	path, err := p.path(jid)
	if err != nil {
		return err
	}
	if m.Len() == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(p.dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = bytes.NewReader(value.EncodeJSON(m)).WriteTo(tmp)
	if err = errors.Join(err, tmp.Close()); err != nil {
		_ = os.Remove(tmp.Name())
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func (p *Pauses) update(jid string, change func(*value.Map)) error {
	m := p.read(jid)
	if m == nil {
		m = value.NewMap(1)
	}
	change(m)
	return p.write(jid, m)
}

// Pause has a job wait before a state (AllStates: the next), until Resume or,
// where until is not zero, that time.
func (p *Pauses) Pause(jid, id string, until time.Time) error {
	return p.update(jid, func(m *value.Map) {
		w := value.NewMap(1)
		if !until.IsZero() {
			w.Set("until", until.UnixMilli())
		}
		m.Set(id, w)
	})
}

// Kill has a job end before a state.
func (p *Pauses) Kill(jid, id string) error {
	return p.update(jid, func(m *value.Map) { m.Set(id, value.MapOf("kill", true)) })
}

// Resume takes a pause back.
func (p *Pauses) Resume(jid, id string) error {
	return p.update(jid, func(m *value.Map) { m.Delete(id) })
}

// Forget removes all requests for a job.
func (p *Pauses) Forget(jid string) { _ = p.write(jid, value.NewMap(0)) }

// Wait waits while a job is to wait before a state. It returns false where the
// job is to end there, and where ctx ended or open says that nothing new may
// begin.
func (p *Pauses) Wait(ctx context.Context, jid, id string, now func() time.Time, open func() bool) bool {
	for told := p.OnWait == nil; open() && ctx.Err() == nil; {
		wait, kill := requestOf(p.read(jid), id, now)
		if p.More != nil && !kill {
			also, end := requestOf(p.More(jid), id, now)
			wait, kill = wait || also, end
		}
		switch {
		case kill:
			return false
		case !wait:
			return true
		}
		if !told {
			told = true
			p.OnWait(jid, id)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pausePoll):
		}
	}
	return false
}

// Why says why Wait ended a job before a state; "" where it was not asked to.
func (p *Pauses) Why(jid, id string, now func() time.Time) string {
	_, kill := requestOf(p.read(jid), id, now)
	if p.More != nil && !kill {
		_, kill = requestOf(p.More(jid), id, now)
	}
	if kill {
		return "stopped by state.soft_kill"
	}
	return ""
}

// requestOf reports whether a state is requested to wait or to end before it runs.
func requestOf(m *value.Map, id string, now func() time.Time) (wait, kill bool) {
	for _, key := range []string{id, AllStates} {
		w := m.Map(key)
		if w == nil {
			continue
		}
		if w.At("kill") == true {
			return false, true
		}
		until, timed := value.AsInt(w.At("until"))
		wait = wait || !timed || now().UnixMilli() < until
	}
	return wait, false
}

// For returns the requests for a job, for machines that cannot read them here; nil if
// there are none.
func (p *Pauses) For(jid string) *value.Map { return p.read(jid) }
