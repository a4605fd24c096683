package sshexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"brine/internal/core/printable"
)

// Command starts a command line in the account's shell, and returns its stdin
// and stdout. Reading fails where the command did. Close ends it; the connection
// stays.
func (c *Client) Command(ctx context.Context, line string) (io.ReadWriteCloser, error) {
	s, err := c.open(ctx, line, false, 0)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", line, err)
	}
	return &command{stream: s}, nil
}

type command struct{ *stream }

// Read reads stdout; its end is that of a command that succeeded.
func (c *command) Read(b []byte) (int, error) {
	n, err := c.stdout.Read(b)
	if n > 0 || !errors.Is(err, io.EOF) {
		return n, err
	}
	status, werr := c.Wait()
	if werr == nil && status == 0 {
		return 0, io.EOF
	}
	said, _, _ := strings.Cut(strings.TrimSpace(c.complaint()), "\n")
	return 0, ended("the command", status, printable.Line(said))
}
