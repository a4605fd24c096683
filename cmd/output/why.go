package output

import (
	"fmt"
	"log/slog"
	"strings"

	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// maxReasons is how many states that failed are named on stderr.
const maxReasons = 20

// sayWhy tells why states failed, whose terse lines do not: Salt's format has no
// place for it.
func (r *Report) sayWhy(data value.Value) {
	if r.Level > slog.LevelWarn {
		return
	}
	m, _ := data.(*value.Map)
	if inner := m.Map("data"); inner != nil && m.Has("outputter") {
		m = inner
	}
	said := 0
	for host, v := range m.All() {
		states, _ := v.(*value.Map)
		for tag, v := range states.All() {
			ret, _ := v.(*value.Map)
			if ret.At("result") != false || !ret.Has("comment") {
				continue
			}
			if said++; said > maxReasons {
				continue
			}
			parts := append(strings.Split(value.Str(tag), "_|-"), "", "", "", "")
			where := ""
			if name := value.Str(host); name != "local" {
				where = " on " + name
			}
			why := strings.Join(strings.Fields(r.Secrets.AnyText(value.Str(ret.At("comment")))), " ")
			fmt.Fprintf(r.App.Err, "brine: %s\n", printable.Line(fmt.Sprintf("%s (%s.%s) failed%s: %s", parts[1], parts[0], parts[3], where, why)))
		}
	}
	if said > maxReasons {
		fmt.Fprintf(r.App.Err, "brine: and %d more failed; --state-output=mixed shows why\n", said-maxReasons)
	}
}
