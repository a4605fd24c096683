package jobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"brine/internal/core/event"
	"brine/internal/py/value"
)

// Files is the job cache of this machine: a file a job, JSON a line, in a
// directory an hour, with an index; see [indexName].
//
// The first line is the load; each line after it is one return or one part of
// an orchestration's history, written by one call of write and synced before it
// counts; the last one says that the job ended. Of a line that a crash cut short
// its beginning is read. While a process works on a job it holds a lock on the file,
// so a job without an end whose file is not locked was interrupted.
type Files struct {
	dir  string
	keep time.Duration
	now  func() time.Time
	// NoReturns keeps what jobs are and how they went, and none of their returns.
	NoReturns bool

	mu       sync.Mutex
	reserved map[string]*os.File
	adopted  map[string]*os.File

	sweeping sweeper
	window   window
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

// pausePath returns the file of the requests for a job's states; see Pauses.
func (f *Files) pausePath(jid string) string {
	return filepath.Join(filepath.Dir(f.dir), pauseDir, jid)
}

// create makes the file of a job that no process has yet, and locks it.
func (f *Files) create(jid string) (*os.File, error) {
	if !IsJID(jid) {
		return nil, fmt.Errorf("%q is not a job id", jid)
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
	f.mu.Unlock()
	f.sweep()
	if l.Continued {
		return f.goOn(l.JID)
	}
	if file == nil {
		var err error
		if file, err = f.create(l.JID); err != nil {
			return Nothing{}, fmt.Errorf("the job cannot be recorded: %w", err)
		}
	}
	f.ballast()
	r := &fileRecord{file: file, files: f, jid: l.JID}
	line := value.EncodeJSON(value.MapOf("load", l.Map()))
	if err := r.write(line); err != nil {
		f.dropBallast()
		if err = r.write(line); err != nil {
			file.Close()
			return Nothing{}, err
		}
	}
	r.brief = newBriefBuilder(line)
	syncDir(filepath.Dir(file.Name()))
	return r, nil
}

// Adopt takes over the locked file of a job that another process began: the
// next Begin of that job continues it.
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
		r := &fileRecord{file: file, files: f, jid: jid, shared: true}
		return r, r.Note("worker", value.MapOf("pid", int64(os.Getpid())))
	}
	return f.Reopen(&Job{JID: jid})
}

// Reopen returns the record of a job that goes on without a process of this
// machine, to add returns to it. Several processes may do that at once: a line
// is written by one call.
func (f *Files) Reopen(j *Job) (Record, error) {
	r, err := f.reopen(j.JID)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (f *Files) reopen(jid string) (*fileRecord, error) {
	if !IsJID(jid) {
		return nil, fmt.Errorf("%q is not a job id", jid)
	}
	file, err := os.OpenFile(f.path(jid), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("the job cannot be recorded: %w", err)
	}
	return &fileRecord{file: file, files: f, jid: jid, shared: true}, nil
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
		if r.files.NoReturns {
			return nil
		}
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

// decodeLine returns a line's map; nil for a line that is none.
func decodeLine(b []byte) *value.Map {
	m := decodeText(string(b))
	if unpack(m) != nil {
		return nil
	}
	return m
}

func decodeText(s string) *value.Map {
	v, err := value.ParseJSON(s)
	if err != nil {
		return nil
	}
	m, _ := v.(*value.Map)
	return m
}
