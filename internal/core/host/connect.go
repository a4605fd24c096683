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

// Dial opens a connection.
func (*Local) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// Dial connects by OnDial; without it nothing listens.
func (f *Fake) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.OnDial != nil {
		return f.OnDial(ctx, network, address)
	}
	err := syscall.ECONNREFUSED
	if network == "unix" {
		err = syscall.ENOENT
	}
	return nil, &net.OpError{Op: "dial", Net: network, Err: err}
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
