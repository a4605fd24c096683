package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"brine/internal/event"
	"brine/internal/fun"
	"brine/internal/value"
)

// Files is the job cache of this machine: a file a job, JSON a line, in a
// directory an hour.
//
// The first line is the load; each line after it is one return or one part of
// an orchestration's history, written by one call of write and synced before it
// counts; the last one says that the job ended. A line that a crash cut short
// is passed over. While a process works on a job it holds a lock on the file,
// so a job without an end whose file is not locked was interrupted.
type Files struct {
	dir  string
	keep time.Duration
	now  func() time.Time

	mu       sync.Mutex
	reserved map[string]*os.File
	adopted  map[string]*os.File
	swept    bool
}

// NewFiles returns the job cache below a cache directory. Jobs older than keep
// are removed; 0 keeps them for ever. Nothing is opened before it is used.
func NewFiles(cacheDir string, keep time.Duration, now func() time.Time) *Files {
	return &Files{dir: filepath.Join(cacheDir, "jobs"), keep: keep, now: now, reserved: map[string]*os.File{}}
}

const suffix = ".job"

func (f *Files) path(jid string) string {
	return filepath.Join(f.dir, jid[:10], jid+suffix)
}

// wishes is the file of what is wished for a job's states; see Pauses.
func (f *Files) wishes(jid string) string {
	return filepath.Join(filepath.Dir(f.dir), pauseDir, jid)
}

// create makes the file of a job that no process has yet, and locks it.
func (f *Files) create(jid string) (*os.File, error) {
	if !IsJID(jid) {
		return nil, fmt.Errorf("%q is no job id", jid)
	}
	path := f.path(jid)
	open := func() (*os.File, error) {
		return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o600)
	}
	file, err := open()
	for range 10 { // a clean-up may remove the directory as soon as it is made
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		file, err = open()
	}
	if err != nil {
		return nil, err
	}
	if err := lock(file); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// lock waits for readers, who hold the lock for the moment of a question.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			return err
		}
	}
}

// unlock gives a lock back. To close the file would do, were it not for a child
// process that another goroutine is just starting: it holds all open files, and
// with them their locks, until it becomes another program.
func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// tryLock locks a file that nobody has locked.
func tryLock(f *os.File) bool {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			return err == nil
		}
	}
}

// Reserve returns the first job id of next that no process of this cache has
// used. A cache that cannot be written to reserves none: the id is then unique
// in this process.
func (f *Files) Reserve(next func() string) string {
	for {
		jid := next()
		file, err := f.create(jid)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			f.mu.Lock()
			f.reserved[jid] = file
			f.mu.Unlock()
		}
		return jid
	}
}

// Close takes back the job ids that were reserved and not used.
func (f *Files) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for jid, file := range f.reserved {
		_ = os.Remove(f.path(jid))
		file.Close()
		delete(f.reserved, jid)
	}
}

// Begin records that a job begins; see [Recorder].
func (f *Files) Begin(l Load) (Record, error) {
	f.mu.Lock()
	file := f.reserved[l.JID]
	delete(f.reserved, l.JID)
	sweep := !f.swept
	f.swept = true
	f.mu.Unlock()
	if sweep {
		f.sweep()
	}
	if l.Continued {
		return f.goOn(l.JID)
	}
	if file == nil {
		var err error
		if file, err = f.create(l.JID); err != nil {
			return Nothing{}, fmt.Errorf("the job cannot be recorded: %w", err)
		}
	}
	r := &fileRecord{file: file, now: f.now, wishes: f.wishes(l.JID)}
	if err := r.write(value.MapOf("load", l.Map())); err != nil {
		file.Close()
		return Nothing{}, err
	}
	syncDir(filepath.Dir(file.Name()))
	return r, nil
}

// Adopt takes over the file of a job that another process began, locked as it
// is: the next Begin of that job goes on with it.
func (f *Files) Adopt(jid string, file *os.File) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.adopted == nil {
		f.adopted = map[string]*os.File{}
	}
	f.adopted[jid] = file
}

// goOn returns the record of a job that began earlier.
func (f *Files) goOn(jid string) (Record, error) {
	f.mu.Lock()
	file := f.adopted[jid]
	delete(f.adopted, jid)
	f.mu.Unlock()
	if file != nil {
		r := &fileRecord{file: file, now: f.now, wishes: f.wishes(jid), shared: true}
		return r, r.Note("worker", value.MapOf("pid", int64(os.Getpid())))
	}
	return f.Reopen(&Job{JID: jid})
}

// Reopen returns the record of a job that goes on without a process of this
// machine, to add returns to it. Several processes may do that at once: a line
// is written by one call.
func (f *Files) Reopen(j *Job) (Record, error) {
	if !IsJID(j.JID) {
		return nil, fmt.Errorf("%q is no job id", j.JID)
	}
	file, err := os.OpenFile(f.path(j.JID), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("the job cannot be recorded: %w", err)
	}
	return &fileRecord{file: file, now: f.now, wishes: f.wishes(j.JID), shared: true}, nil
}

// Kill notes in the record of a job that its process was ended by a signal.
func (f *Files) Kill(jid string, sig int) error {
	r, err := f.Reopen(&Job{JID: jid})
	if err != nil {
		return err
	}
	return errors.Join(r.Note("killed", value.MapOf("signal", int64(sig), "at", f.now().UTC().Format(event.StampFormat))), r.Leave())
}

// FileOf returns the open file of a record, for another process to go on with;
// nil where it has none.
func FileOf(r Record) *os.File {
	switch r := r.(type) {
	case *fileRecord:
		return r.file
	case *logRecord:
		return FileOf(r.Record)
	case interface{ Unwrap() Record }:
		return FileOf(r.Unwrap())
	}
	return nil
}

// syncDir makes the names in a directory durable; where the file system cannot
// do that, they are as durable as it makes them.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// A fileRecord is a job under way.
type fileRecord struct {
	file   *os.File
	now    func() time.Time
	wishes string // file that is of no use when the job has ended

	mu      sync.Mutex // held while a line is written
	written int
	torn    bool // the last line was cut short: the disk was full
	shared  bool // others write, too, and may have left a line that was cut short

	syncing sync.Mutex // held while the file is synced
	synced  int
}

// write adds a line and returns when it is on disk. Lines that are written
// while another sync is under way share the next one.
func (r *fileRecord) write(line *value.Map) error {
	b := append(value.EncodeJSON(line), '\n')
	r.mu.Lock()
	if r.torn || r.shared {
		b = append([]byte{'\n'}, b...)
	}
	_, err := r.file.Write(b)
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

func (r *fileRecord) stamp() string { return r.now().UTC().Format("2006-01-02T15:04:05.000000") }

// Return records an answer; see [Record].
func (r *fileRecord) Return(ret fun.Return) error {
	line, err := returnLine(ret, r.stamp())
	if err != nil {
		return err
	}
	return r.write(line)
}

// returnLine is an answer as records have it.
func returnLine(ret fun.Return, stamp string) (*value.Map, error) {
	line := value.MapOf("id", ret.ID, "_stamp", stamp)
	if ret.Stage != fun.Returned {
		line.Set("stage", ret.Stage.String())
		if ret.Err != nil {
			line.Set("why", ret.Err.Error())
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
	line.Set("return", v)
	line.Set("retcode", int64(ret.Retcode))
	line.Set("success", ret.Success())
	if ret.Out != "" {
		line.Set("out", ret.Out)
	}
	return line, nil
}

// Note records a part of a history; see [Record].
func (r *fileRecord) Note(kind string, data *value.Map) error {
	return r.write(value.MapOf("note", kind, "data", data))
}

// End records the end; see [Record].
func (r *fileRecord) End() error {
	err := r.write(value.MapOf("end", r.stamp()))
	_ = os.Remove(r.wishes)
	unlock(r.file)
	return errors.Join(err, r.file.Close())
}

// Leave closes the record; see [Record].
func (r *fileRecord) Leave() error { return r.file.Close() }

// sweep removes what is older than the cache keeps, at most once an hour among
// all processes. A job that a process works on stays.
func (f *Files) sweep() {
	if f.keep <= 0 {
		return
	}
	mark := filepath.Join(f.dir, ".swept")
	now := f.now()
	if st, err := os.Stat(mark); err == nil && now.Sub(st.ModTime()) < min(time.Hour, f.keep) && !st.ModTime().After(now) {
		return
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return
	}
	_ = os.Chtimes(mark, now, now)
	old := now.Add(-f.keep).UTC().Format(jidLayout)
	oldJID := old[:14] + old[15:]
	if wishes, err := os.ReadDir(filepath.Dir(f.wishes(oldJID))); err == nil {
		for _, w := range wishes {
			if jid := w.Name(); IsJID(jid) && jid < oldJID && !f.active(jid) && !f.awaited(jid) {
				_ = os.Remove(f.wishes(jid))
			}
		}
	}
	hours, err := os.ReadDir(f.dir)
	if err != nil {
		return
	}
	for _, h := range hours {
		if !h.IsDir() || len(h.Name()) != 10 || h.Name() > oldJID[:10] {
			continue
		}
		dir := filepath.Join(f.dir, h.Name())
		jobs, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, j := range jobs {
			jid, ok := strings.CutSuffix(j.Name(), suffix)
			if ok && jid < oldJID && !f.active(jid) && !f.awaited(jid) {
				_ = os.Remove(filepath.Join(dir, j.Name()))
			}
		}
		_ = os.Remove(dir) // fails, as it should, where jobs are left
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
	return err == nil && j != nil && j.State != Complete
}

// active reports whether a process works on a job.
func (f *Files) active(jid string) bool {
	file, err := os.Open(f.path(jid))
	if err != nil {
		return false
	}
	defer file.Close()
	return held(file)
}

// held reports whether another open file has the lock.
func held(f *os.File) bool {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case nil:
			unlock(f)
			return false
		default:
			return errors.Is(err, syscall.EWOULDBLOCK)
		}
	}
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

// decodeLine returns a line's map; nil for a line that is none.
func decodeLine(b []byte) *value.Map {
	v, err := value.DecodeJSON(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	m, _ := v.(*value.Map)
	return m
}
