package schedule

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // of the tests alone: machines of tests need no database

	"brine/internal/core/host"
)

// asPlanned is the due time of a schedule without jitter.
func asPlanned(t time.Time) time.Time { return t }

func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func parseUTC(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestRecurrence has the times that follow a time, also where clocks change.
func TestRecurrence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, zone, after, want string }{
		{"cron 0 4 * * 1", "UTC", "2026-11-29T16:00:00Z", "2026-11-30T04:00:00Z 2026-12-07T04:00:00Z"},
		{"cron 0 4 * * 1", "Europe/Berlin", "2026-11-29T16:00:00Z", "2026-11-30T03:00:00Z 2026-12-07T03:00:00Z"},
		{"every monday 04:00", "Europe/Berlin", "2026-11-30T03:00:00Z", "2026-12-07T03:00:00Z"},
		{"every 04:00", "America/New_York", "2026-07-01T09:00:00Z", "2026-07-02T08:00:00Z"},
		{"every 6h", "UTC", "2026-07-01T13:00:00Z", "2026-07-01T18:00:00Z 2026-07-02T00:00:00Z"},
		{"cron 0 0 29 2 *", "UTC", "2026-07-01T13:00:00Z", "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z"},
		// The clocks skip 02:00 to 03:00 on 29 March 2026: it is due once, at 03:00.
		{"cron 30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:30:00Z"},
		{"cron */20 2 * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:00:00Z"},
		{"cron */30 * * * *", "Europe/Berlin", "2026-03-29T00:20:00Z", "2026-03-29T00:30:00Z 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z"},
		{"every 02:30", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:30:00Z"},
		// They show 02:00 to 03:00 twice on 25 October 2026: it is due the first time.
		{"cron 30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z"},
		{"cron 30 2 * * *", "Europe/Berlin", "2026-10-25T00:45:00Z", "2026-10-26T01:30:00Z"},
		{"cron 30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", "2026-10-26T01:30:00Z"},
		{"cron */30 * * * *", "Europe/Berlin", "2026-10-25T00:10:00Z", "2026-10-25T00:30:00Z 2026-10-25T02:00:00Z"},
		{"cron * * * * * *", "Europe/Berlin", "2026-10-25T00:59:58Z", "2026-10-25T00:59:59Z 2026-10-25T02:00:00Z 2026-10-25T02:00:01Z"},
		// Half an hour, and to the other side of the world.
		{"cron 15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z 2026-10-04T15:15:00Z"},
		{"cron 0 12 30 12 *", "Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-30T10:00:00Z 2012-12-29T22:00:00Z"},
	} {
		r, err := ParseRecurrence(c.text, zoneOf(t, c.zone))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		at := parseUTC(t, c.after)
		begin := at.Truncate(24 * time.Hour)
		for want := range strings.FieldsSeq(c.want) {
			next, ok := r.Next(at, begin)
			if got := next.UTC().Format(time.RFC3339); !ok || got != want {
				t.Errorf("%s in %s: after %s comes %s, want %s", c.text, c.zone, at.UTC().Format(time.RFC3339), got, want)
				break
			}
			at = next
		}
		if again, err := ParseRecurrence(r.String(), r.Zone()); err != nil || again.String() != r.String() {
			t.Errorf("%s is read as %v, %v", r, again, err)
		}
	}
}

// TestRecurrenceFaults has what is refused, and why.
func TestRecurrenceFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cron 0 4 * *":           `"0 4 * *" has 4 fields, a crontab has 5`,
		"cron 0 25 * * *":        `field 2: "25" is not among the hours, 0 to 23`,
		"cron 0 4 * * mo":        `field 5: "mo" is not among the days of the week`,
		"cron 0 0 30 2 *":        "it is never due: no year has such a day",
		"every 0s":               `"0s" is not from 1s to 366 days`,
		"every 9999h":            `"9999h" is not from 1s to 366 days`,
		"every 2026-12-24 18:00": "has a year, so that it is only due once",
		"every moonday 04:00":    `"moonday" is not understood; it may be an interval such as 6h, or a time such as 'monday 04:00'`,
		"at 04:00":               "is neither a crontab nor an interval",
	} {
		if r, err := ParseRecurrence(text, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", text, r, err, want)
		}
	}
}

// TestTurn has what is due after a while without a look.
func TestTurn(t *testing.T) {
	t.Parallel()
	r, err := RecurCron("0 * * * *", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	due := parseUTC(t, "2026-11-29T10:00:00Z")
	for _, c := range []struct {
		now, want string
		missed    int
		late      func(time.Time) time.Time
	}{
		{"2026-11-29T10:00:00Z", "2026-11-29T10:00:00Z", 0, asPlanned},
		{"2026-11-29T13:30:00Z", "2026-11-29T13:00:00Z", 3, asPlanned},
		{"2026-11-29T13:30:00Z", "2026-11-29T12:00:00Z", 2, func(t time.Time) time.Time { return t.Add(40 * time.Minute) }},
		{"2036-11-29T13:30:00Z", "2028-01-20T02:00:00Z", MaxMissed, asPlanned},
	} {
		now := parseUTC(t, c.now)
		turn := r.Turn(due, now, due, c.late)
		if got := turn.Due.Format(time.RFC3339); got != c.want || turn.Missed != c.missed || !c.late(turn.Next).After(now) {
			t.Errorf("at %s, %+v", c.now, turn)
		}
	}
}

// TestZone has the names of time zones.
func TestZone(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	if err := h.MkdirAll("/usr/share/zoneinfo", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := h.WriteFile(zoneTables[1], strings.NewReader("# codes\nDE\t+5230+01322\tEurope/Berlin\tmost of it\n"), host.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if zone, err := Zone(h, "Europe/Berlin"); err != nil || zone.String() != "Europe/Berlin" {
		t.Errorf("%v, %v", zone, err)
	}
	for name, want := range map[string]string{
		"Europe/Berlim": `unknown time zone "Europe/Berlim" (did you mean "Europe/Berlin"?)`,
		"../etc/passwd": `unknown time zone "../etc/passwd"`,
		"":              `"" is not the name of a time zone, such as UTC or Europe/Berlin`,
		"Local":         `"Local" is not the name of a time zone, such as UTC or Europe/Berlin`,
	} {
		if _, err := Zone(h, name); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}
