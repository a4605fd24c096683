package master

import (
	"net"

	"golang.org/x/sys/unix"
)

// Peer returns the user ID of the process behind a socket.
func Peer(u *net.UnixConn) (int, error) {
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, err
	}
	uid := -1
	var uerr error
	err = raw.Control(func(fd uintptr) {
		var c *unix.Ucred
		if c, uerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); uerr == nil {
			uid = int(c.Uid)
		}
	})
	if err == nil {
		err = uerr
	}
	return uid, err
}
