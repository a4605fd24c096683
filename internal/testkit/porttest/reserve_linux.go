package porttest

import (
	"io"
	"net"
)

// reserve takes a name that one process of the machine can have, nil where it
// is taken: a socket without a file, which leaves nothing behind.
func reserve(name string) io.Closer {
	l, err := net.Listen("unix", "@"+name)
	if err != nil {
		return nil
	}
	return l
}
