package jobs

import (
	"slices"
	"strings"

	"brine/internal/py/value"
)

// Succeeded reports whether a recorded answer is a success: by its return code and
// success (of a job that is several functions, those of each), both of which every
// row that brine writes has.
//
// This is the only place that knows rows of others. The answer of a runner that Salt
// or an earlier version has stored has neither: the success is within, with the
// runner's data, and an orchestration has a return code there. Of a row without any
// of them the truth of the return is left, as Salt's jobs.exit_success has it.
// Salt: salt/utils/job.py store_job, salt/runners/jobs.py exit_success.
func Succeeded(r *value.Map) bool {
	if ok, known := stored(r); known {
		return ok
	}
	if data := r.Map("return"); data.Has("fun_args") && strings.HasPrefix(data.Str("fun"), "runner.") {
		ok, known := stored(data)
		code, has := data.Map("return").Get("retcode")
		if ret := data.Map("return"); has && ret.Has("outputter") {
			return (ok || !known) && zero(code)
		}
		if known {
			return ok
		}
	}
	return value.Truth(r.At("return"))
}

// stored reads the success and the return code of a row; known says that it has one
// of them.
func stored(r *value.Map) (ok, known bool) {
	success, hasSuccess := r.Get("success")
	code, hasCode := r.Get("retcode")
	ok = (!hasSuccess || all(success, value.Truth)) && (!hasCode || all(code, zero))
	return ok, hasSuccess || hasCode
}

func zero(code value.Value) bool {
	n, isInt := value.AsInt(code)
	return isInt && n == 0
}

// all reports whether something is so of a value, or of each of those of several
// functions.
func all(v value.Value, is func(value.Value) bool) bool {
	switch v := v.(type) {
	case *value.Map:
		for _, x := range v.All() {
			if !is(x) {
				return false
			}
		}
		return true
	case *value.List:
		return !slices.ContainsFunc(v.Items, func(x value.Value) bool { return !is(x) })
	}
	return is(v)
}
