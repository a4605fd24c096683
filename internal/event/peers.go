package event

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"brine/internal/value"
)

// A Sender hands events to other runs.
type Sender interface {
	// Send hands an event over and returns how many runs took it.
	Send(tag string, data *value.Map) int
}

// maxFrame bounds an event that comes from another process, in bytes.
const maxFrame = 1 << 20

// peerTimeout bounds how long one process waits for another.
const peerTimeout = 2 * time.Second

// Peers are the brine processes of one user on this machine: each that listens
// has a Unix socket in a directory that only the user can enter.
type Peers struct {
	// Dirs are the directories that may hold sockets; a process listens in the
	// first that it can.
	Dirs []string
}

// UserPeers returns the peers of a user: below $XDG_RUNTIME_DIR where it is
// set, and below the directory for temporary files.
func UserPeers(getenv func(string) string, tmp string, uid int) *Peers {
	p := &Peers{}
	if d := getenv("XDG_RUNTIME_DIR"); d != "" {
		p.Dirs = append(p.Dirs, filepath.Join(d, "brine"))
	}
	p.Dirs = append(p.Dirs, filepath.Join(tmp, "brine-"+strconv.Itoa(uid)))
	return p
}

// private makes dir if need be and checks that nobody else can enter it.
func private(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !st.IsDir() || st.Mode().Perm()&0o077 != 0 || ok && int(sys.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is not a directory of one's own that others cannot enter", dir)
	}
	return nil
}

// Listen puts the events that other processes send on bus, until close is
// called. It returns an error where no directory serves.
func (p *Peers) Listen(bus Bus) (closer func(), err error) {
	var errs []error
	for _, dir := range p.Dirs {
		if err := private(dir); err != nil {
			errs = append(errs, err)
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("%d-%d.sock", os.Getpid(), time.Now().UnixNano()))
		l, err := net.Listen("unix", path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			accept(l, bus, &wg)
		}()
		return func() {
			l.Close()
			os.Remove(path)
			wg.Wait()
		}, nil
	}
	return nil, errors.Join(errs...)
}

func accept(l net.Listener, bus Bus, wg *sync.WaitGroup) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer c.Close()
			serve(c, bus)
		}()
	}
}

// serve reads one event a line and answers each with "ok".
func serve(c net.Conn, bus Bus) {
	_ = c.SetDeadline(time.Now().Add(peerTimeout))
	sc := bufio.NewScanner(c)
	sc.Buffer(make([]byte, 0, 4096), maxFrame)
	for sc.Scan() {
		v, err := value.DecodeJSON(bytes.NewReader(sc.Bytes()))
		m, ok := v.(*value.Map)
		if err != nil || !ok {
			return
		}
		data := m.Map("data")
		if data == nil {
			data = value.NewMap(1)
		}
		bus.Fire(m.Str("tag"), data)
		if _, err := c.Write([]byte("ok\n")); err != nil {
			return
		}
	}
}

// Send hands an event to every process that listens. A socket that nobody
// listens at any more is removed.
func (p *Peers) Send(tag string, data *value.Map) int {
	frame := append(value.EncodeJSON(value.MapOf("tag", tag, "data", data)), '\n')
	if len(frame) > maxFrame {
		return 0
	}
	took := 0
	for _, dir := range p.Dirs {
		names, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		if private(dir) != nil {
			continue
		}
		for _, n := range names {
			if strings.HasSuffix(n.Name(), ".sock") && deliver(filepath.Join(dir, n.Name()), frame) {
				took++
			}
		}
	}
	return took
}

func deliver(path string, frame []byte) bool {
	c, err := net.DialTimeout("unix", path, peerTimeout)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			os.Remove(path)
		}
		return false
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(peerTimeout))
	if _, err := c.Write(frame); err != nil {
		return false
	}
	answer := make([]byte, 3)
	n, _ := c.Read(answer)
	return string(answer[:n]) == "ok\n"
}
