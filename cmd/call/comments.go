package call

import (
	"fmt"
	"strings"

	"brine/cmd/app"
	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// masterLog is what Salt says where only the log of a master knows more. Here stderr
// has said it.
const masterLog = " Please see master log for details."

// withoutMasterLog returns a failed return without Salt's advice to read the log of a
// master.
func withoutMasterLog(v value.Value) value.Value {
	switch v := v.(type) {
	case string:
		return strings.TrimSuffix(v, masterLog)
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			out.Items = append(out.Items, withoutMasterLog(item))
		}
		return out
	case *value.Map:
		out := v.Copy()
		for tag, ret := range v.All() {
			m, ok := ret.(*value.Map)
			if !ok || !strings.HasSuffix(m.Str("comment"), masterLog) {
				continue
			}
			m = m.Copy()
			m.Set("comment", withoutMasterLog(m.Str("comment")))
			out.Set(tag, m)
		}
		return out
	}
	return v
}

// sayDenied says that the user of this process has no permission for a file of a failed
// state.
func sayDenied(a *app.App, v value.Value) {
	rets, ok := v.(*value.Map)
	if !ok || a.Host.Geteuid() == 0 {
		return
	}
	const denied = "[Errno 13] Permission denied: "
	for _, ret := range rets.All() {
		m, ok := ret.(*value.Map)
		if !ok || m.At("result") != false {
			continue
		}
		if _, file, ok := strings.Cut(m.Str("comment"), denied); ok {
			file, _, _ = strings.Cut(file, "\n")
			fmt.Fprintf(a.Err, "brine: this user has no permission for %s\nhint: run brine with sudo\n", printable.Line(file))
			return
		}
	}
}
