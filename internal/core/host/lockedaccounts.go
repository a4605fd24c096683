package host

import (
	"bytes"
	"context"
	"io"
	"time"
)

// How often RunAccounts tries, and how long it waits between.
const (
	accountTries = 60
	accountPause = 250 * time.Millisecond
)

// locked reports whether somebody else changes the accounts. What may not change
// them says the same of the lock, after the reason.
func locked(stderr []byte) bool {
	return bytes.Contains(stderr, []byte("cannot lock /etc/")) && !bytes.Contains(stderr, []byte("Permission denied"))
}

// RunAccounts runs a program that changes the accounts of the machine, such as
// useradd. While somebody else changes them, such a program does not wait for
// the lock but fails: it is run again then, for 15 seconds at most.
func RunAccounts(ctx context.Context, h Host, c Cmd) (Output, error) {
	for try := 1; ; try++ {
		if s, ok := c.Stdin.(io.Seeker); ok {
			if _, err := s.Seek(0, io.SeekStart); err != nil {
				return Output{}, err
			}
		}
		out, err := h.Run(ctx, c)
		if err != nil || out.Status == 0 || try == accountTries || !locked(out.Stderr) {
			return out, err
		}
		if err := h.Sleep(ctx, accountPause); err != nil {
			return out, err
		}
	}
}
