package sshexec

import (
	"context"
	"fmt"
	"io"

	"brine/internal/core/roster"
)

// Script runs a script of sh on a host, as root where its roster says sudo, and returns its
// exit status. Its stdin is what in has, nil is nothing. A script that ctx ends may go on there.
func (c *Client) Script(ctx context.Context, e *roster.Entry, script string, in io.Reader, out io.Writer) (stderr string, status int, err error) {
	l := launchOf(e, setup(e)+script)
	l.keep = shellMax
	s, err := c.start(ctx, l)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = s.Close() }() // its status was judged
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	go func() {
		if in != nil {
			_, _ = io.Copy(s.stdin, in) // a script that ends early reads not all
		}
		_ = s.stdin.Close()
	}()
	if _, err = io.Copy(out, s); err == nil {
		status, err = s.settled(ctx)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", 0, c.fail(Shell, err, "")
	}
	if n := s.errs.lost(); n > 0 {
		return "", 0, fmt.Errorf("%d bytes that it wrote to stderr are lost", n)
	}
	return s.errs.String(), status, nil
}
