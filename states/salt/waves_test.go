//go:build !slim

package salt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// passes is a journal of targets.
type passes struct{ before, now []string }

func (p *passes) Passed(string) []string { return p.before }

func (p *passes) Pass(_, id string) { p.now = append(p.now, id) }

// TestWaveJob: what a step that goes in waves asks of its targets.
func TestWaveJob(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"salt.state: {tgt: x, sls: s}", "[] wait 0s max none batch 0s judges"},
		{"salt.state: {tgt: x, sls: s, batch_wait: 2, batch: 3}", "[] wait 0s max none batch 2s judges"},
		{"salt.state: {tgt: x, sls: s, waves: [1, 10%]}", "[1 10%] wait 0s max none batch 0s judges passed a"},
		{"salt.state: {tgt: x, sls: s, waves: '1, G@r:w', wave_wait: 1.5, max_failures: 5%}", "[1 G@r:w] wait 1.5s max 5% batch 0s judges passed a"},
		{"salt.state: {tgt: x, sls: s, max_failures: 3, batch: 1, failhard: true}", "[] wait 0s max 3 batch 0s judges"},
		{"salt.state: {tgt: x, sls: s, waves: 1, wave_check: test.ping}", "[1] wait 0s max none batch 0s judges checks passed a"},
		// in test mode nothing is checked, waited for, or stopped by
		{"salt.state: {tgt: x, sls: s, waves: 1, wave_wait: 9, wave_check: test.ping, test: true}", "[1] wait 0s max 100% batch 0s judges"},
		{"salt.function: {tgt: x, name: f.g, waves: 1, wave_wait: 9}", "[1] wait 9s max none batch 0s judges passed a"},
	} {
		fleet := &cast{parts: []fun.Return{says(t, "web1", 0, quietRun)}}
		env, _ := stage(t, fleet)
		env.Targets = &passes{before: []string{"a"}}
		got := step(t, env, tt.text)
		j := fleet.job
		limit := "none"
		if j.MaxFailures != nil {
			limit = j.MaxFailures.String()
		}
		text := fmt.Sprintf("%v wait %s max %s batch %s", j.Waves, j.WaveWait, limit, j.BatchWait)
		if j.Judge != nil {
			text += " judges"
		}
		if j.WaveCheck != nil {
			text += " checks"
		}
		if len(j.Passed) > 0 {
			text += " passed " + strings.Join(j.Passed, " ")
		}
		if j.FailHard || text != tt.want {
			t.Errorf("%s: %s, want %s (%s)", tt.text, text, tt.want, got)
		}
	}
}

// TestWavePass: which returns count as failures, and which targets a resumed run
// need not work on again.
func TestWavePass(t *testing.T) {
	t.Parallel()
	good, bad := says(t, "web1", 0, quietRun), says(t, "web2", 2, failedRun)
	lost := fun.Return{ID: "web3", Stage: fun.Lost}
	for _, tt := range []struct{ text, fails, passed string }{
		{"salt.state: {tgt: x, sls: s, waves: 1}", "web2 web3", "web1"},
		{"salt.state: {tgt: x, sls: s, waves: 1, fail_minions: web2, expect_minions: false}", "", "web1"},
		{"salt.state: {tgt: x, sls: s, max_failures: 1}", "web2 web3", ""},
		{"salt.function: {tgt: x, name: f.g, waves: 1}", "web2 web3", "web1"},
		{"salt.function: {tgt: x, name: f.g, waves: 1, fail_function: judge.is_one}", "web1 web2 web3", ""},
	} {
		fleet := &cast{parts: []fun.Return{good}}
		env, _ := stage(t, fleet)
		p := &passes{}
		env.Targets = p
		step(t, env, tt.text)
		var fails []string
		for _, r := range []fun.Return{good, bad, lost} {
			failed, ok := fleet.job.Judge(r)
			if failed {
				fails = append(fails, r.ID)
			}
			if ok && r.ID != "web1" {
				t.Errorf("%s: succeeded on %s", tt.text, r.ID)
			}
		}
		if strings.Join(fails, " ") != tt.fails || strings.Join(p.now, " ") != tt.passed {
			t.Errorf("%s: fails %v, passed %v", tt.text, fails, p.now)
		}
	}
}

// TestWaveComments: what a step says that was stopped or resumed.
func TestWaveComments(t *testing.T) {
	t.Parallel()
	halt := func(id string) fun.Return {
		return fun.Return{ID: id, Stage: fun.Refused, Err: &fun.NotBegunError{Wave: 1, Of: 3, Why: errors.New("its check failed: no")}}
	}
	const stopped = "Stopped in wave 1 of 3: its check failed: no. Not begun: web2, web3."
	for _, tt := range []struct {
		text  string
		parts []fun.Return
		want  string
	}{
		{"salt.state: {tgt: x, sls: s, waves: 1}", []fun.Return{says(t, "web1", 0, changedRun), halt("web3"), halt("web2")}, "False: " + stopped + " | web1"},
		{"salt.state: {tgt: x, sls: s, waves: 1}", []fun.Return{halt("web3"), halt("web2")}, "False: " + stopped},
		{"salt.state: {tgt: x, sls: s, waves: 1, allow_fail: 9}", []fun.Return{says(t, "web1", 2, failedRun), halt("web3"), halt("web2")}, "False: Run failed on minions: web1\n" + stopped + " | web1"},
		{"salt.function: {tgt: x, name: f.g, waves: 1}", []fun.Return{says(t, "web1", 0, "1"), halt("web3"), halt("web2")}, "False: Function f.g ran on web1.\n" + stopped + " | web1=1"},
		{"salt.function: {tgt: x, name: f.g, waves: 1}", []fun.Return{halt("web3"), halt("web2")}, "False: " + stopped},
	} {
		env, warned := stage(t, &cast{parts: tt.parts})
		if got := step(t, env, tt.text); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
		if text := strings.Join(*warned, "; "); !strings.Contains(text, "step: not begun: stopped in wave 1 of 3: its check failed: no: web2, web3") {
			t.Errorf("%s: warned of %s", tt.text, text)
		}
	}
}

// TestCheck: health checks on targets and by runner functions.
func TestCheck(t *testing.T) {
	t.Parallel()
	w := fun.WaveDone{Number: 2, Of: 3, Good: []string{"a", "b"}}
	for _, tt := range []struct{ check, job, want string }{
		{"judge.x", "judge.x [] {} ['a', 'b'] list", ""},
		{"{function: f.g, arg: [1], kwarg: {k: v}, tgt: 'lb*'}", "f.g [1] {'k': 'v'} lb* glob", ""},
		{"{function: f.g, tgt: 'r:w', tgt_type: grain, fail_function: judge.is_one}", "f.g [] {} r:w grain", "f.g failed on web1 (web1: its return is a failure)"},
		{"{runner: play.arg, arg: [x]}", "", ""},
		{"{runner: play.bad}", "", "play.bad: Exception occurred in runner play.bad: boo"},
		{"{runner: play.code}", "", "play.code: x"},
		{"{runner: play.error}", "", "play.error failed (job 20260102030405000000)"},
		{"{runner: play.says, arg: [false]}", "", "play.says failed (job 20260102030405000000)"},
		{"{runner: play.nope}", "", "play.nope: 'play.nope' is not available."},
		{"{runner: play.orch}", "", "play.orch failed (job 20260102030405000000)"},
	} {
		fleet := &cast{parts: []fun.Return{says(t, "web1", 0, "2")}}
		env, _ := stage(t, fleet)
		step(t, env, "salt.state: {tgt: x, sls: s, waves: 1, wave_check: "+tt.check+"}")
		check := fleet.job.WaveCheck
		fleet.job = fun.Job{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		text := ""
		if err := check(ctx, w); err != nil {
			text = err.Error()
		}
		cancel()
		j := fleet.job
		got := ""
		if j.Fun != "" {
			got = fmt.Sprintf("%s %s %s %s %s", j.Fun, value.Repr(value.NewList(j.Args.Pos...)), value.Repr(j.Args.Kw), value.Str(j.Tgt), j.TgtType)
		}
		if text != tt.want || got != tt.job {
			t.Errorf("%s: %s, runs %s; want %s, runs %s", tt.check, text, got, tt.want, tt.job)
		}
	}
}
