// Package custom is the returners that users write: Python modules and executables
// in salt://_returners.
package custom

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/python"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

const dir = "_returners"

// Find returns the custom returners of env's tree, alphabetically. Files that are
// neither Python nor executable are warned of.
func Find(ctx context.Context, env *fun.Env) []returner.Spec {
	if env.Up == nil {
		return nil
	}
	if _, err := env.Up.Stat(ctx, env.SaltEnv, dir); err != nil {
		return nil
	}
	files, err := fun.ListFiles(ctx, env.Up, env.SaltEnv, dir)
	if err != nil {
		return nil
	}
	var out []returner.Spec
	for _, f := range files {
		base := path.Base(f.Path)
		ext := path.Ext(base)
		switch {
		case strings.HasPrefix(base, ".") || strings.HasPrefix(base, "__") || path.Dir(f.Path) != dir:
		case env.Limits.Custom(dir, strings.TrimSuffix(base, ext)) != "":
		case ext == ".py" || ext == ".star":
			for _, name := range python.NamesOf(ctx, env, f) {
				out = append(out, returner.Spec{
					Name: name, Place: cmp.Or(f.Abs, "salt://"+f.Path), Doc: "Hand returns to salt://" + f.Path + ".", Src: "salt://" + f.Path,
					New: func(ctx context.Context, s returner.Settings) (jobs.Returner, error) {
						return load(ctx, s.Env, f, name)
					},
				})
			}
		case ext == ".pyc":
			warn(env, f, "is compiled Python: put its source there")
		case f.Mode.Perm()&0o111 == 0:
			warn(env, f, "is not executable: chmod +x it, or it cannot serve as a returner")
		default:
			out = append(out, returner.Spec{
				Name: strings.TrimSuffix(base, ext), Place: cmp.Or(f.Abs, "salt://"+f.Path), Doc: "Hand returns to salt://" + f.Path + ".", Src: "salt://" + f.Path,
				New: func(_ context.Context, s returner.Settings) (jobs.Returner, error) { return start(s.Env, f) },
			})
		}
	}
	return out
}

func warn(env *fun.Env, f fun.FileInfo, text string) {
	env.Warn(fun.Warning{Where: "salt://" + f.Path, Text: text})
}

// A process is a returner that runs: it reads a return a line on stdin.
type process struct {
	name string
	in   *io.PipeWriter
	done chan struct{}
	err  error // how it ended, once done is closed
}

// start starts the executable; one that lies elsewhere is copied here first.
func start(env *fun.Env, f fun.FileInfo) (jobs.Returner, error) {
	exe := f.Abs
	if exe == "" {
		var err error
		if exe, err = fetch(env, f); err != nil {
			return nil, err
		}
	}
	r, w := io.Pipe()
	p := &process{name: "salt://" + f.Path, in: w, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		out, err := env.Host.Run(context.Background(), host.Cmd{Argv: []string{exe}, Stdin: r, MaxOutput: 1 << 20})
		switch {
		case err != nil:
			p.err = err
		case out.Status != 0:
			p.err = fmt.Errorf("%s ended with status %d: %s", p.name, out.Status, tail(out.Stderr))
		default:
			p.err = fmt.Errorf("%s: %w", p.name, errEarly)
		}
		r.CloseWithError(p.err)
	}()
	return p, nil
}

func tail(b []byte) string {
	s := strings.TrimSpace(string(b))
	if len(s) > 2000 {
		return "..." + s[len(s)-2000:]
	}
	return s
}

// fetch copies the executable into the cache.
func fetch(env *fun.Env, f fun.FileInfo) (string, error) {
	in, err := env.Up.Open(context.Background(), env.SaltEnv, f.Path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	to := filepath.Join(env.CacheDir, "returners", path.Base(f.Path))
	if err := env.Host.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", err
	}
	mode := fs.FileMode(0o700)
	return to, env.Host.WriteFile(to, in, host.WriteOptions{Mode: &mode})
}

// Return writes a line for each return.
func (p *process) Return(_ context.Context, rets []*value.Map) error {
	return p.write(returner.ReturnLines(rets))
}

// SaveEvents writes a line for each event.
func (p *process) SaveEvents(_ context.Context, events []jobs.EventRow) error {
	return p.write(returner.EventLines(events))
}

// Unsure says that the executable may have read a line and failed all the same.
func (p *process) Unsure() {}

func (p *process) write(b []byte) error {
	if _, err := p.in.Write(b); err != nil {
		<-p.done
		return p.err
	}
	return nil
}

// Close ends the input and waits for the process.
func (p *process) Close() error {
	_ = p.in.Close() // the process says how it went
	<-p.done
	if errors.Is(p.err, errEarly) {
		return nil
	}
	return p.err
}

// errEarly says that a returner that ended well ended while returns were to
// come.
var errEarly = errors.New("the returner ended before the run did")
