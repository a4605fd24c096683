package host

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// Connect tries a TCP connection.
func (*Local) Connect(ctx context.Context, address string, port int) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return c.Close()
}

// Connect succeeds where Listening has "address:port".
func (f *Fake) Connect(ctx context.Context, address string, port int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	at := net.JoinHostPort(address, strconv.Itoa(port))
	if f.Listening[at] {
		return nil
	}
	return fmt.Errorf("connect to %s: %w", at, syscall.ECONNREFUSED)
}
