package jobs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brine/internal/py/value"
)

// A spool is the rows that one run has handed to a returner, in a file: a line
// of JSON a row, {"n": 17, "kind": "return", "data": {...}}, and a line
// {"sent": [1, 17]} where the returner has taken the rows of these numbers. A
// process that works on a spool holds a lock on it.
//
// Rows are not synced to disk one by one: that they outlive the process is
// enough, since the job cache has synced them.
type spool struct {
	dir   string
	owner []byte // what the directory is to say of whose it is

	mu   sync.Mutex // never held while somebody waits for the worker
	file *os.File
	rows int64 // numbers that were given
	size int64
	err  error

	torn  atomic.Bool // a line was cut short: the disk is full
	taken int64       // how many rows were taken; the worker's
}

// SpoolSuffix ends the names of files with rows that wait.
const SpoolSuffix = ".spool"

// fault is why rows are not on disk.
func (p *spool) fault() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// add writes a row and returns its number; 0 where it cannot be written.
func (p *spool) add(kind string, data []byte) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		err := p.prepare()
		var f *os.File
		if err == nil {
			f, err = openSpool(p.dir)
		}
		if err != nil {
			p.err = err
			return 0
		}
		p.file = f
	}
	b := make([]byte, 0, len(data)+48)
	b = append(b, `{"n":`...)
	b = strconv.AppendInt(b, p.rows+1, 10)
	b = append(b, `,"kind":"`...)
	b = append(b, kind...)
	b = append(b, `","data":`...)
	b = append(b, data...)
	b = append(b, "}\n"...)
	if err := p.write(b); err != nil {
		p.err = err
		return 0
	}
	p.rows++
	p.size += int64(len(b))
	return p.rows
}

// write appends one line by one call, which no other one comes between.
func (p *spool) write(b []byte) error {
	if p.torn.Load() {
		b = append([]byte{'\n'}, b...)
	}
	_, err := p.file.Write(b)
	p.torn.Store(err != nil)
	return err
}

// maxSpool is the size from which a file is truncated once all its rows were
// taken.
const maxSpool = 1 << 20

// sent notes that rows were taken.
func (p *spool) sent(batch []item) {
	from, to := int64(0), int64(0)
	note := func() {
		if from > 0 {
			p.taken += to - from + 1
			_ = p.write(fmt.Appendf(nil, "{\"sent\":[%d,%d]}\n", from, to))
		}
	}
	for _, it := range batch {
		switch {
		case it.n == 0:
		case to > 0 && it.n == to+1:
			to++
		default:
			note()
			from, to = it.n, it.n
		}
	}
	note()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size > maxSpool && p.taken == p.rows && p.file.Truncate(0) == nil {
		p.size = 0
	}
}

// close ends the file and removes it where all rows were taken.
func (p *spool) close() {
	if p.file == nil {
		return
	}
	if p.taken < p.rows {
		_ = p.file.Sync()
	} else if os.Remove(p.file.Name()) != nil {
		_ = p.file.Truncate(0) // what was taken is not sent again
	}
	unlock(p.file)
	p.file.Close()
}

// drop removes the file with what it has.
func (p *spool) drop() {
	if p.file == nil {
		return
	}
	_ = os.Remove(p.file.Name())
	unlock(p.file)
	p.file.Close()
}

// prepare makes the directory, and notes there whose it is.
func (p *spool) prepare() error {
	if p.dir == "" {
		return errors.New("nothing is kept on disk for it")
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil || p.owner == nil {
		return err
	}
	path := filepath.Join(p.dir, OwnerFile)
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, p.owner) {
		return nil
	}
	next := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := writeSynced(next, p.owner); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// OwnerFile says, in a spool, whose rows it has; see [Sink.Owner].
const OwnerFile = "settings.json"

// openSpool makes a spool file that no other process has, and locks it.
func openSpool(dir string) (*os.File, error) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s-%d-%d%s", time.Now().UTC().Format("20060102150405.000000"), os.Getpid(), i, SpoolSuffix)
		path := filepath.Join(dir, name)
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_RDWR, 0o600)
		if errors.Is(err, os.ErrNotExist) && i < 100 {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, err
			}
			continue
		}
		if errors.Is(err, os.ErrExist) && i < 100 {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			f.Close()
			return nil, err
		}
		// Another process may have found the file, empty and without a lock, and
		// have removed it.
		if _, err := os.Stat(path); err == nil || i >= 100 {
			return f, nil
		}
		f.Close()
	}
}

// Spooled reports whether rows may wait in a directory of a sink.
func Spooled(dir string) bool {
	files, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), SpoolSuffix) {
			return true
		}
	}
	return false
}

// resend sends what earlier runs left in the spool, oldest first. A file that
// another process is at is left to it. It reports whether the returner was there
// and took none of them: this run's own rows show whether that is their fault,
// and last says that they have.
func (w *writer) resend(over context.Context, last bool) (stuck bool) {
	s := w.sink
	w.last = last
	if s.Spool == "" || w.backingOff() {
		return false
	}
	entries, err := os.ReadDir(s.Spool)
	if err != nil {
		return false
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), SpoolSuffix) {
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	sent := false
	for _, n := range names {
		path := filepath.Join(s.Spool, n)
		f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
		if err != nil {
			continue
		}
		mine := tryLock(f)
		err = nil
		if mine {
			if err = w.resendFile(over, f, &sent); err == nil && os.Remove(path) != nil {
				_ = f.Truncate(0) // what was taken is not sent again
			}
			unlock(f)
		}
		f.Close()
		switch {
		case err == nil:
			continue
		case w.broke && !last && !w.accepted:
			return true
		case over.Err() == nil || !sent:
			w.isDown(err)
			w.warnDown("returner %s is down: %w; what it did not take before stays in %s", s.Name, err, s.Spool)
		}
		if len(w.given) > 0 {
			w.giveUp(err)
		}
		return false
	}
	return false
}

// resendFile sends the rows of a file that were not taken. What is taken of them
// is noted in the file, so that a fault half-way costs nothing.
func (w *writer) resendFile(over context.Context, f *os.File, sent *bool) error {
	s := w.sink
	var taken ranges
	if err := spoolLines(f, func(m *value.Map) error {
		if l := m.List("sent"); l.Len() == 2 {
			from, _ := value.AsInt(l.Items[0])
			to, _ := value.AsInt(l.Items[1])
			taken = append(taken, [2]int64{from, to})
		}
		return nil
	}); err != nil {
		return err
	}
	taken.sort()
	old := spool{file: f}
	old.torn.Store(true) // the run may have been killed in the middle of a line
	var batch []item
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		took := func(rows []item) {
			*sent = true
			old.sent(rows)
		}
		if err := w.again(over, batch, took); err != nil {
			return err
		}
		batch = nil
		return nil
	}
	err := spoolLines(f, func(m *value.Map) error {
		data := m.Map("data")
		n, _ := value.AsInt(m.At("n"))
		if data == nil || taken.has(n) {
			return nil
		}
		if batch = append(batch, item{m.Str("kind"), data, n}); len(batch) >= s.Batch {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// again gives rows of an earlier run to the returner, and tells took of those
// that the old file need not keep. A returner that can tell is asked first which
// of them it has: the run may have been killed before it noted them.
func (w *writer) again(over context.Context, batch []item, took func([]item)) error {
	ctx, cancel := context.WithTimeout(over, tryTimeout)
	defer cancel()
	w.broke, w.hung = false, false
	if err := w.connect(ctx); err != nil {
		w.hung = hangs(ctx, err)
		return err
	}
	send := batch
	if u, ok := w.ret.(Unstorer); ok {
		var rets []*value.Map
		for _, it := range batch {
			if it.kind == returnItem {
				rets = append(rets, it.data)
			}
		}
		fresh, err := u.Unstored(ctx, rets)
		if err != nil {
			w.hung = hangs(ctx, err)
			_ = w.ret.Close()
			w.ret = nil
			return err
		}
		want := make(map[*value.Map]bool, len(fresh))
		for _, r := range fresh {
			want[r] = true
		}
		send = nil
		for _, it := range batch {
			if it.kind != returnItem || want[it.data] {
				send = append(send, it)
			}
		}
		if len(send) < len(batch) {
			took(without(batch, send))
		}
	}
	var moved error
	f := rowHandler{took, func(l failedRow) {
		row := []item{l.item}
		mine, err := w.move(row)
		if err != nil {
			moved = err
			return
		}
		l.item = mine[0]
		w.aside(l)
		took(row)
	}}
	left, err := w.deliver(ctx, send, f)
	if err != nil && w.broke {
		_, err = w.isolate(ctx, left, f, err, w.last && w.accepted)
	}
	if err = errors.Join(err, moved); err != nil || !w.unsure {
		if err == nil {
			w.isUp()
		}
		return err
	}
	// Whether it has them is known at the end.
	mine, err := w.move(send)
	if err != nil {
		return err
	}
	given := w.given[len(w.given)-len(send):]
	for i := range mine {
		given[i].n = mine[i].n
	}
	took(send)
	return nil
}

// move puts rows of an earlier run into this run's file.
func (w *writer) move(rows []item) ([]item, error) {
	out := make([]item, len(rows))
	for i, it := range rows {
		if it.n = w.sink.spool.add(it.kind, value.EncodeJSON(it.data)); it.n == 0 {
			return nil, w.sink.spool.fault()
		}
		out[i] = it
	}
	return out, nil
}

// spoolLines reads the lines of a spool file. A line that was cut short is
// passed over. The place is not the file's own, which is at the end after each line
// that is appended meanwhile.
func spoolLines(f *os.File, each func(*value.Map) error) error {
	r := bufio.NewReaderSize(io.NewSectionReader(f, 0, math.MaxInt64), 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		if m := decodeLine(line); m != nil {
			if err := each(m); err != nil {
				return err
			}
		}
	}
}

// ranges are numbers of rows, from and to.
type ranges [][2]int64

func (r ranges) sort() { sort.Slice(r, func(i, k int) bool { return r[i][0] < r[k][0] }) }

// has reports whether sorted ranges have a number.
func (r ranges) has(n int64) bool {
	i := sort.Search(len(r), func(i int) bool { return r[i][0] > n })
	return i > 0 && n <= r[i-1][1]
}
