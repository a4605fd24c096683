package host

import (
	"context"
	"errors"
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

// SendUDP sends a datagram.
func (*Local) SendUDP(ctx context.Context, address string, port int, data []byte) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "udp", net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	_, err = c.Write(data)
	return errors.Join(err, c.Close())
}

// SendUDP notes the datagram among [Fake.Writes].
func (f *Fake) SendUDP(ctx context.Context, address string, port int, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wrote("SendUDP", net.JoinHostPort(address, strconv.Itoa(port)), fmt.Sprintf("%x", data))
	return nil
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
