package docker

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/proc"
	"brine/internal/py/value"
)

// A Command is a program to run in a container.
type Command struct {
	Line  string
	Stdin string
	Env   []string
}

// An Output is how a program in a container ended.
type Output struct {
	Status         int64
	Stdout, Stderr string
	All            string // both, as they came
}

// Exec runs a program in a container.
func (e *Engine) Exec(ctx context.Context, name string, c Command) (*Output, error) {
	argv, err := proc.Split(c.Line)
	if err != nil || len(argv) == 0 {
		return nil, fun.Errorf("Invalid command: '%s'", c.Line)
	}
	v, err := e.do(ctx, call{method: http.MethodPost, path: "/containers/" + name + "/exec", body: value.MapOf(
		"AttachStdin", c.Stdin != "", "AttachStdout", true, "AttachStderr", true, "Tty", false, "Cmd", value.Strings(argv...), "Env", value.Strings(c.Env...))})
	if err != nil {
		return nil, err
	}
	m, _ := v.(*value.Map)
	id := m.Str("Id")
	var raw net.Conn
	resp, err := e.send(ctx, call{method: http.MethodPost, path: "/exec/" + id + "/start", body: value.MapOf("Detach", false, "Tty", false)}, func(conn net.Conn) { raw = conn })
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if c.Stdin != "" {
		if _, err := io.WriteString(raw, c.Stdin); err != nil {
			return nil, e.fault(ctx, err)
		}
		if half, ok := raw.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}
	var stdout, stderr, all limited
	if err := frames(resp.Body, io.MultiWriter(&stdout, &all), io.MultiWriter(&stderr, &all)); err != nil {
		return nil, e.fault(ctx, err)
	}
	end, err := e.mapping(ctx, "/exec/"+id+"/json")
	if err != nil {
		return nil, err
	}
	status, _ := value.AsInt(end.At("ExitCode"))
	trim := func(s string) string { return strings.TrimRight(s, "\r\n") }
	return &Output{status, trim(stdout.String()), trim(stderr.String()), trim(all.String())}, nil
}

// run runs the program of a call.
func run(ctx context.Context, c *fun.Call, a *runArgs) (*Output, error) {
	e, err := New(ctx, c.Env, 0)
	if err != nil {
		return nil, err
	}
	cmd := Command{Line: a.Cmd, Stdin: a.Stdin}
	vars := c.Env.Host.Environ()
	for _, kv := range vars {
		k, _, _ := strings.Cut(kv, "=")
		if a.KeepEnv == true {
			cmd.Env = append(cmd.Env, kv)
			continue
		}
		for _, keep := range fun.StringsOf(a.KeepEnv) {
			if k == keep {
				cmd.Env = append(cmd.Env, kv)
			}
		}
	}
	return e.Exec(ctx, a.Name, cmd)
}

func status(a *runArgs, o *Output) int {
	if a.IgnoreRetcode {
		return 0
	}
	return int(o.Status)
}

func runAny(ctx context.Context, c *fun.Call, a *runArgs) (fun.Result, error) {
	o, err := run(ctx, c, a)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: o.All, Retcode: status(a, o)}, nil
}

func runAll(ctx context.Context, c *fun.Call, a *runArgs) (fun.Result, error) {
	o, err := run(ctx, c, a)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: value.MapOf("pid", int64(0), "retcode", o.Status, "stdout", o.Stdout, "stderr", o.Stderr), Retcode: status(a, o)}, nil
}

func runStdout(ctx context.Context, c *fun.Call, a *runArgs) (fun.Result, error) {
	o, err := run(ctx, c, a)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: o.Stdout, Retcode: status(a, o)}, nil
}

func runStderr(ctx context.Context, c *fun.Call, a *runArgs) (fun.Result, error) {
	o, err := run(ctx, c, a)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: o.Stderr, Retcode: status(a, o)}, nil
}

func retcode(ctx context.Context, c *fun.Call, a *runArgs) (fun.Result, error) {
	o, err := run(ctx, c, a)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: o.Status, Retcode: status(a, o)}, nil
}
