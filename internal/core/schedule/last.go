package schedule

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// lastPath is the file that says when a job ran last.
func lastPath(cacheDir, name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(cacheDir, "schedule", hex.EncodeToString(sum[:8]))
}

// Ran notes that a job begins.
func Ran(h host.Host, cacheDir, name string, now time.Time) error {
	p := lastPath(cacheDir, name)
	mode := fs.FileMode(0o600)
	err := h.MkdirAll(filepath.Dir(p), 0o700)
	if err == nil {
		err = h.WriteFile(p, bytes.NewReader([]byte(now.Format(time.RFC3339))), host.WriteOptions{Mode: &mode})
	}
	return err
}

// LastRun returns when a job began last; the zero time is never.
func LastRun(h host.Host, cacheDir, name string) time.Time {
	b, err := h.ReadFile(lastPath(cacheDir, name))
	if err != nil {
		return time.Time{}
	}
	t, _ := time.Parse(time.RFC3339, string(bytes.TrimSpace(b)))
	return t
}

// whens looks a name of the key when up in the mapping whens of the pillar and of
// the grains.
func whens(name string, sources ...value.Mapping) (string, bool) {
	for _, s := range sources {
		if s == nil {
			continue
		}
		v, _ := s.Get("whens")
		if m, ok := v.(*value.Map); ok && m.Has(name) {
			return value.Str(m.At(name)), true
		}
	}
	return "", false
}

// ReaderOf returns what reads the jobs of a run's machine: their functions are
// looked up there.
func ReaderOf(env *fun.Env) Reader {
	r := Reader{
		Known: func(name string) (bool, string) {
			_, _, err := env.Find(fun.Exec, name)
			var nf *fun.NotFoundError
			if errors.As(err, &nf) && nf.Nearest != "" {
				return false, source.DidYouMean(name, []string{nf.Nearest})
			}
			return err == nil, ""
		},
		Whens:    func(name string) (string, bool) { return whens(name, env.Pillar, env.SubjectGrains()) },
		Returner: env.Opts.At("schedule_returner"),
	}
	if env.CheckReturner != nil {
		r.CheckReturner = func(name string) error { return env.CheckReturner(env, name) }
	}
	return r
}

// OfPillar returns the schedule of a run's pillar; nil where there is none.
func OfPillar(env *fun.Env) *value.Map {
	if env.Pillar == nil {
		return nil
	}
	v, _ := env.Pillar.Get("schedule")
	m, _ := v.(*value.Map)
	return m
}
