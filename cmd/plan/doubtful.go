package plan

import (
	"strings"

	"brine/internal/py/value"
	"brine/internal/view/plan"
)

// doubtful has a step that runs others be not known where its return says that its
// conditions were asked too early.
func doubtful(st *plan.Step, ret *value.Map) {
	why, _ := plan.Verdict(ret)
	if why == "" || st.Unknown != "" || !strings.HasPrefix(st.Fun, "salt.") {
		return
	}
	st.Unknown, st.Skipped, st.Groups = why, "", nil
}
