package jobs

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Masked returns a record of r that mask takes secrets out of what is recorded, of
// what the target id returned or, where id is empty, of the run.
func Masked(r Record, mask func(id string, v value.Value) value.Value) Record {
	return &maskedRecord{r, mask}
}

type maskedRecord struct {
	Record
	mask func(id string, v value.Value) value.Value
}

// Unwrap returns the record itself.
func (r *maskedRecord) Unwrap() Record { return r.Record }

// Return records a target's answer.
func (r *maskedRecord) Return(ret fun.Return) error {
	if ret.Body != nil {
		v, err := ret.Value()
		if err != nil {
			return err
		}
		ret.Body = fun.ValueBody{V: r.mask(ret.ID, v)}
	}
	if ret.Err != nil { // what a machine said when it was lost, for example
		if text, _ := r.mask(ret.ID, ret.Err.Error()).(string); text != ret.Err.Error() {
			ret.Err = &maskedError{text, ret.Err}
		}
	}
	if ret.Partial != nil {
		ret.Partial, _ = r.mask(ret.ID, ret.Partial).(*value.Map)
	}
	return r.Record.Return(ret)
}

// Note records a part of an orchestration's history.
func (r *maskedRecord) Note(kind string, data *value.Map) error {
	data, _ = r.mask("", data).(*value.Map)
	return r.Record.Note(kind, data)
}

// A maskedError is an error whose text has no secrets.
type maskedError struct {
	text string
	err  error
}

// Error returns the text.
func (e *maskedError) Error() string { return e.text }

// Unwrap returns the error itself.
func (e *maskedError) Unwrap() error { return e.err }
