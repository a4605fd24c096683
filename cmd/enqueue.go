package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/fleet/queue"
	"brine/internal/py/value"
)

// orchestrateName is the runner function that queued entries are calls of.
const orchestrateName = "state.orchestrate"

// queueTimeout bounds the time that a command waits for the database of a queue.
const queueTimeout = 30 * time.Second

// travelling are the flags that mean something for an orchestration that is
// queued: all others are those of the worker.
var travelling = []string{
	"queue", "config-dir", "saltfile", "saltenv", "pillarenv", "at", "no-parse", "id", "cachedir", "log-level", "log-file", "log-file-level", "strict",
	"out", "out-file", "out-file-append", "out-indent", "no-color", "force-color", "progress", "no-progress", "file-root", "pillar-root",
}

// enqueue puts an orchestration into a queue and prints its jid.
func enqueue(ctx context.Context, a *app.App, c *cobra.Command, o *runOpts, args []string) error {
	var stays []string
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(travelling, f.Name) {
			stays = append(stays, "--"+f.Name)
		}
	})
	switch {
	case len(stays) > 0:
		return app.Usagef(c, "%s cannot be given with --queue: they are flags of the worker", strings.Join(stays, ", "))
	case !queue.ValidName(o.queue):
		return app.Usagef(c, "--queue: invalid name %q: letters, digits and . _ - are allowed, 64 at most", o.queue)
	}
	if err := a.Saltfile(c, "salt-run", &o.RunFlags); err != nil {
		return err
	}
	s, err := newSession(a, config.Master, "salt-run", &o.RunFlags, nil)
	if err != nil {
		return err
	}
	defer s.end()
	s.runner = true
	if err := s.checkOutput(); err != nil {
		return err
	}
	defer s.reportFault(&err)
	if err := s.applySDB(ctx); err != nil {
		return err
	}
	env := s.env(ctx, s.jids.Next(a.Host.Now()))
	in := dispatch.ParseInput(args, o.Unparsed())
	if err := s.mayQueue(env, in); err != nil {
		return err
	}
	e := &queue.Entry{
		Queue: o.queue, User: s.userName(), Controller: env.ID,
		Work: &queue.Work{Args: in.Pos, Kwargs: in.Kw, At: o.At, SaltEnv: o.Saltenv, PillarEnv: o.Pillarenv},
	}
	if _, err := e.Work.Encode(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	q, err := assembly.OpenQueue(ctx, env)
	if err != nil {
		return err
	}
	// The job id is not reserved in the cache of this machine, where the worker may
	// need it at once. The database has the last word on it.
	for err = queue.ErrExists; errors.Is(err, queue.ErrExists); {
		e.JID = s.jids.Next(a.Host.Now())
		err = q.Put(ctx, e)
	}
	if cerr := q.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("the orchestration cannot be queued: %w", err)
	}
	if err := s.print(e.JID, "txt", app.ExitOK); err != nil {
		return err
	}
	return app.Silent(s.strictStatus(app.ExitOK))
}

// mayQueue returns an error for arguments that state.orchestrate does not take, and
// for a pillar with secrets: the database would have them in clear text.
func (s *session) mayQueue(env *fun.Env, in fun.Args) error {
	mod, spec, err := env.Find(fun.Runner, orchestrateName)
	if err != nil {
		return err
	}
	if _, err := dispatch.New(env).Bind(mod, spec, in); err != nil {
		return app.UsageOf(orchestrateName, err)
	}
	p := in.Kw.At("pillar")
	if _, ok := p.(*value.Map); p != nil && !ok {
		return fmt.Errorf("pillar data must be a mapping, not %s: pillar='{\"key\": \"value\"}'", value.Kind(p))
	}
	known := s.secrets
	if known == nil {
		known = redact.NewSet()
	}
	if paths := known.Paths(p); len(paths) > 0 {
		return &app.StatusError{
			Status: app.ExitGeneric, Err: fmt.Errorf("the pillar has secrets, which a queue does not keep: %s", strings.Join(paths, ", ")),
			Hint: "put them into the pillar of the workers, or give them encrypted with GPG and pillar_enc=gpg; '!NAME' in mask_pillar_keys says that a key is not a secret",
		}
	}
	return nil
}
