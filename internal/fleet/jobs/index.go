package jobs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"brine/internal/py/value"
)

// indexName is the file in each directory of jobs that sums them up, a line a
// job:
//
//	<crc32> <jid without the hour> <size> <mtime> <kind> <Brief as JSON>
//
// It is no more than a cache: which jobs there are is what the directory says,
// and a line counts only where the job's file has its size and time, and the
// last one of a job does. Processes append to it without asking each other and
// without a sync; readers add what is missing.
const indexName = ".index"

// hourDigits is how much of a jid names its directory.
const hourDigits = 10

// A slot is a line of an index.
type slot struct {
	key         uint64 // the jid without the hour
	size, mtime int64  // of the job's file
	off         int64  // of the JSON within the index
	n           int32  // length of the JSON
	kind        byte
	lookup      bool // a function that only looks jobs up
	find        bool // saltutil.find_job
}

// jid returns the job id of a key.
func jidOf(hour string, key uint64) string {
	var b [hourDigits + 10]byte
	copy(b[:], hour)
	for i := len(b) - 1; i >= hourDigits; i-- {
		b[i] = '0' + byte(key%10)
		key /= 10
	}
	return string(b[:])
}

// A fileStamp is by what the index knows a job's file again.
type fileStamp struct{ size, mtime int64 }

// stampAt returns that of a file in an open directory.
func stampAt(dir *os.File, name string) (fileStamp, error) {
	for {
		var st unix.Stat_t
		switch err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fileStamp{}, err
		default:
			return fileStamp{st.Size, unix.TimespecToNsec(st.Mtim)}, nil
		}
	}
}

// indexLine makes the line of a job whose file has a size and time.
func indexLine(b *Brief, st fileStamp) []byte {
	rest := fmt.Appendf(nil, "%s %d %d %c ", b.JID[hourDigits:], st.size, st.mtime, b.kind())
	rest = append(rest, b.encode()...)
	return append(fmt.Appendf(nil, "%08x ", crc32.ChecksumIEEE(rest)), append(rest, '\n')...)
}

// parseSlot reads a line that begins at off.
func parseSlot(line []byte, off int64) (s slot, ok bool) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	if len(line) < 9 || line[8] != ' ' {
		return s, false
	}
	sum, ok := hexOf(line[:8])
	if !ok || crc32.ChecksumIEEE(line[9:]) != sum {
		return s, false
	}
	var n [3]int64
	rest := line[9:]
	for i := range n {
		if n[i], rest, ok = cutNumber(rest); !ok {
			return s, false
		}
	}
	if len(rest) < 2 || rest[1] != ' ' {
		return s, false
	}
	s.key, s.size, s.mtime, s.kind = uint64(n[0]), n[1], n[2], rest[0]
	rest = rest[2:]
	s.n, s.off = int32(len(rest)), off+int64(len(line)-len(rest))
	s.lookup = bytes.HasPrefix(rest, []byte(`{"fun":"runner.jobs.`)) || bytes.HasPrefix(rest, []byte(`{"fun":"runner.audit.`))
	s.find = bytes.HasPrefix(rest, []byte(`{"fun":"saltutil.find_job"`))
	return s, true
}

// hexOf reads a number as %08x has it.
func hexOf(text []byte) (n uint32, ok bool) {
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		default:
			return 0, false
		}
		n = n<<4 | uint32(c)
	}
	return n, true
}

// cutNumber reads a number and the blank behind it.
func cutNumber(text []byte) (n int64, rest []byte, ok bool) {
	const most = 19 // digits of an int64
	i := 0
	negative := len(text) > 0 && text[0] == '-' // a time before 1970
	if negative {
		i++
	}
	begin := i
	for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		n = n*10 + int64(text[i]-'0')
	}
	if i == begin || i-begin > most || i == len(text) || text[i] != ' ' || n < 0 {
		return 0, nil, false
	}
	if negative {
		n = -n
	}
	return n, text[i+1:], true
}

// aboutLine is how long the line of a small job is, and maxAhead for how many lines
// room is made before they are read.
const (
	aboutLine = 256
	maxAhead  = 16 << 10
)

// readIndex returns the last line of each job in an hour's index, in order, and
// how many lines there are.
func (f *Files) readIndex(hour string) (slots []slot, lines int) {
	file, err := os.Open(filepath.Join(f.dir, hour, indexName))
	if err != nil {
		return nil, 0
	}
	defer file.Close()
	if st, err := file.Stat(); err == nil {
		slots = make([]slot, 0, min(st.Size()/aboutLine, maxAhead))
	}
	r := bufio.NewReaderSize(file, 64<<10) // a line is shorter
	for off := int64(0); ; {
		line, err := r.ReadSlice('\n')
		if s, ok := parseSlot(line, off); ok {
			slots = append(slots, s)
		}
		lines++
		off += int64(len(line))
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	slices.SortStableFunc(slots, func(a, b slot) int { return compareKeys(a.key, b.key) })
	// The last of equal ones stays.
	slices.Reverse(slots)
	slots = slices.CompactFunc(slots, func(a, b slot) bool { return a.key == b.key })
	slices.Reverse(slots)
	return slots, lines - 1
}

func compareKeys(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// appendIndex adds lines to an hour's index. What fails is made up for by the
// next reader.
func (f *Files) appendIndex(hour string, lines []byte) {
	file, err := os.OpenFile(filepath.Join(f.dir, hour, indexName), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	// A last line that was cut short must not spoil the first of these.
	if st, err := file.Stat(); err == nil && st.Size() > 0 {
		var last [1]byte
		if _, err := file.ReadAt(last[:], st.Size()-1); err == nil && last[0] != '\n' {
			lines = append([]byte{'\n'}, lines...)
		}
	}
	_, _ = file.Write(lines)
}

// hours returns the directories of jobs that began in a time, oldest first.
func (f *Files) hours(from, to string) ([]string, error) {
	all, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, h := range all {
		name := h.Name()
		if h.IsDir() && len(name) == hourDigits && (from == "" || name >= from[:hourDigits]) && (to == "" || name <= to[:hourDigits]) {
			out = append(out, name)
		}
	}
	return out, nil
}

// keys returns the jobs of an hour that have a file, in order.
func (f *Files) keys(hour string) ([]uint64, error) {
	d, err := os.Open(filepath.Join(f.dir, hour))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // swept meanwhile
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var out []uint64
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			jid, ok := strings.CutSuffix(name, suffix)
			if !ok || !IsJID(jid) || jid[:hourDigits] != hour {
				continue
			}
			if key, err := strconv.ParseUint(jid[hourDigits:], 10, 64); err == nil {
				out = append(out, key)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return out, nil
}

// A Row is a job as a walk comes by it.
type Row struct {
	JID string

	f    *Files
	slot slot   // kind 0: the index does not have it
	live *Brief // where the index does not have it
}

// Lookup reports whether the job only looked other jobs up.
func (r *Row) Lookup() bool {
	if r.live != nil {
		name := r.live.Load.Str("fun")
		return strings.HasPrefix(name, "runner.jobs.") || strings.HasPrefix(name, "runner.audit.")
	}
	return r.slot.lookup
}

// FindJob reports whether the job only asked for another one.
func (r *Row) FindJob() bool {
	if r.live != nil {
		return r.live.Load.Str("fun") == "saltutil.find_job"
	}
	return r.slot.find
}

// Succeeded reports whether the job is complete and all targets succeeded.
func (r *Row) Succeeded() bool { return r.kind() == kindSucceeded }

// Open reports whether returns of the job may still come.
func (r *Row) Open() bool { return r.live != nil && r.live.State == Active || r.kind() == kindDetached }

func (r *Row) kind() byte {
	if r.live != nil {
		return r.live.kind()
	}
	return r.slot.kind
}

// Indexed is Brief without a look at the record of the job; nil where the index has
// not as much.
func (r *Row) Indexed(whole bool) *Brief {
	if r.live != nil {
		return r.live
	}
	text := r.f.window.read(filepath.Join(r.f.dir, r.JID[:hourDigits], indexName), r.slot)
	if text == "" {
		return nil
	}
	return decodeBrief(r.JID, text, whole)
}

// briefReturns is how many bytes of large returns are read of a job that is not in an index.
const briefReturns = 1 << 20

// Brief reads everything about the job except its returns; whole says that
// Load.Minions and Bad, which may be long, are needed, too.
func (r *Row) Brief(whole bool) *Brief {
	if b := r.Indexed(whole); b != nil {
		return b
	}
	// How targets did is beside what they returned: large returns are not read for it.
	lean := &Trim{Text: func(text string) string { return text }, Large: briefReturns}
	if j, err := r.f.TrimmedJob(context.Background(), r.JID, lean); err == nil && j != nil {
		return j.Brief()
	}
	return &Brief{JID: r.JID, Load: value.NewMap(0), Bad: value.NewMap(0), Damage: "its record was removed"}
}

// A window is the part of an index that was read last: listings go through them
// one way or the other.
type window struct {
	mu   sync.Mutex
	path string
	off  int64
	buf  []byte
}

const (
	windowSize = 256 << 10
	headSize   = 80 // what a line has in front of its JSON, at most
)

// read returns the JSON of a line; "" where the file has another one now.
func (w *window) read(path string, s slot) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if path != w.path || s.off-headSize < w.off && w.off > 0 || s.off+int64(s.n) > w.off+int64(len(w.buf)) {
		file, err := os.Open(path)
		if err != nil {
			return ""
		}
		defer file.Close()
		if w.buf == nil {
			w.buf = make([]byte, windowSize)
		}
		w.path, w.off = path, max(0, s.off-windowSize/2)
		n, _ := file.ReadAt(w.buf[:windowSize], w.off)
		w.buf = w.buf[:n]
	}
	at := s.off - w.off
	if at+int64(s.n) > int64(len(w.buf)) {
		return ""
	}
	// The line is checked, since another process may have written the index again.
	begin := bytes.LastIndexByte(w.buf[:at], '\n') + 1
	if got, ok := parseSlot(w.buf[begin:at+int64(s.n)], w.off+int64(begin)); !ok || got != s {
		return ""
	}
	return string(w.buf[at : at+int64(s.n)])
}

// Walk calls each for the jobs whose jid is at least from and at most to (""
// is no bound), from the newest back, until it returns false. Jobs whose file
// has changed since it was summed up are read again, and the index is brought up
// to date.
func (f *Files) Walk(ctx context.Context, from, to string, each func(*Row) bool) error {
	hours, err := f.hours(from, to)
	if err != nil {
		return err
	}
	// While the jobs of one hour are searched, those of the hours before it are
	// read ahead. A walk that ends with the newest reads none unnecessarily.
	ctx, cancel := context.WithCancel(ctx)
	var ahead []chan *hourRead // the newest first
	defer func() {
		cancel()
		for _, c := range ahead {
			<-c
		}
	}()
	next := len(hours)
	for i := range slices.Backward(hours) {
		most := 1
		if i < len(hours)-1 {
			most = hoursAhead
		}
		for ; next > 0 && len(ahead) < most; next-- {
			c := make(chan *hourRead, 1)
			ahead = append(ahead, c)
			go func(hour string) { c <- f.readHour(ctx, hour, from, to) }(hours[next-1])
		}
		h := <-ahead[0]
		ahead = ahead[1:]
		if more, err := f.walkHour(ctx, h, each); err != nil || !more {
			return err
		}
	}
	return nil
}

// hoursAhead is how many hours are read side by side: what takes the time is to ask
// for the size and time of each file.
const hoursAhead = 3

// An hourRead is what is known of the jobs of an hour: see [Files.refresh].
type hourRead struct {
	hour  string
	keys  []uint64
	slots []slot
	live  map[uint64]*Brief
	err   error
}

func (f *Files) readHour(ctx context.Context, hour, from, to string) *hourRead {
	h := &hourRead{hour: hour}
	if h.keys, h.err = f.keys(hour); h.err != nil {
		return h
	}
	h.keys = slices.DeleteFunc(h.keys, func(key uint64) bool {
		jid := jidOf(hour, key)
		return jid < from || to != "" && jid > to
	})
	h.slots, h.live, h.err = f.refresh(ctx, hour, h.keys)
	return h
}

func (f *Files) walkHour(ctx context.Context, h *hourRead, each func(*Row) bool) (more bool, err error) {
	if h.err != nil {
		return false, h.err
	}
	for _, key := range slices.Backward(h.keys) {
		row := &Row{JID: jidOf(h.hour, key), f: f}
		if i, ok := slices.BinarySearchFunc(h.slots, key, func(s slot, key uint64) int { return compareKeys(s.key, key) }); ok {
			row.slot = h.slots[i]
		}
		if stale, has := h.live[key]; has {
			if row.live = stale; stale == nil {
				continue // there is no job, or no more
			}
		} else if row.slot.kind == 0 {
			// The index cannot be written to.
			j, err := f.Job(ctx, row.JID)
			if err != nil {
				return false, err
			}
			if j == nil {
				continue
			}
			row.live = j.Brief()
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if !each(row) {
			return false, nil
		}
	}
	return true, nil
}

// indexBatch is how many bytes of lines are added to an index at once.
const indexBatch = 256 << 10

// refresh brings the index of an hour up to date for some jobs and returns it.
// live are those that are not in it: they run, or there is no job (nil).
func (f *Files) refresh(ctx context.Context, hour string, keys []uint64) (slots []slot, live map[uint64]*Brief, err error) {
	slots, _ = f.readIndex(hour)
	live = map[uint64]*Brief{}
	var add []byte
	added := false
	flush := func() {
		if len(add) > 0 {
			f.appendIndex(hour, add)
			add, added = add[:0], true
		}
	}
	dir, err := os.Open(filepath.Join(f.dir, hour))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		for _, key := range keys {
			live[key] = nil // swept meanwhile
		}
		return slots, live, nil
	}
	defer dir.Close()
	i := 0
	for _, key := range keys {
		for i < len(slots) && slots[i].key < key {
			i++
		}
		jid := jidOf(hour, key)
		st, err := stampAt(dir, jid+suffix)
		if err != nil {
			live[key] = nil // swept meanwhile
			continue
		}
		if i < len(slots) && slots[i].key == key && slots[i].size == st.size && slots[i].mtime == st.mtime {
			continue
		}
		if err := ctx.Err(); err != nil {
			flush()
			return nil, nil, err
		}
		j, err := f.Job(ctx, jid)
		switch {
		case err != nil:
			live[key] = &Brief{JID: jid, Load: value.NewMap(0), State: Interrupted, Bad: value.NewMap(0), Damage: "it cannot be read: " + err.Error()}
		case j == nil:
			live[key] = nil
		case j.State == Active || st.size == 0:
			live[key] = j.Brief()
		default:
			if add = append(add, indexLine(j.Brief(), st)...); len(add) > indexBatch {
				flush()
			}
		}
	}
	if flush(); added {
		slots, _ = f.readIndex(hour)
	}
	return slots, live, nil
}

// compact writes the index of an hour without the lines that do not count.
func (f *Files) compact(hour string) error {
	keys, err := f.keys(hour)
	if err != nil {
		return err
	}
	slots, lines := f.readIndex(hour)
	if lines <= len(keys) && len(slots) == lines {
		return nil
	}
	path := filepath.Join(f.dir, hour, indexName)
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(path), indexName+".")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(out.Name()) }()
	defer out.Close()
	w := bufio.NewWriter(out)
	for _, s := range slots {
		if _, ok := slices.BinarySearch(keys, s.key); !ok {
			continue
		}
		text := make([]byte, s.n)
		if _, err := in.ReadAt(text, s.off); err != nil {
			return err
		}
		rest := fmt.Appendf(nil, "%010d %d %d %c %s", s.key, s.size, s.mtime, s.kind, text)
		fmt.Fprintf(w, "%08x %s\n", crc32.ChecksumIEEE(rest), rest)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return os.Rename(out.Name(), path)
}

// justCreated reports whether a file is so young that its maker may not have locked
// it yet.
func justCreated(st fs.FileInfo) bool { return time.Since(st.ModTime()) < 5*time.Second }
