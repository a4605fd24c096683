package statefn

import (
	"context"
	"fmt"
	"time"

	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/value"
)

// turnPause is how long a run that waits for its turn sleeps before it looks
// again.
const turnPause = 250 * time.Millisecond

// await waits for the state runs of other processes of this machine that began
// before this one, where queue, or the option state_queue, says so.
//
// It returns an error where the wait is interrupted.
// Salt: salt/modules/state.py _check_queue, _wait. Difference: without queue
// runs go side by side; Salt refuses the later one.
func await(ctx context.Context, c *fun.Call) error {
	queue := c.Value("queue")
	if queue == nil {
		queue = c.Env.Opts.At("state_queue")
	}
	if !value.Truth(queue) || c.Env.JID == "" {
		return nil
	}
	for told := false; ; told = true {
		before := earlier(c)
		if before == nil {
			return nil
		}
		what := fmt.Sprintf("%s (process %s, jid %s)", value.Str(before.At("fun")), value.Str(before.At("pid")), value.Str(before.At("jid")))
		if !told {
			c.Env.Warn(fun.Warning{Text: "queue: waiting for " + what})
		}
		if !c.Env.MayStart(ctx, nil) {
			return fun.Errorf("interrupted while waiting for %s", what)
		}
		if err := c.Env.Host.Sleep(ctx, turnPause); err != nil {
			return err
		}
	}
}

// earlier returns a run of states by another process that began before this
// one; nil where there is none.
func earlier(c *fun.Call) *value.Map {
	for _, job := range jobs.ProcOf(c.Env).List() {
		pid, _ := value.AsInt(job.At("pid"))
		if runsStates(job.Str("fun")) && int(pid) != c.Env.Host.Getpid() && value.Str(job.At("jid")) < c.Env.JID {
			return job
		}
	}
	return nil
}

// runsStates reports whether a function runs states itself: an orchestration
// does not, its steps do.
func runsStates(name string) bool {
	switch name {
	case "state.apply", "state.high", "state.highstate", "state.low", "state.single", "state.sls", "state.sls_id", "state.template", "state.template_str", "state.test", "state.top":
		return true
	}
	return false
}
