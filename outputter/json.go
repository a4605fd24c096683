package outputter

import (
	"fmt"
	"io"

	"brine/internal/py/value"
)

// JSON prints one JSON document, indented by four spaces unless the options
// say otherwise. Salt: salt/output/json_out.py.
func JSON(w io.Writer, data value.Value, o *Options) error {
	jo := value.JSONOptions{Indent: 4, Repr: true}
	switch {
	case o.Pretty:
		jo.SortKeys = true
	case o.Indent == nil:
	case *o.Indent < 0:
		jo.Indent = 0
	case *o.Indent == 0:
		jo.Indent = -1
	default:
		jo.Indent = *o.Indent
	}
	var failed error // of w
	jo.Flush = func(b []byte) error {
		_, failed = w.Write(b)
		return failed
	}
	b, err := value.AppendJSON(nil, data, jo)
	if failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("output as json: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
