package fun

import "brine/internal/py/value"

// This file is the only place that finds out whether something succeeded. What it
// finds travels as a return code and a success through records, returners, events,
// the history and reports; none of them looks into a body for it.

// NoReturnCode is the return code of a target that gave no return: that of ssh.
const NoReturnCode = 255

// Code returns the return code of a function of a kind, as targets and the steps of an
// orchestration find it: its own one, or 1 where the dict that it returned says that it
// failed. That of an execution function says so by result or success, that of a runner
// or wheel function by Error, or by the returns of states as data.
//
// Salt: salt/minion.py _thread_return, salt/client/mixins.py low,
// salt/states/saltmod.py runner.
func (r Result) Code(kind Kind) int {
	m, ok := r.Value.(value.Mapping)
	if r.Retcode != 0 || !ok {
		return r.Retcode
	}
	if kind != Exec {
		data, has := m.Get("data")
		if _, bad := m.Get("Error"); bad || has && !CheckResult(data) {
			return 1
		}
		return 0
	}
	for _, k := range [...]string{"result", "success"} {
		if v, ok := m.Get(k); ok && !value.Truth(v) {
			return 1
		}
	}
	return 0
}

// ExitCode is Code for the function that a command calls, which its exit status tells.
// A dict that names its outputter, and any that a runner function returned, may have
// the return code as retcode, also in data. Data that is not for the outputter highstate
// may be anything, such as a pillar.
//
// Salt: salt/cli/run.py SaltRun.run, salt/cli/caller.py call.
func (r Result) ExitCode(kind Kind) int {
	m, ok := r.Value.(value.Mapping)
	if r.Retcode != 0 || !ok {
		return r.Retcode
	}
	out, wrapped := m.Get("outputter")
	if kind == Exec && !wrapped {
		return r.Code(kind)
	}
	data, _ := m.Get("data")
	v, has := m.Get("retcode")
	if inner, ok := data.(value.Mapping); ok && !has {
		v, has = inner.Get("retcode")
	}
	n, isCode := value.AsInt(v)
	_, bad := m.Get("Error")
	switch {
	case has && isCode && n != 0 && int(int32(n)) == 0:
		return 1
	case has && isCode && n != 0:
		return int(int32(n))
	case out == "highstate" && (!has || !isCode):
		return Result{Value: r.Value}.Code(Runner)
	case bad && kind != Exec:
		return 1
	}
	return 0
}

// CheckResult reports whether the returns of a state run, or of several, all
// succeeded: False anywhere as a result fails, and so does what is not a dict of
// returns, or an empty one. Results of states whose failure a successful onfail
// state made good count as failures still.
// Salt: salt/utils/state.py check_result.
func CheckResult(v value.Value) bool { return checkResult(v, false, 0) }

// CheckStates is CheckResult for what a target returned, which may hold other
// things than returns: they are passed over.
func CheckStates(v value.Value) bool { return checkResult(v, true, 0) }

// maxNested bounds how deep orchestrations within orchestrations are looked at.
const maxNested = 64

func checkResult(v value.Value, within bool, depth int) bool {
	m, ok := v.(value.Mapping)
	if !ok || m.Len() == 0 {
		return false
	}
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		inner, ok := v.(value.Mapping)
		if !ok {
			if _, isList := v.(*value.List); !within && (k != "__extend__" || !isList) {
				return false
			}
			continue
		}
		res, has := inner.Get("result")
		if b, isBool := res.(bool); isBool && !b {
			return false
		}
		if !has && depth < maxNested && !checkResult(inner, true, depth+1) {
			return false
		}
	}
	return true
}

// Success reports whether the job succeeded on the target: it has a return, and its
// code is 0, as in Salt.
func (r Return) Success() bool { return r.Stage == Returned && r.Retcode == 0 && !r.Raised }

// Outcome returns the return code and the success as records, events and returners
// have them: of a job that is several functions, those of each. One that ended with
// an error has no return code.
//
// Salt: salt/minion.py _thread_multi_return.
func (r Return) Outcome() (retcode, success value.Value) {
	if r.Stage != Returned {
		return int64(NoReturnCode), false
	}
	switch each := r.Each.(type) {
	case *value.Map:
		codes, good := value.NewMap(each.Len()), value.NewMap(each.Len())
		for name, code := range each.All() {
			if code != nil {
				codes.Set(name, code)
			}
			good.Set(name, value.Equal(code, int64(0)))
		}
		return codes, good
	case *value.List:
		good := value.NewList()
		for _, code := range each.Items {
			good.Append(value.Equal(code, int64(0)))
		}
		return each, good
	}
	return int64(r.Retcode), r.Success()
}

// Condemned returns a return as a failure, which the step that it belongs to finds it
// to be: its code is 1 where it had none that says so.
func (r Return) Condemned() Return {
	if r.Success() {
		r.Retcode, r.Each = 1, nil
	}
	return r
}
