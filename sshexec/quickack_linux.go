package sshexec

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// quickConn acknowledges at once what it reads. Without it the first command
// of each connection waits some 40 ms: sshd holds a small segment back until
// the one before is acknowledged, and the kernel delays that.
type quickConn struct {
	*net.TCPConn
	raw syscall.RawConn
}

// unsent is how many bytes the kernel takes before they can be sent: a keepalive
// does not stand behind megabytes of a push.
const unsent = 64 << 10

// quick returns c with quick acknowledgement where c is TCP.
func quick(c net.Conn) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return c
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsent)
	})
	return &quickConn{tcp, raw}
}

// Read reads from the connection. The kernel resets the option after a while,
// so it is set before each read.
func (c *quickConn) Read(b []byte) (int, error) {
	_ = c.raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1)
	})
	return c.TCPConn.Read(b)
}
