// Package memcache is Salt's returner "memcache". It speaks memcached's text
// protocol itself: four commands are all that it needs.
package memcache

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

// Spec returns the returner.
func Spec() returner.Spec {
	return returner.Spec{
		Name: "memcache", Doc: "Store returns in memcached.", Src: "returners/memcache_return.py", New: open, Reads: true,
		Keys: returner.Keys(`
			host@ = localhost -- name or address of the server
			port@# = "11211" -- its port
		`),
	}
}

const (
	dialTimeout = 5 * time.Second
	// itemSize is the default maximum item size of a server; itemHead is the
	// part of it that the server itself uses, besides the key.
	itemSize = 1 << 20
	itemHead = 512
	maxKey   = 250
)

// Names of lists: ids with commas.
const (
	minionList = "minions"
	jidList    = "jids"
)

type store struct {
	conn net.Conn
	r    *bufio.Reader
	item int // the largest item of the server, in bytes
}

func open(ctx context.Context, s returner.Settings) (jobs.Returner, error) {
	d := net.Dialer{Timeout: dialTimeout}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(s.Str("host"), s.Str("port")))
	if err != nil {
		return nil, err
	}
	st := &store{conn, bufio.NewReader(conn), itemSize}
	if err := st.ask(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return st, nil
}

// ask asks the server for its largest item. One that does not tell has that which
// servers begin with.
func (s *store) ask(ctx context.Context) error {
	s.deadline(ctx)
	if _, err := io.WriteString(s.conn, "stats settings\r\n"); err != nil {
		return err
	}
	for {
		line, err := s.line()
		if err != nil {
			return err
		}
		if text, ok := strings.CutPrefix(line, "STAT item_size_max "); ok {
			if n, err := strconv.Atoi(text); err == nil && n > itemHead {
				s.item = n
			}
		}
		if !strings.HasPrefix(line, "STAT ") {
			return nil // END, or a server that does not know the command
		}
	}
}

// Close ends the connection.
func (s *store) Close() error { return s.conn.Close() }

// A command stores a value: set, append or add.
type command struct {
	verb, key string
	data      []byte
}

// valid reports whether a server takes the key.
func valid(key string) bool {
	return key != "" && len(key) <= maxKey && !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// unfit is why a server does not take a value; nil where it does.
func (s *store) unfit(key string, data []byte) error {
	switch {
	case !valid(key):
		return fmt.Errorf("%q is not a valid key of memcached", key)
	case len(data) > s.item-itemHead:
		return fmt.Errorf("%s has %d bytes, and item_size_max of the server is %d", key, len(data), s.item)
	}
	return nil
}

// send sends commands at once and returns, for each of them, whether it stored
// its value.
func (s *store) send(ctx context.Context, cmds []command) ([]bool, error) {
	s.deadline(ctx)
	var b bytes.Buffer
	for _, c := range cmds {
		fmt.Fprintf(&b, "%s %s 0 0 %d\r\n%s\r\n", c.verb, c.key, len(c.data), c.data)
	}
	// Answers are read while commands are written: neither side waits for the
	// other's full buffer.
	var writer sync.WaitGroup
	var writeErr error
	writer.Go(func() { _, writeErr = s.conn.Write(b.Bytes()) })
	stored := make([]bool, len(cmds))
	var fault error
	for i := range cmds {
		line, err := s.line()
		if err != nil {
			s.conn.Close() // ends the writer
			writer.Wait()
			return nil, err
		}
		switch {
		case line == "STORED":
			stored[i] = true
		case line == "NOT_STORED":
		case strings.HasPrefix(line, "SERVER_ERROR object too large"):
			fault = jobs.TooLarge(fmt.Errorf("memcached: %s: %s", cmds[i].key, line))
		case fault == nil:
			fault = fmt.Errorf("memcached: %s %s: %s", cmds[i].verb, cmds[i].key, line)
		}
	}
	writer.Wait()
	if writeErr != nil {
		return nil, writeErr
	}
	return stored, fault
}

func (s *store) deadline(ctx context.Context) {
	t, ok := ctx.Deadline()
	if !ok {
		t = time.Now().Add(4 * dialTimeout)
	}
	_ = s.conn.SetDeadline(t)
}

func (s *store) line() (string, error) {
	l, err := s.r.ReadString('\n')
	return strings.TrimRight(l, "\r\n"), err
}

// get reads values; keys without one are not among them.
func (s *store) get(ctx context.Context, keys []string) (map[string][]byte, error) {
	out := make(map[string][]byte, len(keys))
	const at = 100 // keys in one request
	for len(keys) > 0 {
		n := min(at, len(keys))
		var ask []string
		for _, k := range keys[:n] {
			if valid(k) {
				ask = append(ask, k)
			}
		}
		keys = keys[n:]
		if len(ask) == 0 {
			continue
		}
		s.deadline(ctx)
		if _, err := fmt.Fprintf(s.conn, "get %s\r\n", strings.Join(ask, " ")); err != nil {
			return nil, err
		}
		for {
			line, err := s.line()
			if err != nil {
				return nil, err
			}
			if line == "END" {
				break
			}
			f := strings.Fields(line)
			if len(f) < 4 || f[0] != "VALUE" {
				return nil, fmt.Errorf("memcached: get: %s", line)
			}
			size, err := strconv.Atoi(f[3])
			if err != nil || size < 0 || size > 1<<30 {
				return nil, fmt.Errorf("memcached: get: %s", line)
			}
			data := make([]byte, size+2)
			if _, err := io.ReadFull(s.r, data); err != nil {
				return nil, err
			}
			out[f[1]] = data[:size]
		}
	}
	return out, nil
}

// list reads a list.
func (s *store) list(ctx context.Context, key string) ([]string, error) {
	m, err := s.get(ctx, []string{key})
	if err != nil {
		return nil, err
	}
	names := strings.FieldsFunc(string(m[key]), func(r rune) bool { return r == ',' })
	for i, n := range names {
		names[i] = fromList.Replace(n)
	}
	return names, nil
}

// Names in lists have their commas written out.
var (
	toList   = strings.NewReplacer("%", "%25", ",", "%2C")
	fromList = strings.NewReplacer("%25", "%", "%2C", ",")
)

// extend adds to a list what it does not have. A list that grows beyond what a
// server takes loses its older half.
func (s *store) extend(ctx context.Context, key string, names []string) error {
	have, err := s.list(ctx, key)
	if err != nil {
		return err
	}
	in := map[string]bool{}
	size := 0
	for i, n := range have {
		in[n] = true
		have[i] = toList.Replace(n)
		size += len(have[i]) + 1
	}
	var more []byte
	for _, n := range names {
		if !in[n] {
			in[n] = true
			more = append(append(more, toList.Replace(n)...), ',')
		}
	}
	if len(more) == 0 {
		return nil
	}
	if size+len(more) > s.item-itemHead {
		have = have[len(have)/2:]
		_, err := s.send(ctx, []command{{"set", key, append([]byte(strings.Join(have, ",")+","), more...)}})
		return err
	}
	// Another process may add at the same time: append takes both.
	for _, verb := range []string{"append", "add", "append"} {
		done, err := s.send(ctx, []command{{verb, key, more}})
		if err != nil || done[0] {
			return err
		}
	}
	return nil
}

// Return stores answers under JID:ID and FUN:ID.
// Salt: returners/memcache_return.py returner.
func (s *store) Return(ctx context.Context, rets []*value.Map) error {
	var cmds []command
	var minions, jids []string
	unfit := map[int]error{}
	for i, r := range rets {
		id, jid, data := r.Str("id"), r.Str("jid"), value.StrictJSON(r)
		for _, key := range []string{r.Str("fun") + ":" + id, jid + ":" + id} {
			if err := s.unfit(key, data); err != nil {
				unfit[i] = err
			}
		}
		cmds = append(cmds, command{"set", jid + ":" + id, data}, command{"set", r.Str("fun") + ":" + id, data})
		minions, jids = append(minions, id), append(jids, jid)
	}
	if len(unfit) > 0 {
		return &jobs.UnfitError{Rows: unfit}
	}
	if _, err := s.send(ctx, cmds); err != nil {
		return err
	}
	if err := s.extend(ctx, minionList, minions); err != nil {
		return err
	}
	return s.extend(ctx, jidList, jids)
}

// SaveLoad stores loads under JID.
func (s *store) SaveLoad(ctx context.Context, loads []*value.Map) error {
	var cmds []command
	var jids []string
	unfit := map[int]error{}
	for i, l := range loads {
		c := command{"set", l.Str("jid"), value.StrictJSON(l)}
		if err := s.unfit(c.key, c.data); err != nil {
			unfit[i] = err
		}
		cmds, jids = append(cmds, c), append(jids, c.key)
	}
	if len(unfit) > 0 {
		return &jobs.UnfitError{Rows: unfit}
	}
	if _, err := s.send(ctx, cmds); err != nil {
		return err
	}
	return s.extend(ctx, jidList, jids)
}

func decode(b []byte, key string) (*value.Map, error) {
	v, err := value.ParseJSON(string(b))
	m, ok := v.(*value.Map)
	if err != nil || !ok {
		return nil, fmt.Errorf("memcached: %s is not a JSON mapping", key)
	}
	return m, nil
}

// Job reads a job; see [jobs.Store].
func (s *store) Job(ctx context.Context, jid string) (*jobs.Job, error) {
	minions, err := s.list(ctx, minionList)
	if err != nil {
		return nil, err
	}
	sort.Strings(minions)
	keys := []string{jid}
	for _, id := range minions {
		keys = append(keys, jid+":"+id)
	}
	found, err := s.get(ctx, keys)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	j := jobs.NewJob(jid, nil)
	if b, ok := found[jid]; ok {
		if j.Load, err = decode(b, jid); err != nil {
			return nil, err
		}
	}
	for _, id := range minions {
		if b, ok := found[jid+":"+id]; ok {
			m, err := decode(b, jid+":"+id)
			if err != nil {
				return nil, err
			}
			j.Got(id, m)
		}
	}
	return j, nil
}

// Jobs lists jobs; see [jobs.Store].
func (s *store) Jobs(ctx context.Context, from, to string) ([]jobs.Entry, error) {
	all, err := s.list(ctx, jidList)
	if err != nil {
		return nil, err
	}
	var jids []string
	for _, jid := range all {
		if jid >= from && (to == "" || jid <= to) {
			jids = append(jids, jid)
		}
	}
	sort.Strings(jids)
	loads, err := s.get(ctx, jids)
	if err != nil {
		return nil, err
	}
	var out []jobs.Entry
	for _, jid := range jids {
		if b, ok := loads[jid]; ok {
			l, err := decode(b, jid)
			if err != nil {
				return nil, err
			}
			out = append(out, jobs.Entry{JID: jid, Load: l})
			delete(loads, jid)
		}
	}
	return out, nil
}
