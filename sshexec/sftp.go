package sshexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/pkg/sftp"

	"brine/internal/core/roster"
	"brine/sshexec/link"
)

// SFTP, for hosts that take the agent in no other way. A host whose sh gets no
// bytes whole has it staged as a file that its script copies; a host without sh
// has it placed and started by its path, which every shell understands. An
// account that runs no commands at all runs no agent.

// sftp opens an SFTP channel. done closes it and aborts its requests.
func (c *Client) sftp(ctx context.Context) (fs *sftp.Client, done func(), err error) {
	sess, err := c.way.run(request{line: "sftp", subsystem: true}, io.Discard)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = sess.close() })
	if fs, err = sftp.NewClientPipe(sess.stdout, sess.stdin, sftp.UseConcurrentWrites(true)); err != nil {
		stop()
		_ = sess.close()
		return nil, nil, err
	}
	return fs, func() {
		stop()
		_ = fs.Close()
		_ = sess.close()
	}, nil
}

// upload writes an image to a new file.
func (p *placer) upload(ctx context.Context, fs *sftp.Client, x *sending, name string, mode os.FileMode) error {
	img := x.img
	body, size, _, err := p.images.stream(img, "cat")
	if err != nil {
		return err
	}
	defer body.Close()
	f, err := fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = fs.Close() })()
	x.size = size
	n, err := f.ReadFromWithConcurrency(&counted{r: body, moved: func(n int64) { x.arrive(ctx, n) }}, 0)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && n != img.size {
		err = fmt.Errorf("%d bytes of %d were written", n, img.size)
	}
	if err == nil {
		err = fs.Chmod(name, mode)
	}
	if err != nil {
		_ = fs.Remove(name)
	}
	return err
}

// stage writes an image to a file that any account of the host can read, for
// the script that copies it. What it copies is checked, so that it does not
// matter who else could write there.
func (p *placer) stage(ctx context.Context, x *sending) (name string, drop func(), err error) {
	c := x.c
	fs, done, err := c.sftp(ctx)
	if err != nil {
		return "", nil, c.fail(Push, fmt.Errorf("the agent does not arrive whole by the account's shell, and SFTP is not served: %w", err), "see the Subsystem sftp in the host's sshd_config")
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "."} {
		if dir, err = fs.RealPath(dir); err != nil {
			continue
		}
		name = path.Join(dir, ".brine-stage-"+token())
		if err = p.upload(ctx, fs, x, name, 0o644); err == nil {
			return name, func() {
				_ = fs.Remove(name)
				done()
			}, nil
		}
	}
	done()
	return "", nil, c.fail(Push, fmt.Errorf("SFTP cannot write the agent: %w", err), "see the room on the host's disks")
}

// worksWithoutShell reports whether an entry can do without sh.
func worksWithoutShell(e *roster.Entry) bool {
	return !e.Sudo && e.SudoUser == "" && !e.TTY && e.SetPath == "" && e.CmdUmask == "" && e.PreFlight == ""
}

// plainWord reports whether every shell takes s for one word.
func plainWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/-") == "" && s[0] == '/'
}

// bare starts the agent on a host without sh: a file that SFTP places and the
// account's shell, whatever it is, runs by its path.
func (p *placer) bare(ctx context.Context, c *Client, e *roster.Entry, why *noShellError) (*link.Conn, error) {
	const hint = "the account needs a shell and sh in its PATH; brine ssh -r works without"
	fs, done, err := c.sftp(ctx)
	if err != nil {
		return nil, c.fail(Shell, why, hint)
	}
	defer done()
	out, _, status, err := c.raw(ctx, e, "uname -sm")
	f := strings.Fields(out)
	if err != nil || status != 0 || len(f) != 2 {
		return nil, c.fail(Shell, why, hint)
	}
	img, err := p.imageFor(c, f[0], f[1])
	if err != nil {
		return nil, err
	}
	home, err := fs.RealPath(".")
	if err != nil {
		return nil, c.fail(Push, err, "")
	}
	dirs := []string{path.Join(home, ".cache/brine/agent")}
	if d := e.ThinDir; d != "" {
		d = strings.TrimPrefix(d, "~/")
		if !path.IsAbs(d) {
			d = path.Join(home, d)
		}
		dirs = append([]string{path.Join(d, "agent")}, dirs...)
	}
	var errs []error
	for _, dir := range dirs {
		exe, err := p.bareIn(ctx, c, e, fs, img, dir)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", dir, err))
			continue
		}
		sctx, cancel := context.WithTimeout(ctx, responseTimeout(e))
		defer cancel()
		s, err := c.open(sctx, exe+" "+p.command(), false, 0)
		if err != nil {
			return nil, c.fail(Shell, err, "")
		}
		conn, err := link.Connect(sctx, s, p.options(c))
		if err == nil {
			c.exe = exe
			c.bare.Store(true)
			return conn, nil
		}
		_ = s.Close()
		status, werr := s.settled(sctx)
		return nil, p.noAgent(ctx, c, s, status, werr, err)
	}
	return nil, c.fail(Shell, fmt.Errorf("there is no sh (%s), and an agent placed by SFTP does not run: %w", why.text, errors.Join(errs...)), hint)
}

// bareIn finds the agent in a directory, or places it there, and returns its
// path.
func (p *placer) bareIn(ctx context.Context, c *Client, e *roster.Entry, fs *sftp.Client, img *image, dir string) (string, error) {
	exe := path.Join(dir, "brine-"+img.hash)
	if !plainWord(exe) {
		return "", errors.New("not every shell takes its name for one word")
	}
	if _, err := fs.Lstat(dir); err != nil {
		if err := fs.MkdirAll(dir); err != nil {
			return "", err
		}
		if err := fs.Chmod(dir, 0o700); err != nil {
			return "", err
		}
	}
	// Whose files are ours tells one that was just made.
	tmp := path.Join(dir, ".new-"+token())
	there, err := fs.Lstat(exe)
	if err != nil || there.Size() != img.size || there.Mode() != 0o700 {
		if err := p.uploadInTurn(ctx, fs, &sending{c: c, e: e, img: img, log: p.opts.Log, maxStall: p.stall}, tmp); err != nil {
			return "", err
		}
	} else if err := touch(fs, tmp); err != nil {
		return "", err
	}
	defer func() { _ = fs.Remove(tmp) }()
	mine, err := fs.Lstat(tmp)
	if err != nil {
		return "", err
	}
	if st, err := fs.Lstat(dir); err != nil || !st.IsDir() || st.Mode().Perm() != 0o700 || owner(st) != owner(mine) {
		return "", errors.Join(errors.New("it is not a directory of the account with mode 0700"), err)
	}
	if mine.Size() == 0 {
		if owner(there) != owner(mine) {
			return "", errors.New("the agent there is another account's")
		}
		return exe, nil
	}
	out, said, status, err := c.raw(ctx, e, tmp+" agent --sum")
	switch {
	case err != nil:
		return "", err
	case status != 0:
		return "", errors.New(oneLine(said + " " + out))
	case strings.TrimSpace(out) != img.hash:
		return "", errors.New("it is not what was sent")
	}
	return exe, fs.PosixRename(tmp, exe)
}

// uploadInTurn uploads an agent when it is the host's turn.
func (p *placer) uploadInTurn(ctx context.Context, fs *sftp.Client, x *sending, name string) error {
	t, err := p.begin(ctx, x.c)
	if err != nil {
		return err
	}
	defer t.leave()
	x.turn = t
	ctx, stop := x.watch(ctx)
	defer stop()
	if err := p.upload(ctx, fs, x, name, 0o700); err != nil {
		return x.cause(ctx, err)
	}
	return nil
}

func touch(fs *sftp.Client, name string) error {
	f, err := fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	return f.Close()
}

// owner returns the uid of a file, -1 where the server does not tell.
func owner(st os.FileInfo) int {
	if s, ok := st.Sys().(*sftp.FileStat); ok {
		return int(s.UID)
	}
	return -1
}
