package library

import (
	"testing"
	"time"
)

// TestParseWhen: a chain is scheduled in the time zone of the machine, also if the
// time is given in another one.
func TestParseWhen(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("CET", 3600)
	now := time.Date(2026, 12, 1, 1, 0, 0, 0, zone)
	for text, want := range map[string]string{
		"2026-12-01 02:00":          "2026-12-01 02:00:00",
		"2026-12-01T02:00:30":       "2026-12-01 02:00:30",
		"2026-12-01T02:00:00Z":      "2026-12-01 03:00:00",
		"2026-12-01T02:00:00-05:00": "2026-12-01 08:00:00",
		"2026-12-01T00:30:00Z":      "2026-12-01 01:30:00",
		"2026-12-01 00:59":          "",
		"2026-12-01T01:30:00+02:00": "",
		"tomorrow":                  "",
	} {
		when, err := ParseWhen(text, now)
		if got := when.Format(time.DateTime); err == nil && got != want || err != nil && want != "" {
			t.Errorf("parseWhen(%q) = %s, %v, want %s", text, got, err, want)
		}
	}
}
