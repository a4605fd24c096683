package output

import (
	"fmt"
	"log/slog"
	"strings"

	"brine/internal/core/cause"
	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// maxReasons is how many states that failed are named on stderr.
const maxReasons = 20

// maxReason is how much a line has of the reason of a failure, in characters.
const maxReason = 400

// sayWhy tells why states failed, where the report does not: Salt's terse lines and its
// table of times have no place for it. The states that did not run for it are counted.
func (r *Report) sayWhy(data value.Value) {
	if r.Level > slog.LevelWarn {
		return
	}
	m, _ := data.(*value.Map)
	if inner := m.Map("data"); inner != nil && m.Has("outputter") {
		m = inner
	}
	said, cut := 0, false
	for host, v := range m.All() {
		name := value.Str(host)
		all, unmet, _ := cause.Each(name, v, cause.Options{Mask: r.Secrets.AnyText})
		where := ""
		if name != "local" {
			where = " on " + printable.Line(name)
		}
		for _, c := range all {
			if said++; said > maxReasons {
				continue
			}
			cut = cut || c.Cut
			what := c.What
			if c.Step != "" {
				what, _, _ = strings.Cut(what, " / ")
			}
			fmt.Fprintf(r.App.Err, "brine: %s failed%s: %s\n", what, where, c.Short(maxReason))
		}
		if unmet > 0 {
			them := "them"
			if len(all) == 1 {
				them = "it"
			}
			fmt.Fprintf(r.App.Err, "brine: and %d that required %s did not run%s\n", unmet, them, where)
		}
	}
	if said > maxReasons {
		fmt.Fprintf(r.App.Err, "brine: and %d more failed; --state-output=mixed shows why\n", said-maxReasons)
	}
	if cut && r.Info.JID != "" {
		fmt.Fprintf(r.App.Err, "brine: all of it: --state-output=full, or brine run jobs.print_job %s\n", r.Info.JID)
	}
}
