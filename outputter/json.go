package outputter

import (
	"fmt"
	"io"

	"brine/internal/value"
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
	b, err := value.AppendJSON(nil, data, jo)
	if err != nil {
		return fmt.Errorf("output as json: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
