package jobs

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"brine/internal/py/value"
)

// A sweeper remembers how far the clean-up of this process came.
type sweeper struct {
	mu   sync.Mutex
	last time.Time // when the last slice ended that left something; 0: none did
}

const (
	// sweepSlice is how long a clean-up may keep a run waiting: what is left is
	// removed by later ones.
	sweepSlice = 25 * time.Millisecond
	// sweepPause is how long a process that runs many jobs waits for the next.
	sweepPause = time.Second
)

// sweep removes a slice of what is older than the cache keeps. When all of it is
// gone, no process looks again for an hour. A job that a process works on stays.
func (f *Files) sweep() {
	if f.keep <= 0 {
		return
	}
	s := &f.sweeping
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	if time.Since(s.last) < sweepPause {
		return
	}
	mark := filepath.Join(f.dir, ".swept")
	now := f.now()
	if st, err := os.Stat(mark); err == nil && now.Sub(st.ModTime()) < min(time.Hour, f.keep) && !st.ModTime().After(now) {
		return
	}
	begin := time.Now()
	finished := f.sweepOld(JIDAt(now.Add(-f.keep)), func() bool { return time.Since(begin) < sweepSlice })
	if s.last = time.Now(); !finished {
		return
	}
	s.last = time.Time{}
	if os.MkdirAll(f.dir, 0o700) == nil && os.WriteFile(mark, nil, 0o600) == nil {
		_ = os.Chtimes(mark, now, now)
	}
}

// sweepOld removes jobs older than old while more says so. It reports whether it
// came to the end.
func (f *Files) sweepOld(old string, more func() bool) bool {
	expired := func(jid string) bool { return IsJID(jid) && jid < old && !f.active(jid) && !f.awaited(jid) }
	if !sweepDir(filepath.Dir(f.pausePath(old)), "", expired, more) {
		return false
	}
	hours, err := f.hours("", old)
	if err != nil {
		return true
	}
	for _, hour := range hours {
		dir := filepath.Join(f.dir, hour)
		if !sweepDir(dir, suffix, expired, more) {
			return false
		}
		// It may go where no job is left.
		if hour < old[:hourDigits] && !hasJobs(dir) {
			_ = os.Remove(filepath.Join(dir, indexName))
			_ = os.Remove(dir)
		}
	}
	return true
}

// sweepDir removes the files of a directory that have a suffix and whose name
// without it expired reports, while more says so. It reports whether it came to
// the end.
func sweepDir(dir, suffix string, expired func(string) bool, more func() bool) bool {
	d, err := os.Open(dir)
	if err != nil {
		return true
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(64)
		for _, name := range names {
			if !more() {
				return false
			}
			if stem, ok := strings.CutSuffix(name, suffix); ok && expired(stem) {
				_ = os.Remove(filepath.Join(dir, name))
			}
		}
		if err != nil {
			return true // what cannot be listed is left
		}
	}
}

// hasJobs reports whether there is a job in a directory.
func hasJobs(dir string) bool {
	d, err := os.Open(dir)
	if err != nil {
		return true
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(16)
		for _, name := range names {
			if strings.HasSuffix(name, suffix) {
				return true
			}
		}
		if err != nil {
			return err != io.EOF
		}
	}
}

// awaited reports whether the returns of a detached job may still be fetched.
func (f *Files) awaited(jid string) bool {
	at, ok := Time(jid)
	if !ok || f.now().Sub(at) > keepLeft {
		return false
	}
	load, err := firstLine(f.path(jid))
	if err != nil || load.Map("load").At("detached") != true {
		return false
	}
	j, err := f.Job(context.Background(), jid)
	return err == nil && j != nil && j.State == Detached
}

// firstLine returns the load line of a job's file.
func firstLine(path string) (*value.Map, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var line []byte
	buf := make([]byte, 4096)
	for {
		n, err := f.Read(buf)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return decodeLine(append(line, buf[:i]...)), nil
		}
		line = append(line, buf[:n]...)
		if err != nil {
			return nil, nil
		}
	}
}
