//go:build !linux

package sshexec

import "net"

// quick returns c: only Linux lets a program ask for quick acknowledgement.
func quick(c net.Conn) net.Conn { return c }
