package trial

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"brine/internal/core/host"
	"brine/internal/fleet/machine"
	"brine/internal/py/value"
	"brine/internal/view/casefile"
)

// site prepares an orchestration: its controller, and the machines that are its targets.
func (l *Lab) site(ctx context.Context, j Job, dir string) (*plan, error) {
	p, err := l.planOf(ctx, Job{controllerCase(j.Case), j.System}, filepath.Join(dir, casefile.Controller), casefile.Controller)
	if err != nil {
		return nil, err
	}
	p.r.Job = j
	for _, n := range j.Case.Nodes {
		q, err := l.planOf(ctx, Job{nodeCase(j.Case, n), n.SystemOf(j.System)}, filepath.Join(dir, n.Name), n.Name)
		if err != nil {
			return nil, err
		}
		q.r = p.r
		p.nodes = append(p.nodes, q)
	}
	if err := writeYAML(p.ws.writer(l.Host), "conf/master", l.minionOf(p)); err != nil {
		return nil, err
	}
	return p, p.newSSH()
}

// controllerCase is a case as its controller has it: with the pillar of all machines.
func controllerCase(c *casefile.Case) *casefile.Case {
	out := *c
	top := value.MapOf("*", pillarNames(c.Pillar))
	for _, n := range c.Nodes {
		if len(n.Pillar) > 0 {
			top.Set(n.Name, pillarNames(n.Pillar))
			out.Pillar = append(slices.Clip(out.Pillar), n.Pillar...)
		}
	}
	if len(out.Pillar) > 0 {
		out.PillarTop = value.MapOf("base", top)
	}
	return &out
}

func pillarNames(files []casefile.PillarSLS) *value.List {
	out := value.NewList()
	for _, f := range files {
		out.Append(f.Name)
	}
	return out
}

// nodeCase is a case as one of its machines has it.
func nodeCase(c *casefile.Case, n casefile.Node) *casefile.Case {
	out := *c
	out.Expect = n.Expect
	out.Pillar = append(slices.Clip(c.Pillar), n.Pillar...)
	if n.Grains != nil {
		out.Grains = value.NewMap(0)
		if c.Grains != nil {
			value.Update(out.Grains, value.Clone(c.Grains).(*value.Map), true, false)
		}
		value.Update(out.Grains, value.Clone(n.Grains).(*value.Map), true, false)
	}
	return &out
}

// connect lets the controller reach the machines, and the machines each other.
func (p *plan) connect(ctx context.Context) error {
	if err := p.placeAgents(ctx); err != nil {
		return err
	}
	if err := p.serveSSH(ctx); err != nil {
		return err
	}
	if err := p.Pool.CanConnect(p.driver); err != nil {
		c := Check{Name: "network", Status: Skipped, Text: "none between the machines: " + err.Error()}
		if e, ok := errors.AsType[*machine.UnusableError](err); ok {
			c.Text, c.Hint = "none between the machines: "+e.Why, e.Hint
		}
		p.add(c, time.Now())
		return nil
	}
	var machines []*machine.Machine
	for _, q := range p.all() {
		machines = append(machines, q.m)
	}
	return p.Pool.Connect(ctx, machines)
}

// placeAgents puts brine where the controller would copy it to: machines have it already, and
// a copy in them takes a moment, while one by SSH takes seconds.
func (p *plan) placeAgents(ctx context.Context) error {
	if !p.PlaceExe {
		return nil
	}
	p.exeOnce.Do(func() {
		var f *os.File
		if f, p.exeErr = os.Open(p.Exe); p.exeErr != nil {
			return
		}
		defer f.Close()
		sum := sha256.New()
		_, p.exeErr = io.Copy(sum, f)
		p.exeSum = fmt.Sprintf("%x", sum.Sum(nil))
	})
	if p.exeErr != nil {
		return p.exeErr
	}
	const script = `umask 077; mkdir -p /root/.cache/brine/agent; cp "$1" "/root/.cache/brine/agent/brine-$2"`
	var g errgroup.Group
	for _, q := range p.nodes {
		g.Go(func() error {
			// Where it fails, the controller copies brine, or says why it cannot.
			_, _ = q.m.Run(ctx, host.Cmd{Argv: []string{"/bin/sh", "-euc", script, "sh", inside + "/brine", p.exeSum}, Merge: true})
			return nil
		})
	}
	return g.Wait()
}

// command is brine orchestrate, as the controller runs it.
func (p *plan) command(test bool) []string {
	files := inside + "/case/"
	argv := []string{
		inside + "/brine", "orchestrate", strings.Join(p.job.Case.Orchestrate, ","), "-c", files + "conf", "--roster-file", files + sshDir + "/roster",
		"--out=json", "--no-progress", "--no-color",
	}
	if test {
		argv = append(argv, "test=True")
	}
	return argv
}

// orchestrate runs the orchestration on the controller, and returns the returns of its
// steps by tag. The error is what came instead of them.
func (p *plan) orchestrate(ctx context.Context, test bool) (map[string]*value.Map, error) {
	out, err := p.m.Run(ctx, host.Cmd{Argv: p.command(test), Timeout: callTime})
	switch {
	case err != nil:
		return nil, err
	case out.TimedOut:
		return nil, fmt.Errorf("the orchestration did not end within %s", callTime)
	}
	v, err := value.ParseJSON(string(out.Stdout))
	if m, _ := v.(*value.Map); err == nil && m.Map("data").Len() == 1 {
		_, steps := m.Map("data").Entry(0)
		if rets, ok := statesOf(steps); ok {
			return rets, nil
		}
		return nil, errors.New(textOf(steps))
	}
	return nil, errors.New(strings.TrimSpace(string(out.Stdout) + "\n" + string(out.Stderr)))
}

// flatten returns the states that steps applied to machines, instead of those steps, and
// the other steps, in order.
func (p *plan) flatten(steps map[string]*value.Map) []stateRet {
	var out []stateRet
	for _, tag := range inOrder(steps) {
		ret := steps[tag]
		applied, failed := p.applied(ret)
		out = append(out, applied...)
		if len(applied) == 0 || ret.At("result") == false && !failed {
			out = append(out, stateRet{p, tag, ret})
		}
	}
	return out
}

// applied returns the states that a step applied, and whether one of them failed. Steps
// show those of machines that changed, or failed.
func (p *plan) applied(step *value.Map) (out []stateRet, failed bool) {
	changes := step.Map("changes")
	if changes.At("out") != "highstate" {
		return nil, false
	}
	for _, q := range p.nodes {
		rets, _ := statesOf(changes.Map("ret").At(q.name))
		for _, tag := range inOrder(rets) {
			out = append(out, stateRet{q, tag, rets[tag]})
			failed = failed || rets[tag].At("result") == false
		}
	}
	return out, failed
}

// isCall reports whether a state calls functions on machines, or of the controller, whose
// changes it does not know: it always reports some.
func (s stateRet) isCall() bool {
	return len(s.at.nodes) > 0 && strings.HasPrefix(s.tag, "salt_|-") && s.ret.At("result") != false
}

// calls says how many steps call functions, for a check that knows nothing of them.
func calls(rets []stateRet) string {
	n := 0
	for _, s := range rets {
		if s.isCall() && value.Truth(s.ret.At("changes")) {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; not looked at: what %s of functions changed", count(n, "call"))
}

// hint says what to do where a step has no targets.
func (s stateRet) hint() string {
	if len(s.at.nodes) > 0 && strings.Contains(s.ret.Str("comment"), "No minions returned") {
		return "the case has the machines " + strings.Join(names(s.at.nodes), ", ")
	}
	return ""
}
