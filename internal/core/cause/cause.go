// Package cause says why something failed: on which host, in which state, with which
// exit status, and what the program said at the end. Everything that shows a failure to
// people takes its words from here.
//
// Start at [Of], for what a host returned, and [OfState], for the return of one state.
package cause

import (
	"fmt"
	"strings"

	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// A Cause is why something failed. Its texts are masked, safe to print and bounded.
type Cause struct {
	Host string // "" where it is not known
	What string // the state or function, such as "web (cmd.run)"; "" where it is not known
	// Status is the exit status of a program, or where Returned is set the return code
	// of a function. Exited says that there is one.
	Status           int64
	Exited, Returned bool
	// Reason is what the state or function says, Output the end of what its program
	// wrote to stderr, or to stdout where stderr is empty. Both may have several lines,
	// and either may be empty.
	Reason, Output string
	// Step is what a step of an orchestration says itself, whose host the cause is of; ""
	// for other states.
	Step string
	// Cut says that Reason or Output is not all that there is.
	Cut bool
	// More is how many other states or hosts failed, and Unmet how many states did not
	// run because one that they require failed.
	More, Unmet int
}

// Options say how texts are read.
type Options struct {
	// Mask hides the secrets in a text; nil: the texts are masked already.
	Mask func(string) string
}

// Bounds of texts. A text is masked before it is cut to maxText, because nobody would
// recognise what is left of a secret; read is what is left of a huge one before.
const (
	maxRead  = 256 << 10
	maxText  = 3 << 10
	maxLines = 40
)

// Of returns the cause of a failure by what a host returned: the states of a run, the
// outcome of a command, text. status is its return code, 0 where that is not known.
func Of(host string, v value.Value, status int64, o Options) Cause {
	c := Cause{Host: printable.Line(host)}
	if m, ok := v.(value.Mapping); ok {
		if s, ok := readStates(m); ok {
			return s.cause(c, o)
		}
		if c.program(m, o) {
			return c
		}
	}
	text := strings.TrimSpace(textOf(v))
	if status != 0 {
		c.Status, c.Exited, c.Returned = status, true, true
	}
	if strings.Contains(text, "\n") && c.Exited {
		c.Output = c.end(text, o)
		return c
	}
	c.Reason = c.end(text, o)
	return c
}

// OfState returns the cause of a state that failed, by its tag and its return.
func OfState(host, tag string, ret value.Mapping, o Options) Cause {
	c := Cause{Host: printable.Line(host), What: title(tag, ret)}
	if inner, ok := c.step(ret, o); ok {
		return inner
	}
	ran := c.program(at(ret, "changes"), o)
	if !ran {
		c.beside(ret, o)
	}
	comment := textOf(at(ret, "comment"))
	if ran && (c.Output != "" && repeatsCommand(comment) || strings.TrimSpace(comment) == "") {
		return c
	}
	c.Reason = c.end(comment, o)
	return c
}

// WithReason adds why a host failed, as its connection or its return code says it.
func (c Cause) WithReason(why string) Cause {
	why = strings.TrimSpace(printable.Text(why))
	switch {
	case why == "" || why == c.Reason:
	case why == strings.TrimSpace(c.Output):
		// The outcome of a command stands for a host that gave no return.
		c.Reason, c.Output, c.Status, c.Exited = why, "", 0, false
	case c.Exited:
	case c.Output == "":
		c.Reason, c.Output = why, c.Reason
	default:
		c.Reason = why
	}
	return c
}

// Silent reports whether a cause says nothing beyond where it is.
func (c Cause) Silent() bool { return c.Reason == "" && c.Output == "" && !c.Exited }

// repeatsCommand reports whether a comment only says that a command ran.
func repeatsCommand(comment string) bool {
	s := strings.TrimSpace(comment)
	return strings.HasPrefix(s, `Command "`) && strings.HasSuffix(s, `" run`) || strings.HasPrefix(s, "Command '") && strings.HasSuffix(s, "' run")
}

// program reads what the mapping of a program's outcome says; false where it is none.
func (c *Cause) program(v value.Value, o Options) bool {
	m, ok := v.(value.Mapping)
	if !ok {
		return false
	}
	code, ok := value.AsInt(at(m, "retcode"))
	stdout, isOut := at(m, "stdout").(string)
	stderr, isErr := at(m, "stderr").(string)
	if !ok || !isOut && !isErr {
		return false
	}
	c.Status, c.Exited = code, true
	if strings.TrimSpace(stderr) == "" {
		stderr = stdout
	}
	c.Output = c.end(stderr, o)
	return true
}

// Key is the key of a state's return for what its comment, which is Salt's, does not say
// of the failure: see [Beside].
const Key = "cause"

// Beside returns the value of [Key]: the exit status of a program, 0 where that is not
// known, and the end of what it wrote.
func Beside(status int64, output string) *value.Map {
	m := value.NewMap(2)
	if status != 0 {
		m.Set("exit_status", status)
	}
	m.Set("output", output)
	return m
}

// beside reads the value of [Key], if a return has one.
func (c *Cause) beside(ret value.Mapping, o Options) {
	m, ok := at(ret, Key).(value.Mapping)
	if !ok {
		return
	}
	if status, isInt := value.AsInt(at(m, "exit_status")); isInt && status != 0 {
		c.Status, c.Exited = status, true
	}
	if text, isText := at(m, "output").(string); isText {
		c.Output = c.end(text, o)
	}
}

// step returns the cause of a step of an orchestration: that of the first of its hosts
// that failed, or of the steps of an orchestration that it runs. ok is false for other states, and where the hosts do not say.
func (c Cause) step(ret value.Mapping, o Options) (inner Cause, ok bool) {
	changes, isMap := at(ret, "changes").(value.Mapping)
	if !isMap {
		return c, false
	}
	rets, _ := at(changes, "ret").(value.Mapping)
	nested := false
	if rets == nil { // the steps of another orchestration, which the step runs
		returned, _ := at(changes, "return").(value.Mapping)
		if returned != nil {
			rets, nested = at(returned, "data").(value.Mapping)
		}
	}
	lost, _ := at(ret, "no_return").(value.Mapping)
	bad := failedOn(textOf(at(ret, "comment")))
	found := 0
	for _, k := range keys(rets) {
		v, _ := rets.Get(k)
		host := value.Str(k)
		why := at(lost, host)
		m, isMap := v.(value.Mapping)
		s, areStates := states{}, false
		if isMap {
			s, areStates = readStates(m)
		}
		switch {
		case why != nil, areStates && len(s.failed) > 0, bad[host]:
		case nested && !areStates && textOf(v) != "": // its SLS do not compile
		default:
			continue
		}
		if found++; found > 1 {
			continue
		}
		switch {
		case why != nil:
			inner = Cause{Host: printable.Line(host)}
			inner.Reason = inner.end(textOf(why), o)
		default:
			inner = Of(host, v, 0, o)
		}
		inner.What = join(c.What, inner.What)
	}
	if found == 0 || inner.Silent() {
		return c, false
	}
	inner.Step = middle(reason(c.end(textOf(at(ret, "comment")), o)), maxTitle)
	inner.More += found - 1
	return inner, true
}

// failedOn reads the hosts that the comment of a step says it failed on.
func failedOn(comment string) map[string]bool {
	first, _, _ := strings.Cut(comment, "\n")
	_, list, ok := strings.Cut(first, "failed on minions: ")
	if !ok {
		return nil
	}
	out := map[string]bool{}
	for id := range strings.SplitSeq(list, ", ") {
		id, _, more := strings.Cut(id, " ") // "web2 Function cmd.run ran on web1, web2."
		if out[id] = true; more {
			break
		}
	}
	return out
}

func join(step, what string) string {
	if step == "" || what == "" {
		return step + what
	}
	return step + " / " + what
}

// unmetText is how Salt's comment of a state begins that did not run because one that
// it requires failed.
const unmetText = "One or more requisite failed: "

// Unmet returns what a state requires and what failed, each as "SLS.ID", where that is
// why it did not run.
func Unmet(ret value.Mapping) (failed []string, ok bool) {
	comment, _ := at(ret, "comment").(string)
	if at(ret, "result") != false || !strings.HasPrefix(comment, unmetText) {
		return nil, false
	}
	return strings.Split(strings.TrimPrefix(comment, unmetText), ", "), true
}

// NotRunKey is what the return of a step has beside a result of True where it did nothing,
// since --limit leaves all of its targets out.
const NotRunKey = "not_run"

// NotRun reports whether a state did nothing: what it requires failed, or --limit leaves
// all of its targets out. It is neither done nor failed.
func NotRun(ret value.Mapping) bool {
	_, unmet := Unmet(ret)
	return unmet || at(ret, "result") == true && at(ret, NotRunKey) == true
}

// states are those of a run that failed.
type states struct {
	failed []state // that ran, in their order
	unmet  int
}

type state struct {
	tag string
	num int64
	ret value.Mapping
}

// readStates reads the states of a run; false where a mapping has none.
func readStates(m value.Mapping) (s states, ok bool) {
	if m.Len() == 0 {
		return s, false
	}
	for _, k := range keys(m) {
		v, _ := m.Get(k)
		ret, isMap := v.(value.Mapping)
		tag, isText := k.(string)
		if !isMap || !isText || !strings.Contains(tag, "_|-") {
			return s, false
		}
		if _, has := ret.Get("result"); !has {
			return s, false
		}
		if r := at(ret, "result"); r == nil || value.Truth(r) {
			continue
		}
		if _, unmet := Unmet(ret); unmet {
			s.unmet++
			continue
		}
		num, _ := value.AsInt(at(ret, "__run_num__"))
		i := len(s.failed)
		for i > 0 && s.failed[i-1].num > num {
			i--
		}
		s.failed = append(s.failed, state{})
		copy(s.failed[i+1:], s.failed[i:])
		s.failed[i] = state{tag, num, ret}
	}
	return s, true
}

// cause is that of the first state that failed.
func (s states) cause(c Cause, o Options) Cause {
	if len(s.failed) == 0 {
		c.Unmet = s.unmet
		return c
	}
	first := OfState(c.Host, s.failed[0].tag, s.failed[0].ret, o)
	first.More += len(s.failed) - 1
	first.Unmet += s.unmet
	return first
}

// Each returns the causes of all states of a run that failed, in the order in which they
// ran, and how many did not run because one that they require failed. ok is false for
// what is not the return of a run.
func Each(host string, v value.Value, o Options) (all []Cause, unmet int, ok bool) {
	m, isMap := v.(value.Mapping)
	if !isMap {
		return nil, 0, false
	}
	s, ok := readStates(m)
	for _, x := range s.failed {
		all = append(all, OfState(host, x.tag, x.ret, o))
	}
	return all, s.unmet, ok
}

// title names a state by its ID and function.
func title(tag string, ret value.Mapping) string {
	parts := strings.Split(tag, "_|-")
	if len(parts) < 2 {
		return printable.Line(tag)
	}
	id := parts[1]
	if own, ok := at(ret, "__id__").(string); ok && own != "" {
		id = own
	}
	return printable.Line(fmt.Sprintf("%s (%s.%s)", short(id, maxTitle), parts[0], parts[len(parts)-1]))
}

const maxTitle = 200

func short(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "..."
}

func at(m value.Mapping, key string) value.Value {
	if m == nil {
		return nil
	}
	v, _ := m.Get(key)
	return v
}

func keys(m value.Mapping) []value.Value {
	if m == nil {
		return nil
	}
	return m.Keys()
}

// textOf is a comment or a return as text: lists are lines.
func textOf(v value.Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case *value.List:
		lines := make([]string, len(v.Items))
		for i, x := range v.Items {
			lines[i] = value.Str(x)
		}
		return strings.Join(lines, "\n")
	}
	return value.Str(v)
}
