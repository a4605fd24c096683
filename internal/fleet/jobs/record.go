package jobs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A fileRecord is a job under way.
type fileRecord struct {
	file  *os.File
	files *Files
	jid   string

	mu      sync.Mutex // held while a line is written
	written int
	torn    bool // the last line was cut short: the disk was full
	shared  bool // others write, too, and may have left a line that was cut short

	sum   sync.Mutex
	brief *briefBuilder // nil: returns were recorded before
	lost  []*value.Map  // what is to be recorded of returns that could not be

	syncing sync.Mutex // held while the file is synced
	synced  int
}

// write adds a line and returns when it is on disk. Lines that are written
// while another sync is under way share the next one.
func (r *fileRecord) write(line []byte) error {
	return r.add(true, func(w io.Writer) error {
		_, err := w.Write(line)
		return err
	})
}

// put is write of a return or note, which may be large.
func (r *fileRecord) put(line *value.Map) error {
	text, large := split(line, maxPacked)
	if large == nil {
		return r.write(text)
	}
	return r.add(r.shared, func(w io.Writer) error { return pack(w, text, large) })
}

// add adds the line that line writes, with whole by one call, so that what other
// processes write does not come between; see write.
func (r *fileRecord) add(whole bool, line func(w io.Writer) error) error {
	r.mu.Lock()
	err := r.addLocked(whole, line)
	r.torn = err != nil
	r.written++
	mine := r.written
	r.mu.Unlock()
	if err != nil {
		return fmt.Errorf("record the job: %w", err)
	}
	r.syncing.Lock()
	defer r.syncing.Unlock()
	if r.synced >= mine {
		return nil
	}
	r.mu.Lock()
	upTo := r.written
	r.mu.Unlock()
	if err := r.file.Sync(); err != nil {
		return fmt.Errorf("record the job: %w", err)
	}
	r.synced = upTo
	return nil
}

func (r *fileRecord) addLocked(whole bool, line func(w io.Writer) error) error {
	w := lineWriter{to: r.file, buffered: whole}
	if r.torn || r.shared {
		w.line = append(w.line, '\n')
	}
	if err := line(&w); err != nil {
		return err
	}
	w.line = append(w.line, '\n')
	return w.flush()
}

// A lineWriter writes a line in parts, or as a whole when it is flushed.
type lineWriter struct {
	to       io.Writer
	buffered bool
	line     []byte
}

// maxLinePart is how much of a line that may be written in parts waits.
const maxLinePart = 64 << 10

func (w *lineWriter) Write(p []byte) (int, error) {
	w.line = append(w.line, p...)
	if w.buffered || len(w.line) < maxLinePart {
		return len(p), nil
	}
	return len(p), w.flush()
}

func (w *lineWriter) flush() error {
	_, err := w.to.Write(w.line)
	w.line = w.line[:0]
	return err
}

func (r *fileRecord) stamp() string { return r.files.now().UTC().Format(event.StampFormat) }

// Return records an answer; see [Record]. Of one that cannot be recorded, for
// want of room, the record has that it came.
func (r *fileRecord) Return(ret fun.Return) error {
	line, err := returnLine(ret, r.stamp())
	if err != nil {
		return err
	}
	r.sum.Lock()
	if r.brief != nil {
		r.brief.add(line)
	}
	r.sum.Unlock()
	if r.files.NoReturns {
		return nil
	}
	err = r.put(line)
	if r.shared {
		return err // targets keep what is not recorded
	}
	r.sum.Lock()
	defer r.sum.Unlock()
	if err != nil {
		r.files.dropBallast()
		r.lost = append(r.lost, lostLine(ret, r.stamp(), err))
		err = fmt.Errorf("%w: the return of %s is not kept, only that it returned", err, ret.ID)
	}
	r.makeUp()
	return err
}

// makeUp records what is owed of lost returns, as far as there is room again.
func (r *fileRecord) makeUp() {
	r.lost = slices.DeleteFunc(r.lost, func(line *value.Map) bool { return r.write(value.EncodeJSON(line)) == nil })
}

// returnLine is an answer as records have it.
func returnLine(ret fun.Return, stamp string) (*value.Map, error) {
	line := value.MapOf("id", ret.ID, "_stamp", stamp)
	if ret.FleetJID != "" {
		line.Set("fleet", ret.Fleet)
		line.Set("fleet_jid", ret.FleetJID)
	}
	code, success := ret.Outcome()
	if ret.Stage != fun.Returned {
		line.Set("stage", ret.Stage.String())
		line.Set("retcode", code)
		line.Set("success", success)
		if ret.Err != nil {
			line.Set("why", ret.Err.Error())
		}
		if ret.Away {
			line.Set("away", true)
		}
		if states := ret.States(); states != nil {
			line.Set("states", states)
		}
		return line, nil
	}
	v, err := ret.Value()
	if err != nil {
		return nil, err
	}
	// What is short comes first: it is what is left of a line that was cut short.
	line.Set("retcode", code)
	line.Set("success", success)
	line.Set("return", v)
	if ret.Out != "" {
		line.Set("out", ret.Out)
	}
	return line, nil
}

// Note records a part of a history; see [Record].
func (r *fileRecord) Note(kind string, data *value.Map) error {
	return r.put(value.MapOf("note", kind, "data", data))
}

// End records the end; see [Record].
func (r *fileRecord) End() error {
	r.sum.Lock()
	defer r.sum.Unlock()
	r.makeUp()
	err := r.write(value.EncodeJSON(value.MapOf("end", r.stamp())))
	_ = os.Remove(r.files.pausePath(r.jid))
	if st, serr := r.file.Stat(); err == nil && serr == nil && r.brief != nil && !r.torn && len(r.lost) == 0 {
		r.files.appendIndex(r.jid[:hourDigits], indexLine(r.brief.brief(r.jid), fileStamp{st.Size(), st.ModTime().UnixNano()}))
	}
	unlock(r.file)
	return errors.Join(err, r.file.Close())
}

// Leave closes the record; see [Record].
func (r *fileRecord) Leave() error { return r.file.Close() }

// ballastSize is enough for short notes of a thousand returns.
const ballastSize = 256 << 10

func (f *Files) ballastPath() string { return filepath.Join(f.dir, ".ballast") }

// ballast makes a file of no use but to be removed when the disk is full: that
// makes room to note who returned.
func (f *Files) ballast() {
	if _, err := os.Lstat(f.ballastPath()); err == nil {
		return
	}
	if err := os.WriteFile(f.ballastPath(), bytes.Repeat([]byte("ballast\n"), ballastSize/8), 0o600); err != nil {
		f.dropBallast()
	}
}

func (f *Files) dropBallast() { _ = os.Remove(f.ballastPath()) }
