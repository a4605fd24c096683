package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/source"
)

// ErrNoZones says that a machine has no time zone database.
var ErrNoZones = errors.New("this machine has no time zone database: install the package tzdata, set ZONEINFO to a copy of it, or use UTC")

// zoneTables have the names of zones in their third column.
var zoneTables = [...]string{"/usr/share/zoneinfo/zone1970.tab", "/usr/share/zoneinfo/zone.tab"}

// Zone returns a time zone by its name, such as Europe/Berlin.
func Zone(h host.Host, name string) (*time.Location, error) {
	if name == "" || strings.EqualFold(name, "local") { // which differs between machines
		return nil, fmt.Errorf("%q is not the name of a time zone, such as UTC or Europe/Berlin", name)
	}
	zone, err := time.LoadLocation(name)
	if err == nil {
		return zone, nil
	}
	if _, missing := time.LoadLocation("Europe/London"); missing != nil {
		return nil, fmt.Errorf("time zone %q: %w", name, ErrNoZones)
	}
	return nil, fmt.Errorf("unknown time zone %q%s", name, source.DidYouMean(name, zoneNames(h)))
}

// zoneNames are the names of zones that the machine lists.
func zoneNames(h host.Host) (names []string) {
	for _, path := range zoneTables {
		text, err := h.ReadFile(path)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 2 && !strings.HasPrefix(line, "#") {
				names = append(names, f[2])
			}
		}
		break
	}
	return names
}
