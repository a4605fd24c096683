//go:build darwin || freebsd

package master

import (
	"net"

	"golang.org/x/sys/unix"
)

// solLocal is the level of options of Unix sockets.
const solLocal = 0

// Peer returns the user ID of the process behind a socket.
func Peer(u *net.UnixConn) (int, error) {
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, err
	}
	uid := -1
	var uerr error
	err = raw.Control(func(fd uintptr) {
		var c *unix.Xucred
		if c, uerr = unix.GetsockoptXucred(int(fd), solLocal, unix.LOCAL_PEERCRED); uerr == nil {
			uid = int(c.Uid)
		}
	})
	if err == nil {
		err = uerr
	}
	return uid, err
}
