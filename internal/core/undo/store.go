// Package undo keeps what runs of states change, and brings it back.
//
// A [Keeper] is a machine that writes down the state of things before a run changes them: in
// a [Log], which is a directory of the run below the cache of the machine. [Store.Undo]
// compares it with the machine of now, and brings back what it can.
package undo

import (
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Names in the directory of a run.
const (
	logFile  = "log"
	packFile = "data"
)

// Bounds of what is kept: days and bytes of all runs, and of one file.
const (
	defaultDays  = 30
	defaultBytes = 1 << 30
	maxFile      = 256 << 20
)

// maxLog bounds the log of a run that is read.
const maxLog = 256 << 20

// version is that of the log's form.
const version = 1

// A Store is what runs of a machine have kept.
type Store struct {
	dir string
	now func() time.Time
	// days and bytes bound it, maxLog the log of a run that is read.
	days, bytes, maxLog int64
}

// StoreOf returns the store of the machine that an Env acts on. The options undo_days
// and undo_size (MiB) bound it.
func StoreOf(env *fun.Env) *Store {
	s := &Store{dir: filepath.Join(env.CacheDir, "undo", url.PathEscape(env.ID)), now: time.Now, days: defaultDays, bytes: defaultBytes, maxLog: maxLog}
	if env.Host != nil {
		s.now = env.Host.Now
	}
	if n, ok := value.AsInt(env.Opts.At("undo_days")); ok && n > 0 {
		s.days = n
	}
	if n, ok := value.AsInt(env.Opts.At("undo_size")); ok && n > 0 {
		s.bytes = n << 20
	}
	return s
}

// isJID reports whether a name is that of a run, and no way out of the store.
func isJID(name string) bool {
	return len(name) == 20 && strings.Trim(name, "0123456789") == ""
}

// JIDs returns the runs that are kept, oldest first.
func (s *Store) JIDs() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && isJID(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// A Log is what one run has kept.
type Log struct {
	JID string
	dir string
	now func() time.Time

	mu    sync.Mutex
	file  *os.File
	torn  bool
	paths map[string]*kept
	dirs  map[string]*dirTime
	// names are files with several names, by their inodes.
	names map[string]*named
	// pack has the contents of smaller files, packed bytes so far, and sums are those that
	// it has.
	pack   *os.File
	packed int64
	sums   map[string]bool
	// room is how many bytes may still be kept.
	room int64
	// acted says that a state changed something.
	acted bool
}

// kept is what is known of a path that a run changes.
type kept struct {
	content bool // its content is kept, or there is none
	by      string
}

// Begin opens the log of a run that is to begin, or to go on.
func (s *Store) Begin(env *fun.Env) (*Log, error) {
	if !isJID(env.JID) {
		return nil, fmt.Errorf("what the run changes cannot be kept: %q is not a job id", env.JID)
	}
	dir := filepath.Join(s.dir, env.JID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := mine(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, logFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	torn, err := isTorn(filepath.Join(dir, logFile))
	st, statErr := f.Stat()
	if err = errors.Join(err, statErr); err != nil {
		f.Close()
		return nil, err
	}
	l := &Log{JID: env.JID, dir: dir, now: s.now, file: f, torn: torn, paths: map[string]*kept{}, dirs: map[string]*dirTime{}, names: map[string]*named{}, sums: map[string]bool{}, room: s.bytes}
	l.acted = st.Size() > 0 // what this run did before it goes on stays
	if err := l.write(value.MapOf("run", env.JID, "version", int64(version), "id", env.ID, "at", l.stamp())); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// mine returns an error for a directory of another user, or one that others can enter.
func mine(dir string) error {
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !st.IsDir() || st.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is to be a directory that its owner alone can enter", dir)
	}
	return nil
}

// tornKey is that of the line behind one that was not written to its end. What such a line
// announces was not done, so that nothing is lost with it.
const tornKey = "torn"

// tornMark ends a line that was not written to its end, and says so.
func tornMark() []byte { return []byte("\n{\"" + tornKey + "\":true}\n") }

// isTorn reports whether a log ends in the middle of a line.
func isTorn(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return false, err
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], st.Size()-1)
	return last[0] != '\n', err
}

func (l *Log) stamp() string { return l.now().UTC().Format("2006-01-02T15:04:05.000000") }

// write adds lines, by one call.
func (l *Log) write(lines ...*value.Map) error {
	var b []byte
	for _, line := range lines {
		b = append(append(b, value.EncodeJSON(line)...), '\n')
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.torn { // the run before was killed in the middle of a line, or the disk was full
		b = append(tornMark(), b...)
	}
	_, err := l.file.Write(b)
	l.torn = err != nil
	return err
}

// writeTimes writes down the times of the directories in which the run changed names.
func (l *Log) writeTimes() error {
	l.mu.Lock()
	var lines []*value.Map
	for _, dir := range slices.Sorted(maps.Keys(l.dirs)) {
		d := l.dirs[dir]
		lines = append(lines, value.MapOf("dir", dir, "was", d.was.UnixNano(), "now", d.now.UnixNano(), "others", d.others))
	}
	l.mu.Unlock()
	if len(lines) == 0 {
		return nil
	}
	return l.write(lines...)
}

// end closes the log, and notes that the run came to its end.
func (l *Log) end() error {
	err := l.write(value.MapOf("end", l.stamp()))
	if l.pack != nil {
		err = errors.Join(err, l.pack.Sync(), l.pack.Close())
	}
	return errors.Join(err, l.file.Sync(), l.file.Close())
}

// maxPacked is the size up to which contents are kept in one file of the run, in bytes.
// Larger ones have a file of their own.
const maxPacked = 256 << 10

// minDeflated is the size from which a content is compressed.
const minDeflated = 512

var deflaters = sync.Pool{New: func() any {
	z, _ := flate.NewWriter(nil, flate.BestSpeed) // an error is that of the level
	return z
}}

// keep stores content and returns its digest, and the line that says where it is; nil where
// that was said before. What is larger than a file may be, or than there is room for, is an
// error.
func (l *Log) keep(content io.Reader) (sum string, where *value.Map, err error) {
	l.mu.Lock()
	room := min(l.room, maxFile)
	l.mu.Unlock()
	var head bytes.Buffer
	n, err := io.Copy(&head, io.LimitReader(content, maxPacked+1))
	if err != nil {
		return "", nil, err
	}
	if n > room {
		return "", nil, fmt.Errorf("it is larger than the %d bytes that may be kept", room)
	}
	if n > maxPacked {
		return l.keepLarge(io.MultiReader(&head, content), room)
	}
	d := sha256.Sum256(head.Bytes())
	sum = hex.EncodeToString(d[:])
	data, packed := head.Bytes(), false
	if n >= minDeflated {
		var small bytes.Buffer
		z := deflaters.Get().(*flate.Writer)
		z.Reset(&small)
		_, err := z.Write(data)
		err = errors.Join(err, z.Close())
		deflaters.Put(z)
		if err == nil && small.Len() < len(data) {
			data, packed = small.Bytes(), true
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sums[sum] {
		return sum, nil, nil
	}
	if l.pack == nil {
		if l.pack, err = os.OpenFile(filepath.Join(l.dir, packFile), os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
			return "", nil, err
		}
		if l.packed, err = l.pack.Seek(0, io.SeekEnd); err != nil {
			return "", nil, err
		}
	}
	at := l.packed
	if _, err := l.pack.WriteAt(data, at); err != nil {
		return "", nil, err
	}
	l.packed += int64(len(data))
	l.room -= int64(len(data))
	l.sums[sum] = true
	return sum, value.MapOf("data", sum, "at", at, "size", int64(len(data)), "z", packed), nil
}

// keepLarge stores a content in a file of its own.
func (l *Log) keepLarge(content io.Reader, room int64) (sum string, where *value.Map, err error) {
	tmp, err := os.CreateTemp(l.dir, ".new-*")
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	defer tmp.Close()
	h := sha256.New()
	z := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(z)
	z.Reset(tmp)
	n, err := io.Copy(io.MultiWriter(z, h), io.LimitReader(content, room+1))
	if err = errors.Join(err, z.Close()); err != nil {
		return "", nil, err
	}
	if n > room {
		return "", nil, fmt.Errorf("it is larger than the %d bytes that may be kept", room)
	}
	st, err := tmp.Stat()
	if err != nil {
		return "", nil, err
	}
	sum = hex.EncodeToString(h.Sum(nil))
	l.mu.Lock()
	l.room -= st.Size()
	l.mu.Unlock()
	return sum, nil, os.Rename(tmp.Name(), filepath.Join(l.dir, sum))
}

// A place is where a content is in the file of a run.
type place struct {
	at, size int64
	z        bool
}

// content opens what was kept under a digest, and checks it when it is read to its end.
func (r *Record) content(sum string) (io.ReadCloser, error) {
	if len(sum) != 2*sha256.Size || strings.Trim(sum, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%q is not a digest", sum)
	}
	name := filepath.Join(r.dir, sum)
	in, packed := r.packed[sum]
	if packed {
		name = filepath.Join(r.dir, packFile)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	c := &checked{r: f, f: f, h: sha256.New(), want: sum}
	if packed {
		c.r = io.NewSectionReader(f, in.at, in.size)
	}
	if in.z || !packed {
		c.r = flate.NewReader(c.r)
	}
	return c, nil
}

// checked reads what was kept, and fails at its end where that is something else.
type checked struct {
	r    io.Reader
	f    *os.File
	h    hash.Hash
	want string
}

// Read reads.
func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	_, _ = c.h.Write(p[:n])
	if err == io.EOF && hex.EncodeToString(c.h.Sum(nil)) != c.want {
		return n, errors.New("what was kept is damaged")
	}
	return n, err
}

// Close closes the file.
func (c *checked) Close() error { return c.f.Close() }

// A Record is the log of a run, read.
type Record struct {
	JID, At string
	// Ended says that the run came to its end; else it was killed, or still goes on.
	Ended bool
	// Undone is the run that brought back what this one had changed, "" for none.
	Undone string
	Paths  []*Path
	Facts  []*Fact
	States []*State
	// times are those of directories in which the run changed names.
	times map[string]*dirTime
	// Unread is the number of lines of the log that say nothing which this brine reads.
	Unread int
	dir    string
	packed map[string]place
}

// A State is a state that changed something, with what it did beside what is kept.
type State struct {
	Tag, ID, Fun string
	Result       value.Value
	// Did is what it did that the log does not have: programs, connections.
	Did []string
	// Seen says that all it changes is in the log.
	Seen bool
}

// A Path is a file, directory or link that a run changed.
type Path struct {
	Name string
	By   string // the tag of the state that was first at it
	// Was and Now are what was there before and after the run; nil is nothing. Looked
	// says that Now was found out.
	Was, Now *Stat
	Looked   bool
	// Lines says that others may have changed other lines of it meanwhile.
	Lines bool
	// Tree is the digest of the names in a directory that the run made, behind it.
	Tree string
	// Why is why its content is not kept.
	Why string
}

// A Fact is what a run changed that is not a file: a service, packages, a kernel parameter.
type Fact struct {
	Kind, Name string
	By         string
	Was, Now   *value.Map
	Looked     bool
	// Restarted says that the run restarted it, because what it watches had changed.
	Restarted bool
}

// errNone says that nothing is kept of a run.
var errNone = errors.New("nothing is kept of this run here")

// Read returns the record of a run.
func (s *Store) Read(jid string) (*Record, error) {
	if !isJID(jid) {
		return nil, fmt.Errorf("%q is not a job id", jid)
	}
	dir := filepath.Join(s.dir, jid)
	f, err := os.Open(filepath.Join(dir, logFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNone
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &Record{JID: jid, dir: dir, packed: map[string]place{}, times: map[string]*dirTime{}}
	paths, facts := map[string]*Path{}, map[string]*Fact{}
	limited := &io.LimitedReader{R: f, N: s.maxLog + 1}
	b := bufio.NewReaderSize(limited, 64<<10)
	before := r.Unread // of the line before this one
	for {
		line, err := b.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		if err == nil && len(bytes.TrimSpace(line)) > 0 {
			now := r.Unread
			v, _ := value.ParseJSON(string(line))
			m, ok := v.(*value.Map)
			switch {
			case !ok:
				r.Unread++
			case m.At(tornKey) == true:
				r.Unread = before
			default:
				if err := r.add(m, paths, facts); err != nil {
					return nil, err
				}
			}
			before = now
		}
		if err == io.EOF {
			if limited.N == 0 {
				r.Unread++
			}
			return r, nil
		}
	}
}

// add takes in a line.
func (r *Record) add(m *value.Map, paths map[string]*Path, facts map[string]*Fact) error {
	switch {
	case m.Has("run"):
		if v, _ := value.AsInt(m.At("version")); v != version {
			return fmt.Errorf("what is kept of %s is of another version of brine", r.JID)
		}
		if r.At == "" {
			r.At = m.Str("at")
		}
		r.Ended = false
	case m.Has("end"):
		r.Ended = true
	case m.Has("undone"):
		r.Undone = m.Str("undone")
	case m.Has("data"):
		at, _ := value.AsInt(m.At("at"))
		size, _ := value.AsInt(m.At("size"))
		r.packed[m.Str("data")] = place{at: at, size: size, z: m.At("z") == true}
	case m.Has("dir"):
		nanos := func(key string) time.Time { n, _ := value.AsInt(m.At(key)); return time.Unix(0, n) }
		d := &dirTime{was: nanos("was"), now: nanos("now"), others: m.At("others") == true}
		if had := r.times[m.Str("dir")]; had != nil { // of the run before it went on
			d.others = d.others || had.others || !had.now.Equal(d.was)
			d.was = had.was
		}
		r.times[m.Str("dir")] = d
	case m.Has("path"):
		name := m.Str("path")
		p := paths[name]
		if p == nil {
			p = &Path{Name: name, By: m.Str("by"), Was: statOf(m.Map("was")), Lines: m.At("lines") == true, Why: m.Str("why")}
			paths[name] = p
			r.Paths = append(r.Paths, p)
			return nil
		}
		p.Lines = p.Lines || m.At("lines") == true
		if sum := m.Str("sum"); sum != "" && p.Was != nil { // kept later than the rest
			p.Was.Sum = sum
		}
		if why := m.Str("why"); why != "" {
			p.Why = why
		}
		if m.Has("now") {
			p.Now, p.Looked, p.Tree = statOf(m.Map("now")), true, m.Str("tree")
		}
	case m.Has("fact"):
		if _, ok := kinds[m.Str("fact")]; !ok {
			r.Unread++
			return nil
		}
		key := m.Str("fact") + " " + m.Str("name")
		f := facts[key]
		if f == nil {
			f = &Fact{Kind: m.Str("fact"), Name: m.Str("name"), By: m.Str("by"), Was: m.Map("was")}
			facts[key] = f
			r.Facts = append(r.Facts, f)
			return nil
		}
		if m.Has("now") {
			f.Now, f.Looked = m.Map("now"), true
		}
		f.Restarted = f.Restarted || m.At("restarted") == true
	case m.Has("state"):
		s := &State{Tag: m.Str("state"), ID: m.Str("id"), Fun: m.Str("fun"), Result: m.At("result"), Seen: m.At("seen") == true}
		if l := m.List("did"); l != nil {
			for _, x := range l.Items {
				s.Did = append(s.Did, value.Str(x))
			}
		}
		r.States = append(r.States, s)
	default:
		r.Unread++
	}
	return nil
}

// note adds a line to the log of a run that has ended.
func (s *Store) note(jid string, line *value.Map) error {
	name := filepath.Join(s.dir, jid, logFile)
	torn, err := isTorn(name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	b := append(value.EncodeJSON(line), '\n')
	if torn {
		b = append(tornMark(), b...)
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// Drop forgets what is kept of a run.
func (s *Store) Drop(jid string) error {
	if !isJID(jid) {
		return fmt.Errorf("%q is not a job id", jid)
	}
	if _, err := os.Lstat(filepath.Join(s.dir, jid)); errors.Is(err, fs.ErrNotExist) {
		return errNone
	}
	return os.RemoveAll(filepath.Join(s.dir, jid))
}

// Size returns how many bytes are kept of a run.
func (s *Store) Size(jid string) int64 {
	entries, _ := os.ReadDir(filepath.Join(s.dir, jid))
	var n int64
	for _, e := range entries {
		if fi, err := e.Info(); err == nil {
			n += fi.Size()
		}
	}
	return n
}

// sweep drops what is too old, and of the rest the oldest runs where all take more room
// than they may. It returns those that it dropped. The run keep is never one of them.
func (s *Store) sweep(keep string) (dropped []string) {
	jids, err := s.JIDs()
	if err != nil {
		return nil
	}
	oldest := s.now().UTC().Add(-time.Duration(s.days) * 24 * time.Hour).Format("20060102150405.000000")
	oldest = strings.Replace(oldest, ".", "", 1)
	left := s.bytes
	slices.Reverse(jids)
	for _, jid := range jids {
		left -= s.Size(jid)
		if jid != keep && (left < 0 || jid < oldest) && s.Drop(jid) == nil {
			dropped = append(dropped, jid)
		}
	}
	return dropped
}
