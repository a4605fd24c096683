package app

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/jobs"
)

// Background has another process of brine work on targets that are this machine:
// the same command line, which goes on with the job's record.
func (a *App) Background(job fun.Job, ids []string, rec jobs.Record) error {
	file := jobs.FileOf(rec)
	if file == nil {
		return errors.New("the job cannot go on without this process, since it cannot be recorded")
	}
	exe, err := host.Executable()
	if err != nil {
		return fmt.Errorf("the job cannot go on without this process: %w", err)
	}
	argv := []string{exe}
	if slices.Contains(SaltPrograms[:], a.Program) {
		argv = append(argv, a.Program)
	}
	flags, args := a.Args, []string(nil) // behind "--" there are no flags
	if i := slices.Index(flags, "--"); i >= 0 {
		flags, args = flags[:i], flags[i:]
	}
	flags = slices.DeleteFunc(slices.Clone(flags), func(x string) bool { return x == "--async" || strings.HasPrefix(x, "--async=") })
	// The command may come behind flags of the whole program, so its own come last.
	own := []string{"--jid", job.JID, "--background", strings.Join(ids, ",")}
	_, err = a.Host.Start(host.Cmd{Argv: slices.Concat(argv, flags, own, args), Stdin: file})
	return err
}

// GivenFlags returns the flags that a command was given, for another process of
// brine, but for those of own.
func GivenFlags(c *cobra.Command, own []string) (args []string) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(own, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if l, ok := f.Value.(pflag.SliceValue); ok {
			values = l.GetSlice()
		}
		for _, v := range values {
			args = append(args, "--"+f.Name+"="+v)
		}
	})
	return args
}

// maxOutLine bounds a line of a run's output that is kept.
const maxOutLine = 64 << 10

// A LineWriter splits what is written into lines.
type LineWriter struct {
	mu   sync.Mutex
	Each func(string)
	rest []byte
}

// Write calls each for the lines that are complete.
func (w *LineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		w.keep(p[:i])
		w.Each(string(w.rest))
		w.rest, p = w.rest[:0], p[i+1:]
	}
	w.keep(p)
	return n, nil
}

func (w *LineWriter) keep(p []byte) {
	w.rest = append(w.rest, p[:min(len(p), max(0, maxOutLine-len(w.rest)))]...)
}

// Flush hands on what is left without a newline.
func (w *LineWriter) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		w.Each(string(w.rest))
		w.rest = nil
	}
}
