package history

import (
	"fmt"
	"strings"

	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// newerRow begins the reason why a row of a newer brine is not stored.
const newerRow = "a newer brine wrote the row"

// known refuses a row that a newer brine wrote: what it has more would be lost. The row
// is put aside, until [Recall].
func known(row *value.Map) error {
	v := number(row, "version")
	if v <= Version {
		return nil
	}
	return jobs.Refused(fmt.Errorf("%s %q of execution %s: it has version %d, and this brine knows rows up to version %d", newerRow, row.Str("kind"), row.Str("jid"), v, Version))
}

// Recall puts the rows that an older brine put aside into the spool again, in a
// directory of it, where this brine knows them.
func Recall(spool string) error {
	_, err := jobs.DropAside(spool, true, func(r jobs.AsideRow) bool {
		return strings.HasPrefix(r.Why, newerRow) && number(r.Data, "version") <= Version
	})
	return err
}
