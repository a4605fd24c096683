// Package cron is Salt's execution module "cron": the crontabs of users.
package cron

import (
	"context"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/modules/tool"
)

// Module returns the execution module "cron".
func Module() fun.Module {
	return fun.Module{Name: "cron", Kind: fun.Exec, Doc: "Manage crontabs.", Specs: specs, Avail: available}
}

func available(e *fun.Env) (bool, string) {
	if _, err := e.Host.LookPath("crontab", ""); err != nil {
		return false, "Cannot load cron module: crontab command not found"
	}
	return true, ""
}

func admin(c *fun.Call) *Admin { return NewAdmin(c.Env, c.Str("user")) }

func rawCron(ctx context.Context, c *fun.Call) (fun.Result, error) {
	text, _, err := admin(c).Raw(ctx)
	return fun.Result{Value: text}, err
}

func listTab(ctx context.Context, c *fun.Call) (fun.Result, error) {
	t, err := admin(c).Tab(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(t.Value())
}

func getEntry(ctx context.Context, c *fun.Call) (fun.Result, error) {
	t, err := admin(c).Tab(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	id, cmd := c.Str("identifier"), c.Str("cmd")
	if id != "" && cmd != "" {
		c.Env.Log().Warn("cron.get_entry: both identifier and cmd are specified, only identifier is used")
	}
	j := t.FindFunc(func(j *Job) bool {
		if id != "" {
			return j.Identifier == id
		}
		return cmd != "" && j.Cmd == cmd
	})
	if j == nil {
		return fun.Value(false)
	}
	return fun.Value(j.value())
}

// done returns what a change did, or what crontab(1) said where it failed.
func done(out tool.Out, err error, did string) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, err
	}
	if !out.OK() {
		return fun.Result{Value: out.Fault(), Retcode: out.Status}, nil
	}
	return fun.Value(did)
}

// wanted returns the job that the arguments describe.
func wanted(c *fun.Call) *Want {
	w := &Want{}
	w.Cmd, w.Commented = c.Str("cmd"), c.Bool("commented")
	w.Comment, w.HasComment = c.Str("comment"), !c.IsNone("comment")
	w.Identifier, w.HasIdentifier = c.Str("identifier"), !c.IsNone("identifier")
	return w
}

// set puts a job in and says "new", "updated" or "present".
func set(ctx context.Context, c *fun.Call, w *Want) (fun.Result, error) {
	if err := w.Check(); err != nil {
		return fun.Result{}, err
	}
	did := "present"
	out, err := admin(c).Change(ctx, func(t *Tab) (bool, error) {
		have := t.Find(w.Cmd, w.Identifier)
		switch {
		case have == nil:
			did = "new"
		case w.Due(have) || !have.HasIdentifier && !w.HasIdentifier:
			// Salt says so of every job without an identifier.
			did = "updated"
		default:
			return false, nil
		}
		w.Put(t, have)
		return true, nil
	})
	return done(out, err, did)
}

func setJob(ctx context.Context, c *fun.Call) (fun.Result, error) {
	w := wanted(c)
	for i, f := range w.times() {
		*f = c.Str(timeNames[i])
	}
	return set(ctx, c, w)
}

func setSpecial(ctx context.Context, c *fun.Call) (fun.Result, error) {
	w := wanted(c)
	w.Special = c.Str("special")
	if w.Special == "" {
		return fun.Result{}, fun.Errorf("special must be a single word such as @daily")
	}
	return set(ctx, c, w)
}

func remove(ctx context.Context, c *fun.Call, match func(*Job) bool, k kind) (fun.Result, error) {
	did := "absent"
	out, err := admin(c).Change(ctx, func(t *Tab) (bool, error) {
		i := t.find(match, k)
		if i < 0 {
			return false, nil
		}
		did = "removed"
		t.drop(i)
		return true, nil
	})
	return done(out, err, did)
}

func rmJob(ctx context.Context, c *fun.Call) (fun.Result, error) {
	match := matcher(c.Str("cmd"), c.Str("identifier"))
	return remove(ctx, c, func(j *Job) bool {
		if !match(j) {
			return false
		}
		for i, f := range j.times() {
			if name := timeNames[i]; !c.IsNone(name) && *f != c.Str(name) && (c.Str(name) != random || *f == "*") {
				return false
			}
		}
		return true
	}, job)
}

func rmSpecial(ctx context.Context, c *fun.Call) (fun.Result, error) {
	match := matcher(c.Str("cmd"), c.Str("identifier"))
	return remove(ctx, c, func(j *Job) bool {
		return match(j) && (c.IsNone("special") || j.Special == c.Str("special"))
	}, special)
}

// CheckEnv returns what is wrong with an assignment.
func CheckEnv(name, val string) error {
	if _, ok := parseEnv(name + "=" + val); !ok || parseLine(name+"=").kind != env {
		return fun.Errorf("%q is not a name of an environment variable", name)
	}
	for i := range len(val) {
		if val[i] == '\n' || val[i] == '\r' || val[i] == 0 {
			return fun.Errorf("the value of %s must be a single line", name)
		}
	}
	return nil
}

func setEnv(ctx context.Context, c *fun.Call) (fun.Result, error) {
	name, val := c.Str("name"), c.Str("value")
	if err := CheckEnv(name, val); err != nil {
		return fun.Result{}, err
	}
	did := "new"
	out, err := admin(c).Change(ctx, func(t *Tab) (bool, error) {
		if e, ok := t.Env(name); ok {
			did = "updated"
			if e.Is(val) {
				did = "present"
				return false, nil
			}
		}
		t.SetEnv(name, val)
		return true, nil
	})
	return done(out, err, did)
}

func rmEnv(ctx context.Context, c *fun.Call) (fun.Result, error) {
	did := "absent"
	out, err := admin(c).Change(ctx, func(t *Tab) (bool, error) {
		if !t.DropEnv(c.Str("name")) {
			return false, nil
		}
		did = "removed"
		return true, nil
	})
	return done(out, err, did)
}

func writeCronFile(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := admin(c).Install(ctx, c.Str("path"))
	return fun.Result{Value: out.OK(), Retcode: out.Status}, err
}

func writeCronFileVerbose(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := admin(c).Install(ctx, c.Str("path"))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: value.Value(out.All()), Retcode: out.Status}, nil
}
