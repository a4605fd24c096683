package schedule

import (
	"strings"
	"testing"
	"time"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

func at(t testing.TB, text string) time.Time {
	t.Helper()
	v, err := time.ParseInLocation("2006-01-02 15:04:05", text, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestDates reads dates on Thursday, 26 November 2026, 12:00.
func TestDates(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-26 12:00:00")
	for _, tt := range []struct{ text, next, calendar, cron string }{
		{"5:00pm", "2026-11-26 17:00:00", "*-*-* 17:00:00", "0 17 * * *"},
		{"5 pm", "2026-11-26 17:00:00", "*-*-* 17:00:00", "0 17 * * *"},
		{"12am", "2026-11-27 00:00:00", "*-*-* 00:00:00", "0 0 * * *"},
		{"08:30", "2026-11-27 08:30:00", "*-*-* 08:30:00", "30 8 * * *"},
		{"Monday 5:00pm", "2026-11-30 17:00:00", "Mon *-*-* 17:00:00", "0 17 * * 1"},
		{"thu 11:59", "2026-12-03 11:59:00", "Thu *-*-* 11:59:00", "59 11 * * 4"},
		{"Thursday at 12:01", "2026-11-26 12:01:00", "Thu *-*-* 12:01:00", "1 12 * * 4"},
		{"2026-12-24T18:00:05", "2026-12-24 18:00:05", "2026-12-24 18:00:05", "a crontab has no seconds"},
		{"2026-12-24 18:00", "2026-12-24 18:00:00", "2026-12-24 18:00:00", "a crontab has no years"},
		{"11/02/2025 5:00pm", "never", "2025-11-02 17:00:00", "a crontab has no years"},
		{"24/12 8am", "2026-12-24 08:00:00", "*-12-24 08:00:00", "0 8 24 12 *"},
		{"Dec 24th, 8am", "2026-12-24 08:00:00", "*-12-24 08:00:00", "0 8 24 12 *"},
		{"1 March", "2027-03-01 00:00:00", "*-03-01 00:00:00", "0 0 1 3 *"},
		{"February 29 1:00", "2028-02-29 01:00:00", "*-02-29 01:00:00", "0 1 29 2 *"},
	} {
		d, err := ParseDate(tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		next := "never"
		if n, ok := d.Next(now); ok {
			next = n.Format(time.DateTime)
		}
		cron, err := d.cron()
		if err != nil {
			cron = err.Error()
		}
		if next != tt.next || d.calendar() != tt.calendar || cron != tt.cron {
			t.Errorf("%q: next %s, %q, %q; want %s, %q, %q", tt.text, next, d.calendar(), cron, tt.next, tt.calendar, tt.cron)
		}
	}
	for _, text := range []string{"", "soon", "25:00", "13pm", "0am", "5pm 6pm", "2026-13-01", "2026-02-30", "31/31", "March", "2026", "5", strings.Repeat("5", 200), "5:00:61"} {
		if d, err := ParseDate(text); err == nil {
			t.Errorf("%q is %+v", text, d)
		}
	}
}

// TestCron reads fields of crontabs at the same time.
func TestCron(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-26 12:00:30")
	for _, tt := range []struct{ text, next, calendars string }{
		{"*/15 * * * *", "2026-11-26 12:15:00", "*-*-* *:00,15,30,45:00"},
		{"5 4 * * sun", "2026-11-29 04:05:00", "Sun *-*-* 04:05:00"},
		{"5 4 * * 7", "2026-11-29 04:05:00", "Sun *-*-* 04:05:00"},
		{"0 0 13 * 5", "2026-11-27 00:00:00", "*-*-13 00:00:00|Fri *-*-* 00:00:00"},
		{"0 12-14/2 1,15 jan-mar *", "2027-01-01 12:00:00", "*-01,02,03-01,15 12,14:00:00"},
		{"0 0 30 2 *", "never", "*-02-30 00:00:00"},
		{"* * * * * 31", "2026-11-26 12:00:31", "*-*-* *:*:31"},
		{"@daily", "2026-11-27 00:00:00", "*-*-* 00:00:00"},
		{"0 0 29 2 *", "2028-02-29 00:00:00", "*-02-29 00:00:00"},
		{"0 9 * * 1-5", "2026-11-27 09:00:00", "Mon,Tue,Wed,Thu,Fri *-*-* 09:00:00"},
	} {
		c, err := ParseCron(tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		next := "never"
		if n, ok := c.Next(now); ok {
			next = n.Format(time.DateTime)
		}
		if got := strings.Join(c.calendars(), "|"); next != tt.next || got != tt.calendars {
			t.Errorf("%q: next %s, %q; want %s, %q", tt.text, next, got, tt.next, tt.calendars)
		}
	}
	for _, text := range []string{"", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "5-1 * * * *", "*/0 * * * *", "x * * * *", "* * L * *", "* * * * mon#2", "@never", "* * * * * * *"} {
		if _, err := ParseCron(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// TestCronClocks finds times where clocks change.
func TestCronClocks(t *testing.T) {
	t.Parallel()
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Skip(err)
	}
	c, err := ParseCron("30 2 * * *")
	if err != nil {
		t.Fatal(err)
	}
	// There is no 02:30 on 29 March 2026.
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, paris)
	if n, ok := c.Next(now); !ok || n.Format(time.DateTime) != "2026-03-30 02:30:00" {
		t.Errorf("next is %s", n)
	}
	if n, ok := c.Next(time.Date(2026, 10, 24, 12, 0, 0, 0, paris)); !ok || n.Format(time.DateTime) != "2026-10-25 02:30:00" {
		t.Errorf("next is %s", n)
	}
}

func read(t testing.TB, text string) *Schedule {
	t.Helper()
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "minion"}, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r := Reader{
		Location: time.UTC,
		Known:    func(name string) (bool, string) { return name != "test.pong", ` (did you mean "test.ping"?)` },
		Whens:    func(name string) (string, bool) { return "9:00", name == "morning" },
		Returner: "syslog",
	}
	m, _ := v.(*value.Map)
	return r.Read(m)
}

// TestJobs reads a schedule with one job of each kind.
func TestJobs(t *testing.T) {
	t.Parallel()
	s := read(t, `
splay: 9
skip_during_range: {start: 2am, end: 3am}
hourly: {function: test.ping, hours: 1, minutes: 30}
args: {function: cmd.run, args: [date], kwargs: {cwd: /tmp}, cron: '0 4 * * *', splay: {start: 5, end: 10}, returner: [mysql, syslog]}
often: {func: test.ping, when: [morning, 'Tuesday 3pm'], maxrunning: 3, return_job: false, metadata: {a: 1}}
once: {function: test.ping, once: '2027-01-01T00:00:00', enabled: 'false'}
form: {function: test.ping, once: '01.02.2027 10h', once_fmt: '%d.%m.%Y %Hh'}
start: {function: test.ping, run_on_start: true}
`)
	if len(s.Faults) > 0 {
		t.Fatal(s.Faults)
	}
	now := at(t, "2026-11-26 12:00:00")
	next := func(name string, last time.Time) string {
		n, ok := s.Job(name).Next(now, last)
		if !ok {
			return "never"
		}
		return n.Format(time.DateTime)
	}
	for name, want := range map[string]string{
		"hourly": "2026-11-26 13:30:00", "args": "2026-11-27 04:00:00", "often": "2026-11-27 09:00:00", "once": "2027-01-01 00:00:00",
		"form": "2027-02-01 10:00:00", "start": "never",
	} {
		if got := next(name, time.Time{}); got != want {
			t.Errorf("%s: next %s, want %s", name, got, want)
		}
	}
	if got := next("hourly", now.Add(-time.Hour)); got != "2026-11-26 12:30:00" {
		t.Errorf("next after a run: %s", got)
	}
	if j := s.Job("hourly"); j.SplayMax != 9*time.Second || j.Skip == nil || j.MaxRunning != 1 || !j.Record || j.Returners[0] != "syslog" {
		t.Errorf("hourly = %+v", j)
	}
	if j := s.Job("args"); j.SplayMin != 5*time.Second || strings.Join(j.Returners, " ") != "mysql syslog" {
		t.Errorf("args = %+v", j)
	}
	if s.Job("often").Record || s.Job("once").Enabled || s.Job("none") != nil {
		t.Error("return_job or enabled is not read")
	}
}

// TestFaults reads invalid schedules: each error names the place.
func TestFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: {function: test.ping, second: 5}":                                                         `minion:1:26: scheduled job "a": unknown key "second" (did you mean "seconds"?)`,
		"a: test.ping":                                                                                `scheduled job "a" must be a mapping, not text`,
		"a: {seconds: 5}":                                                                             "it has no function",
		"a: {function: test.pong, seconds: 5}":                                                        `unknown function test.pong (did you mean "test.ping"?)`,
		"a: {function: test.ping}":                                                                    "it does not say when",
		"a: {function: test.ping, seconds: 5, cron: '* * * * *'}":                                     "seconds, cron cannot be used together",
		"a: {function: test.ping, when: 5pm, once: '2027-01-01'}":                                     "when, once cannot be used together",
		"a: {function: test.ping, seconds: x}":                                                        "seconds must be a number of seconds, not 'x'",
		"a: {function: test.ping, seconds: 0}":                                                        "it must be at least 1",
		"a: {function: test.ping, seconds: 1.0e300}":                                                  "seconds must be a number of seconds",
		"a: {function: test.ping, when: 17:00}":                                                       "YAML reads 17:00 as one; put the time in quotes",
		"a: {function: test.ping, when: [noonish]}":                                                   `"noonish" is not understood`,
		"a: {function: test.ping, once: 5pm}":                                                         `once: "5pm" has no year`,
		"a: {function: test.ping, once: x, once_fmt: '%d.%m.%Y'}":                                     "is not of the form %d.%m.%Y",
		"a: {function: test.ping, once: x, once_fmt: '%Q'}":                                           "once_fmt: %Q is not read here",
		"a: {function: test.ping, seconds: 5, splay: {start: 9, end: 1}}":                             "splay must be a number of seconds, or a mapping of start and end",
		"a: {function: test.ping, seconds: 5, maxrunning: 0}":                                         "maxrunning must be a number of 1 or more",
		"a: {function: test.ping, seconds: 5, range: 5pm}":                                            "range must be a mapping with start and end",
		"a: {function: test.ping, seconds: 5, range: {start: '17:00', end: '16:00'}}":                 "before it starts",
		"a: {function: test.ping, seconds: 5, range: {start: '15:00', end: '16:00', inverted: true}}": `unknown key "inverted" (did you mean "invert"?)`,
		"a: {function: test.ping, seconds: 5, args: x}":                                               "args must be a list, not text",
		"a: {function: test.ping, seconds: 5, kwargs: [x]}":                                           "kwargs must be a mapping, not a list",
		"a: {function: test.ping, seconds: 5, return_kwargs: x}":                                      "return_kwargs must be a mapping",
		"a: {function: test.ping, seconds: 5, until: later}":                                          `until: "later" is not a date or time`,
		"? \"a\\nb\"\n: {function: test.ping, seconds: 5}":                                            "the name cannot be that of a job",
		"a: {function: test.ping, cron: 'x * * * *'}":                                                 `"x" is not among the minutes, 0 to 59`,
		"b: {function: test.ping, seconds: 5}\na: {function: test.ping, days: -1}":                    "minion:2:",
	} {
		s := read(t, text)
		if len(s.Faults) == 0 || !strings.Contains(s.Faults[0].Error(), want) {
			t.Errorf("%s: %v, want %q", text, s.Faults, want)
		}
		if s.Job("a") != nil {
			t.Errorf("%s: it is a job all the same", text)
		}
	}
}

// TestDue asks whether jobs may run.
func TestDue(t *testing.T) {
	t.Parallel()
	s := read(t, `
in: {function: f.f, seconds: 5, range: {start: '8:00', end: '16:00'}}
out: {function: f.f, seconds: 5, range: {start: '8:00', end: '16:00', invert: true}}
skip: {function: f.f, seconds: 5, skip_during_range: {start: '8:00', end: '16:00'}}
until: {function: f.f, seconds: 5, until: '2026-11-26 11:00'}
after: {function: f.f, seconds: 5, after: '2026-11-26 11:00'}
paused: {function: f.f, seconds: 5, enabled: false}
single: {function: f.f, cron: '0 12 * * *', skip_explicit: [{time: '2026-11-26T12:00:00', time_fmt: '%Y-%m-%dT%H:%M:%S'}]}
`)
	for _, tt := range []struct{ name, day, night string }{
		{"in", "", "it is not in its range"},
		{"out", "it is not in its range", ""},
		{"skip", "it is in skip_during_range", ""},
		{"until", "until has passed", ""},
		{"after", "", "after has not passed"},
		{"paused", "it is disabled", "it is disabled"},
		{"single", "this run is skipped (skip_explicit)", ""},
	} {
		_, day := s.Job(tt.name).Due(at(t, "2026-11-26 12:00:00"))
		_, night := s.Job(tt.name).Due(at(t, "2026-11-26 05:00:00"))
		if day != tt.day || night != tt.night {
			t.Errorf("%s: %q and %q, want %q and %q", tt.name, day, night, tt.day, tt.night)
		}
	}
}

// TestSingleTimes skips a run and adds one, as schedule.postpone_job does.
func TestSingleTimes(t *testing.T) {
	t.Parallel()
	s := read(t, `
minute: {function: f.f, minutes: 1, skip_explicit: [{time: '2026-11-26T12:01:00'}]}
daily: {function: f.f, cron: '0 12 * * *', splay: 300, skip_explicit: [{time: '2026-11-26T12:00:00'}], run_explicit: [{time: '26.11.2026 15:30', time_fmt: '%d.%m.%Y %H:%M'}]}
`)
	if len(s.Faults) > 0 {
		t.Fatal(s.Faults)
	}
	for _, tt := range []struct{ name, now, last, next string }{
		{"minute", "2026-11-26 12:00:10", "2026-11-26 12:00:00", "2026-11-26 12:02:00"},
		{"minute", "2026-11-26 12:02:10", "2026-11-26 12:02:00", "2026-11-26 12:03:00"},
		{"daily", "2026-11-26 11:00:00", "2026-11-25 12:00:00", "2026-11-26 15:30:00"},
		{"daily", "2026-11-26 16:00:00", "2026-11-26 15:30:00", "2026-11-27 12:00:00"},
	} {
		got, ok := s.Job(tt.name).Next(at(t, tt.now), at(t, tt.last))
		if !ok || !got.Equal(at(t, tt.next)) {
			t.Errorf("%s at %s: next is %v, want %s", tt.name, tt.now, got, tt.next)
		}
	}
	for _, tt := range []struct {
		name, now string
		due       bool
	}{
		{"minute", "2026-11-26 12:01:02", false},
		{"minute", "2026-11-26 12:00:59", false},
		{"minute", "2026-11-26 12:00:02", true},
		{"minute", "2026-11-26 12:02:01", true},
		{"daily", "2026-11-26 12:04:00", false}, // after the splay
		{"daily", "2026-11-26 15:30:01", true},
		{"daily", "2026-11-27 12:00:00", true},
	} {
		if due, why := s.Job(tt.name).Due(at(t, tt.now)); due != tt.due {
			t.Errorf("%s at %s: due %v (%s)", tt.name, tt.now, due, why)
		}
	}
	bad := read(t, "a: {function: f.f, minutes: 1, skip_explicit: [{time: noon}]}\nb: {function: f.f, minutes: 1, run_explicit: 5}\nc: {function: f.f, minutes: 1, run_explicit: [x]}")
	for i, want := range []string{`"noon" is not of the form %Y-%m-%dT%H:%M:%S`, "run_explicit must be a list, not a number", "run_explicit must be a list of mappings"} {
		if i >= len(bad.Faults) || !strings.Contains(bad.Faults[i].Error(), want) {
			t.Errorf("faults: %v, want %q", bad.Faults, want)
		}
	}
}

func FuzzDates(f *testing.F) {
	for _, s := range []string{"Monday 5:00pm", "2026-12-24T18:00:05", "24/12 8am", "*/5 * * * *", "0 0 29 2 *"} {
		f.Add(s)
	}
	now := at(f, "2026-11-26 12:00:00")
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := ParseDate(text); err == nil {
			if n, ok := d.Next(now); ok && !n.After(now) {
				t.Errorf("%q: %s is not after now", text, n)
			}
		}
		if c, err := ParseCron(text); err == nil {
			if n, ok := c.Next(now); ok && (!n.After(now) || !c.days(n)) {
				t.Errorf("%q: %s", text, n)
			}
		}
	})
}

// The time that controllers ask for is the same for all that are late by the splay.
func TestLastDue(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ job, now, want string }{
		{"{cron: '30 8 * * *'}", "2026-11-21 08:30:00", "2026-11-21 08:30:00"},
		{"{cron: '30 8 * * *', splay: 600}", "2026-11-21 08:39:59", "2026-11-21 08:30:00"},
		{"{cron: '30 8 * * *'}", "2026-11-21 08:29:59", "2026-11-21 08:30:00"}, // a clock that is late
		{"{cron: '30 8 * * *'}", "2026-11-21 08:29:00", "2026-11-20 08:30:00"}, // a timer that makes up for a run
		{"{cron: '*/5 * * * *', splay: 600}", "2026-11-21 08:09:00", "2026-11-21 08:05:00"},
		{"{when: 'Monday 5:00pm'}", "2026-11-21 08:00:00", "2026-11-16 17:00:00"},
		{"{once: '2026-11-21 08:00:00', once_fmt: '%Y-%m-%d %H:%M:%S'}", "2026-11-21 09:00:00", "2026-11-21 08:00:00"},
		{"{once: '2026-11-21 08:00:00', once_fmt: '%Y-%m-%d %H:%M:%S'}", "2026-11-21 07:00:00", ""},
		{"{minutes: 5}", "2026-11-21 08:00:00", ""},
	} {
		j := read(t, "j: "+strings.Replace(tt.job, "{", "{function: test.ping, shared: True, ", 1)).Job("j")
		if j == nil || !j.Shared {
			t.Fatalf("%s: %v", tt.job, j)
		}
		got := ""
		if due, ok := j.LastDue(at(t, tt.now)); ok {
			got = due.Format(time.DateTime)
		}
		if got != tt.want {
			t.Errorf("%s at %s: %q, want %q", tt.job, tt.now, got, tt.want)
		}
	}
	one := read(t, "shared: True\na: {function: test.echo, args: [x], hours: 1}\nb: {function: test.echo, args: [y], hours: 1, shared: False}")
	a, b := one.Job("a"), one.Job("b")
	if !a.Shared || b.Shared {
		t.Errorf("shared: a %v, b %v", a.Shared, b.Shared)
	}
	if b.Name = "a"; a.Key() == b.Key() || !strings.HasPrefix(a.Key(), "a#") {
		t.Errorf("two jobs have the keys %s, %s", a.Key(), b.Key())
	}
}
