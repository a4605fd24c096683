package sshexec

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"brine/internal/core/roster"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	"brine/sshexec/link"
	"brine/sshexec/relay"
)

// Sealed files.
//
// A large file of the tree that many targets behind a relay get crosses the link to
// the relay once, as an agent does (see sshexec/relay). But it may hold a secret, so
// the relay gets it sealed: encrypted with a key that is made for this file and this
// run. The relay puts what is sealed into a connection of the target's own, whose
// bytes it can read and not change, and the target keeps it beside its cache. The key
// and the hash of the content come to the agent over its own connection, which the
// relay cannot read, as the answer to its request for the file. A relay learns how
// large the file is, and who got it.

// A sealed file is on the controller's disk, without a name.
type sealed struct {
	file  *os.File
	size  int64
	sum   string // of what is sealed, in hex
	plain string // of the content
	key   string // in hex

	done  chan struct{} // closed when it is there, or err is
	err   error
	users int
	used  time.Time
}

// seals are the sealed files of a run, by the hashes of their contents.
type seals struct {
	limit int64 // bytes of all; 0 is relay.MaxHeld
	// drop is called with the hash of the sealed content of a file that is
	// removed.
	drop func(sum string)

	mu  sync.Mutex
	all map[string]*sealed
	sum int64
}

// errNoRoom says that there are too many sealed files in use.
var errNoRoom = errors.New("there is no room for another sealed file")

// take returns a file sealed; leave is to be called when it is not needed any more.
func (s *seals) take(ctx context.Context, f link.Large) (x *sealed, leave func(), err error) {
	x, mine, err := s.begin(f)
	if err != nil {
		return nil, nil, err
	}
	leave = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		x.users--
		x.used = time.Now()
	}
	if mine {
		x.err = x.seal(ctx, f.Open)
		if x.err != nil {
			s.mu.Lock()
			delete(s.all, f.Sum)
			s.sum -= x.size
			s.mu.Unlock()
		}
		close(x.done)
	}
	select {
	case <-x.done:
		err = x.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		leave()
		return nil, nil, err
	}
	return x, leave, nil
}

// begin finds a sealed file, or makes room for one that is to be sealed: those that
// were not used for longest go.
func (s *seals) begin(f link.Large) (x *sealed, mine bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x = s.all[f.Sum]; x != nil {
		x.users++
		return x, false, nil
	}
	limit := s.limit
	if limit <= 0 {
		limit = relay.MaxHeld
	}
	for len(s.all) >= relay.MaxHeldFiles || f.Size > limit-s.sum {
		var old *sealed
		for _, x := range s.all {
			if x.users == 0 && (old == nil || x.used.Before(old.used)) {
				old = x
			}
		}
		if old == nil {
			return nil, false, errNoRoom
		}
		s.remove(old)
	}
	x = &sealed{size: f.Size, plain: f.Sum, done: make(chan struct{}), users: 1}
	if s.all == nil {
		s.all = map[string]*sealed{}
	}
	s.all[f.Sum] = x
	s.sum += x.size
	return x, true, nil
}

// remove lets a sealed file go. mu is held.
func (s *seals) remove(x *sealed) {
	delete(s.all, x.plain)
	s.sum -= x.size
	_ = x.file.Close()
	if s.drop != nil {
		go s.drop(x.sum)
	}
}

// close lets all of them go.
func (s *seals) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.all {
		select {
		case <-x.done:
			_ = x.file.Close()
		default:
		}
	}
	s.all = nil
}

// seal writes the file with its content encrypted.
func (x *sealed) seal(ctx context.Context, open func(context.Context) (io.ReadCloser, error)) error {
	content, err := open(ctx)
	if err != nil {
		return err
	}
	defer content.Close()
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	f, err := relay.Scratch("")
	if err != nil {
		return err
	}
	plain, outer := sha256.New(), sha256.New()
	// The key is used for nothing else, so the counter may begin at zero.
	w := cipher.StreamWriter{S: cipher.NewCTR(block, make([]byte, aes.BlockSize)), W: io.MultiWriter(f, outer)}
	n, err := io.Copy(io.MultiWriter(plain, w), io.LimitReader(content, x.size+1))
	if err == nil && (n != x.size || hex.EncodeToString(plain.Sum(nil)) != x.plain) {
		err = errors.New("the file was changed meanwhile")
	}
	if err != nil {
		_ = f.Close()
		return err
	}
	x.file, x.key, x.sum = f, hex.EncodeToString(key), hex.EncodeToString(outer.Sum(nil))
	return nil
}

// A sealedWay is the connection to a machine by which its relay sends it sealed
// files, one at a time. It ends when none was sent for a while.
type sealedWay struct {
	via string

	turn   chan struct{} // has room for one, who uses the rest
	client *Client
	tap    *tap
	off    error // why there is none
	uses   int
}

// wayIdle is how long a machine's connection for sealed files stays without use.
const wayIdle = 10 * time.Second

// large returns what sends large files of the tree to m by its relay; nil: nothing
// does.
func (m *machine) large() func(ctx context.Context, f link.Large) (*value.Map, error) {
	if m.via == "" || m.e.Passwd.IsSet() || m.e.TTY {
		return nil
	}
	way := &sealedWay{via: m.via, turn: make(chan struct{}, 1)}
	m.way.Store(way)
	return func(ctx context.Context, f link.Large) (*value.Map, error) {
		v, err := m.sendSealed(ctx, way, f)
		if log := m.p.s.Dialer.o.Log; err == nil {
			log.Debug("file sent by its relay", "host", m.e.ID, "size", f.Size)
		} else if !errors.Is(err, errAlone) && ctx.Err() == nil {
			log.Info("file not sent by its relay", "host", m.e.ID, "since", err)
		}
		return v, err
	}
}

// errAlone says that no other machine of the run is behind the relay.
var errAlone = errors.New("it is alone behind its relay")

func (m *machine) sendSealed(ctx context.Context, way *sealedWay, f link.Large) (*value.Map, error) {
	if b := m.p.machine(way.via); b == nil || b.relaying.behind.Load() < 2 {
		return nil, errAlone
	}
	x, leave, err := m.p.seals.take(ctx, f)
	if err != nil {
		return nil, err
	}
	defer leave()
	r, err := m.p.relay(ctx, way.via)
	if err != nil {
		return nil, err
	}
	if err := r.Hold(ctx, x.sum, x.size, x.file); err != nil {
		return nil, err
	}
	select {
	case way.turn <- struct{}{}:
		defer func() { <-way.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := m.openWay(ctx, way, r); err != nil {
		return nil, err
	}
	way.tap.carry(x.sum, x.file, x.size)
	name, err := m.p.place.deliver(ctx, way.client, m.e, x)
	if err != nil {
		way.end()
		return nil, err
	}
	m.endLater(way)
	return value.MapOf("sealed", name, "key", x.key, "sum", x.plain), nil
}

// openWay makes the connection where there is none. turn is held.
func (m *machine) openWay(ctx context.Context, way *sealedWay, r *relay.Conn) error {
	way.uses++
	if way.client != nil {
		select {
		case <-way.client.Done():
			way.client = nil
		default:
			return nil
		}
	}
	if way.off != nil {
		return way.off
	}
	var t *tap
	c, err := m.p.s.Dialer.dialShared(ctx, m.e, &carry{way.via, func(ctx context.Context, network, addr string) (net.Conn, error) {
		to, err := r.DialShared(ctx, network, addr)
		if err != nil {
			return nil, notCarried(way.via, err)
		}
		t = &tap{Shared: to}
		return t, nil
	}})
	if err != nil {
		if ctx.Err() == nil {
			way.off = err
		}
		return err
	}
	way.client, way.tap = c, t
	return nil
}

// endLater ends the connection if it is not used for a while. turn is held.
func (m *machine) endLater(way *sealedWay) {
	uses := way.uses
	time.AfterFunc(wayIdle, func() {
		select {
		case way.turn <- struct{}{}:
			defer func() { <-way.turn }()
			if way.uses == uses {
				way.end()
			}
		default: // it is used
		}
	})
}

// end ends the connection. turn is held.
func (way *sealedWay) end() {
	if way.client != nil {
		_ = way.client.Close()
		way.client = nil
	}
}

// closeWay ends the connection by which a machine gets sealed files. What is being
// sent by it ends with the agent that asked for it.
func (m *machine) closeWay() {
	way := m.way.Load()
	if way == nil {
		return
	}
	select {
	case way.turn <- struct{}{}:
		way.end()
		<-way.turn
	default:
	}
}

// deliver writes what is sealed to a file beside the cache of the agent on a host,
// and returns by which name the agent finds it.
func (p *placer) deliver(ctx context.Context, c *Client, e *roster.Entry, x *sealed) (string, error) {
	name, mark := token(), "brine-take-"+token()
	file := proc.Quote(link.SealedName(name))
	// Of what breaks off, nothing is left: a relay could fill the disk so.
	take := `(umask 077; mkdir -p cache/files && cd cache/files && echo ` + mark + ` >&2 && ` +
		`{ cat >` + file + ` && [ $(wc -c <` + file + `) -eq ` + strconv.FormatInt(x.size, 10) + ` ] || { rm -f ` + file + `; exit 1; }; }) && exit 0`
	send := &sending{c: c, e: e, maxStall: p.stall}
	ctx, stop := send.watch(ctx)
	defer stop()
	begin, cancel := context.WithTimeout(ctx, responseTimeout(e))
	defer cancel()
	s, err := c.start(begin, launchOf(e, p.atAgent(e, "brine-need-"+token(), take, "")))
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }() // the script's status was judged
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if _, err := s.await(begin, mark); err != nil {
		return "", err
	}
	go func() { _, _ = io.Copy(io.Discard, s) }()
	err = send.send(ctx, s.stdin, io.NewSectionReader(x.file, 0, x.size), 0, x.size)
	_ = s.stdin.Close()
	send.settle()
	status, werr := s.settled(ctx)
	switch {
	case werr != nil:
		return "", reasonOf(send.cause(ctx, werr))
	case status != 0:
		return "", fmt.Errorf("it cannot be written there: %s", oneLine(withoutMarks(s.complaint())))
	case err != nil:
		return "", reasonOf(send.cause(ctx, err))
	}
	return name, nil
}

// reasonOf returns what went wrong, without the host and what to do.
func reasonOf(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Err
	}
	return err
}
