package relay

import (
	"bufio"
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// Files at a relay.
//
// A file that many targets get (an agent) crosses the link to the relay once. The
// bytes to a target are those of an encrypted connection, so the relay cannot put
// the file into them by itself. But in counter mode the encrypted bytes are those
// of the file and a key stream: a controller that tells the relay this key, and at
// which place which part of the file stands, need not send that part. The code
// that authenticates each packet has a key of its own, which stays with the
// controller. So a relay can still change nothing that the target would take.
//
// What is sent to the target over such a connection can be read by the relay. It
// is one connection of its own, for nothing but files. Those of a tree, which may
// hold secrets, are held encrypted, for the run: see sshexec/sealed.go.

// maxFile bounds a file that a relay keeps, and keptFiles how many there are from
// run to run.
const (
	maxFile   = 256 << 20
	keptFiles = 8
)

// MaxHeld bounds what a relay holds for a run, in bytes, and MaxHeldFiles in
// files. They are on its disk, without a name.
const (
	MaxHeld      = 1 << 30
	MaxHeldFiles = 200
)

// maxPiece bounds a message of a shared connection.
const maxPiece = 64 << 10

// The messages to a target's connection: type uint8 | length uint32 | payload.
const (
	pieceRaw  = iota // bytes
	pieceKey         // key [16] | first counter [16]
	pieceFile        // place in the key stream uint64 | place in the file uint64 | length uint32 | hash
)

// store is what a relay has of files.
type store struct {
	dir string // "" is nowhere: files are kept for the run

	mu    sync.Mutex
	files map[string][]byte // by hash
	held  map[string]*held  // by hash
	sum   int64             // bytes of held, with those that are on their way
}

// held is a file that is kept until the end of the run.
type held struct {
	file *os.File
	size int64
}

func isSum(sum string) bool {
	return len(sum) == hex.EncodedLen(sha256.Size) && strings.Trim(sum, "0123456789abcdef") == ""
}

// get returns a file; nil: it is not there. One that was damaged is not there.
func (st *store) get(sum string) []byte {
	st.mu.Lock()
	defer st.mu.Unlock()
	if b := st.files[sum]; b != nil || st.dir == "" || !isSum(sum) {
		return b
	}
	b, err := readKept(st.dir, sum, maxFile)
	if err != nil || sumOf(b) != sum {
		return nil
	}
	st.keep(sum, b) // what is sent is what was compared, whatever becomes of the file
	return b
}

// readKept reads a regular file of dir, of at most limit bytes. It does not
// follow links, and does not block on a FIFO.
func readKept(dir, sum string, limit int64) ([]byte, error) {
	if err := ownDir(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, sum), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > limit {
		return nil, fmt.Errorf("%s is not a file that was kept", f.Name())
	}
	b := make([]byte, fi.Size())
	_, err = io.ReadFull(f, b)
	return b, err
}

// ownDir creates a directory if it is missing, and checks that it is not a
// link, that it belongs to this account and that nobody else may write to it.
func ownDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); !ok || !fi.IsDir() || int(st.Uid) != os.Geteuid() || fi.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is not a directory of this account alone", dir)
	}
	return nil
}

func (st *store) keep(sum string, b []byte) {
	if st.files == nil {
		st.files = map[string][]byte{}
	}
	st.files[sum] = b
}

// hold takes a file for the run.
func (st *store) hold(s *wire.Stream, sum string, size int64) error {
	st.mu.Lock()
	fits := st.held[sum] == nil && len(st.held) < MaxHeldFiles && size <= MaxHeld-st.sum
	if fits {
		st.sum += size
	}
	st.mu.Unlock()
	if !fits {
		return wire.Refusef("there is no room for %d bytes more", size)
	}
	f, err := Scratch(st.dir)
	if err == nil {
		h := sha256.New()
		_, err = io.CopyN(io.MultiWriter(f, h), s, size)
		if err == nil && hex.EncodeToString(h.Sum(nil)) != sum {
			err = errOther
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if err != nil {
		st.sum -= size
		if f != nil {
			_ = f.Close()
		}
		return err
	}
	if st.held == nil {
		st.held = map[string]*held{}
	}
	st.held[sum] = &held{f, size}
	return nil
}

// errOther says that a file is not the one that was announced.
var errOther = errors.New("what arrived is not what was sent")

// Scratch returns a file without a name: it is gone when it is closed, or its
// process has ended. It is in dir, or where that cannot be, in the system's place
// for such files.
func Scratch(dir string) (*os.File, error) {
	if dir != "" && ownDir(dir) != nil {
		dir = ""
	}
	f, err := os.CreateTemp(dir, ".held-")
	if err != nil && dir != "" {
		f, err = os.CreateTemp("", ".held-")
	}
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// drop lets a held file go.
func (st *store) drop(sum string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if h := st.held[sum]; h != nil {
		delete(st.held, sum)
		st.sum -= h.size
		_ = h.file.Close()
	}
}

// close lets all held files go.
func (st *store) close() {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, h := range st.held {
		_ = h.file.Close()
	}
}

// part reads a part of a held file.
func (st *store) part(sum string, from, n uint64) ([]byte, error) {
	st.mu.Lock()
	h := st.held[sum]
	st.mu.Unlock()
	var b []byte
	size := uint64(0)
	if h != nil {
		size = uint64(h.size)
	} else {
		b = st.get(sum)
		size = uint64(len(b))
	}
	if n > maxPiece || from > size || n > size-from {
		return nil, wire.Refusef("%d bytes at %d of a file of %d bytes", n, from, size)
	}
	out := make([]byte, n)
	if h == nil {
		copy(out, b[from:])
		return out, nil
	}
	_, err := h.file.ReadAt(out, int64(from))
	return out, err
}

func sumOf(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// put takes a file.
func (st *store) put(s *wire.Stream) error {
	sum, _ := s.Head().At("sum").(string)
	size, _ := s.Head().At("size").(int64)
	if !isSum(sum) || size < 0 || size > maxFile && s.Head().At("run") != true {
		return wire.Refusef("a file of %d bytes with the hash %q", size, sum)
	}
	if s.Head().At("run") == true {
		return st.hold(s, sum, size)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(s, b); err != nil {
		return err
	}
	if sumOf(b) != sum {
		return errOther
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.keep(sum, b)
	if st.dir != "" {
		st.save(sum, b)
	}
	return nil
}

// save writes a file for later runs. Where that fails, it is sent again then.
func (st *store) save(sum string, b []byte) {
	if ownDir(st.dir) != nil {
		return
	}
	if names, err := os.ReadDir(st.dir); err == nil && len(names) >= keptFiles {
		for _, n := range names {
			_ = os.Remove(filepath.Join(st.dir, n.Name()))
		}
	}
	f, err := os.CreateTemp(st.dir, ".new-")
	if err != nil {
		return
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(st.dir, sum))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

// pieces writes what the messages of a shared connection stand for.
func (st *store) pieces(w io.Writer, s io.Reader) error {
	r := bufio.NewReaderSize(s, 4<<10)
	var (
		head [5]byte
		key  cipher.Block
		iv   [aes.BlockSize]byte
		buf  = make([]byte, maxPiece)
	)
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		n := binary.BigEndian.Uint32(head[1:])
		if n > maxPiece {
			return wire.Refusef("a message of %d bytes", n)
		}
		p := buf[:n]
		if _, err := io.ReadFull(r, p); err != nil {
			return err
		}
		switch head[0] {
		case pieceRaw:
		case pieceKey:
			if len(p) != 2*aes.BlockSize {
				return wire.Refusef("a key of %d bytes", len(p))
			}
			var err error
			if key, err = aes.NewCipher(p[:aes.BlockSize]); err != nil {
				return err
			}
			copy(iv[:], p[aes.BlockSize:])
			continue
		case pieceFile:
			var err error
			if p, err = st.piece(p, key, iv); err != nil {
				return err
			}
		default:
			return wire.Refusef("a message of type %d", head[0])
		}
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
}

// piece makes the encrypted bytes of a part of a file.
func (st *store) piece(p []byte, key cipher.Block, iv [aes.BlockSize]byte) ([]byte, error) {
	if len(p) < 20 || key == nil {
		return nil, wire.Refusef("a part of a file of %d bytes, or before the key", len(p))
	}
	at, from, n := binary.BigEndian.Uint64(p), binary.BigEndian.Uint64(p[8:]), uint64(binary.BigEndian.Uint32(p[16:]))
	out, err := st.part(string(p[20:]), from, n)
	if err != nil {
		return nil, err
	}
	keyStream(key, iv, at).XORKeyStream(out, out)
	return out, nil
}

// keyStream returns the key stream from a place on.
func keyStream(key cipher.Block, iv [aes.BlockSize]byte, at uint64) cipher.Stream {
	blocks := at / aes.BlockSize
	for i := aes.BlockSize - 1; i >= 0 && blocks > 0; i-- {
		blocks += uint64(iv[i])
		iv[i] = byte(blocks)
		blocks >>= 8
	}
	s := cipher.NewCTR(key, iv[:])
	var skip [aes.BlockSize]byte
	s.XORKeyStream(skip[:at%aes.BlockSize], skip[:at%aes.BlockSize])
	return s
}

// Put has the relay keep a file, unless it has it. sum is its SHA-256, in hex.
func (c *Conn) Put(ctx context.Context, sum string, b []byte) error {
	done, err := c.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	if c.has[sum] {
		return nil
	}
	head := value.MapOf("sum", sum, "size", int64(len(b)))
	v, err := c.ask(ctx, methodHas, head)
	if err != nil {
		return err
	}
	if v != true {
		if err := c.put(ctx, head, bytes.NewReader(b)); err != nil {
			return err
		}
	}
	c.has[sum] = true
	return nil
}

// turn waits until a file may be sent: who comes later finds it there. A relay that
// let one stall is sent no further ones.
func (c *Conn) turn(ctx context.Context) (done func(), err error) {
	select {
	case c.putting <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.stalled != nil {
		<-c.putting
		return nil, c.stalled
	}
	return func() { <-c.putting }, nil
}

// watch returns a context that ends when the relay lets a file stall: when going was
// not called for a while. settle is to be called with the error of what was done with
// it.
func (c *Conn) watch(ctx context.Context) (watched context.Context, going func(), settle func(error) error) {
	stalled := fmt.Errorf("the relay took nothing, or did not answer, for %s", c.stall)
	watched, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(c.stall, func() { cancel(stalled) })
	return watched, func() { timer.Reset(c.stall) }, func(err error) error {
		timer.Stop()
		if err != nil && ctx.Err() == nil && errors.Is(context.Cause(watched), stalled) {
			c.stalled, err = stalled, stalled
		}
		cancel(nil)
		return reported(err)
	}
}

// ask asks for what has a short answer.
func (c *Conn) ask(ctx context.Context, method string, head *value.Map) (value.Value, error) {
	ctx, _, settle := c.watch(ctx)
	v, err := c.m.Call(ctx, method, head, 64)
	return v, settle(err)
}

// Hold has the relay hold a file until the end of the run, or [Conn.Drop], unless
// it does already. It sends size bytes of r, whose SHA-256 is sum, in hex.
func (c *Conn) Hold(ctx context.Context, sum string, size int64, r io.ReaderAt) error {
	done, err := c.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	if c.has[sum] {
		return nil
	}
	if err := c.put(ctx, value.MapOf("sum", sum, "size", size, "run", true), io.NewSectionReader(r, 0, size)); err != nil {
		return err
	}
	c.has[sum] = true
	return nil
}

// Drop has the relay let a held file go.
func (c *Conn) Drop(ctx context.Context, sum string) error {
	done, err := c.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	if !c.has[sum] {
		return nil
	}
	delete(c.has, sum)
	_, err = c.ask(ctx, methodDrop, value.MapOf("sum", sum))
	return err
}

func (c *Conn) put(ctx context.Context, head *value.Map, r io.Reader) error {
	ctx, going, settle := c.watch(ctx)
	return settle(c.send(ctx, head, r, going))
}

func (c *Conn) send(ctx context.Context, head *value.Map, r io.Reader, going func()) error {
	s, err := c.m.Open(ctx, methodPut, head, true)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err = io.CopyBuffer(progressWriter{s, going}, onlyReader{r}, make([]byte, 32<<10)); err == nil {
		err = s.CloseWrite(nil, nil)
	}
	if err != nil {
		return s.Why(err)
	}
	switch n, err := s.Read(make([]byte, 1)); {
	case n > 0:
		return errors.New("the relay broke the protocol: it answers a file with bytes")
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

// progressWriter calls progress after each write.
type progressWriter struct {
	w        io.Writer
	progress func()
}

func (g progressWriter) Write(b []byte) (int, error) {
	n, err := g.w.Write(b)
	g.progress()
	return n, err
}

// A Shared is a connection into which the relay puts files that it has. Its
// methods are not safe for concurrent writing.
type Shared struct {
	net.Conn
	buf []byte
}

// DialShared is Dial for a connection to which files are sent.
func (c *Conn) DialShared(ctx context.Context, network, addr string) (*Shared, error) {
	way, err := c.dial(ctx, value.MapOf("network", network, "addr", addr, "shared", true))
	if err != nil {
		return nil, err
	}
	return &Shared{Conn: way}, nil
}

func (s *Shared) send(kind byte, p ...[]byte) error {
	n := 0
	for _, b := range p {
		n += len(b)
	}
	s.buf = binary.BigEndian.AppendUint32(append(s.buf[:0], kind), uint32(n))
	for _, b := range p {
		s.buf = append(s.buf, b...)
	}
	_, err := s.Conn.Write(s.buf)
	return err
}

// Write sends bytes as they are.
func (s *Shared) Write(b []byte) (int, error) {
	for sent := 0; sent < len(b); sent += min(len(b)-sent, maxPiece) {
		if err := s.send(pieceRaw, b[sent:sent+min(len(b)-sent, maxPiece)]); err != nil {
			return sent, err
		}
	}
	return len(b), nil
}

// Key tells the relay by which key and first counter, of AES-128 in counter mode,
// the bytes of files are encrypted.
func (s *Shared) Key(key, iv []byte) error { return s.send(pieceKey, key, iv) }

// WriteFile sends n encrypted bytes of the file with the hash sum, from one of its
// bytes on. at is their place in the key stream. n is 64 KiB at most.
func (s *Shared) WriteFile(sum string, from, n int, at uint64) error {
	head := binary.BigEndian.AppendUint64(nil, at)
	head = binary.BigEndian.AppendUint64(head, uint64(from))
	head = binary.BigEndian.AppendUint32(head, uint32(n))
	return s.send(pieceFile, head, []byte(sum))
}
