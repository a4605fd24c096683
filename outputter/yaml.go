package outputter

import (
	"fmt"
	"io"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// YAML prints one YAML document in block style, or in flow style where the
// indent is negative. Salt: salt/output/yaml_out.py.
func YAML(w io.Writer, data value.Value, o *Options) error {
	do := yamlsalt.DumpOptions{FlowStyle: yamlsalt.FlowNever, SortKeys: true, AllowUnicode: true}
	if o.Indent != nil {
		if *o.Indent < 0 {
			do.FlowStyle = yamlsalt.FlowAlways
		} else {
			do.Indent = *o.Indent
		}
	}
	s, err := yamlsalt.Dump(data, do)
	if err != nil {
		return fmt.Errorf("output as yaml: %w", err)
	}
	_, err = io.WriteString(w, s)
	return err
}
