package schedule

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// unitPrefix begins the names of the units of jobs.
const unitPrefix = "brine-schedule-"

// written says in a file where it comes from.
const written = "# Written by brine for the schedule; changes are lost."

// unitName returns the name of a job's units without the suffix.
func unitName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, name)
	if clean != name || len(clean) > 100 {
		sum := sha256.Sum256([]byte(name))
		clean = clean[:min(len(clean), 100)] + "-" + hex.EncodeToString(sum[:4])
	}
	return unitPrefix + clean
}

// oneLine returns text for a value of a unit.
func oneLine(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "%", "%%")
}

// An UnservedError says which part of a job systemd or cron cannot do.
type UnservedError struct{ Job, Key, Why string }

func (e *UnservedError) Error() string {
	return fmt.Sprintf("scheduled job %q: %s: %s", e.Job, e.Key, e.Why)
}

func (j *Job) unserved() error {
	if len(j.Unserved) > 0 {
		return &UnservedError{j.Name, j.Unserved[0], "this needs a process that lives between the runs, which brine does not have"}
	}
	return nil
}

// units returns the files of a job: its service and its timer.
func (j *Job) units(exe, config string) (service, timer string, err error) {
	if err := j.unserved(); err != nil {
		return "", "", err
	}
	// A delay that a timer makes up is a random one up to a bound.
	byTimer := j.SplayMax > 0 && j.SplayMin <= time.Second
	words := []string{SystemdWord(exe)}
	for _, w := range j.Command(config, !byTimer) {
		words = append(words, SystemdWord(w))
	}
	service = fmt.Sprintf(`%s
[Unit]
Description=Scheduled job %s: %s

[Service]
Type=oneshot
ExecStart=%s
`, written, oneLine(j.Name), oneLine(j.Function), strings.Join(words, " "))

	var t strings.Builder
	fmt.Fprintf(&t, "%s\n[Unit]\nDescription=Times of the scheduled job %s\n\n[Timer]\n", written, oneLine(j.Name))
	if j.RunOnStart {
		t.WriteString("OnActiveSec=1s\n")
	}
	switch {
	case j.Every > 0:
		if !j.RunOnStart {
			fmt.Fprintf(&t, "OnActiveSec=%ds\n", int64(j.Every/time.Second))
		}
		fmt.Fprintf(&t, "OnUnitActiveSec=%ds\n", int64(j.Every/time.Second))
	case j.Cron != nil:
		for _, c := range j.Cron.calendars() {
			fmt.Fprintf(&t, "OnCalendar=%s\n", c)
		}
	case j.Once != nil:
		fmt.Fprintf(&t, "OnCalendar=%s\n", j.Once.Format(time.DateTime))
	}
	for _, d := range j.When {
		fmt.Fprintf(&t, "OnCalendar=%s\n", d.calendar())
	}
	for _, at := range j.Runs {
		fmt.Fprintf(&t, "OnCalendar=%s\n", at.Format(time.DateTime))
	}
	t.WriteString("AccuracySec=1s\n")
	if byTimer {
		fmt.Fprintf(&t, "RandomizedDelaySec=%ds\n", int64(j.SplayMax/time.Second))
	}
	fmt.Fprintf(&t, "Unit=%s.service\n\n[Install]\nWantedBy=timers.target\n", unitName(j.Name))
	return service, t.String(), nil
}

// cronMark begins the comment before a line of a crontab.
const cronMark = "# brine schedule: "

// cronLines returns the lines of a job for a crontab, a comment before each.
func (j *Job) cronLines(exe, config string) ([]string, error) {
	if err := j.unserved(); err != nil {
		return nil, err
	}
	if len(j.Runs) > 0 {
		return nil, &UnservedError{j.Name, "run_explicit", "a crontab has no years"}
	}
	refuse := func(key, format string, args ...any) ([]string, error) {
		return nil, &UnservedError{j.Name, key, fmt.Sprintf(format, args...)}
	}
	words := []string{ShellWord(exe)}
	for _, w := range j.Command(config, true) {
		if strings.ContainsAny(w, "\n\r\x00") {
			return refuse("name", "a line of a crontab cannot have the line break in %.40q", w)
		}
		words = append(words, ShellWord(w))
	}
	command := strings.Join(words, " ")
	var times []string
	if j.RunOnStart {
		times = append(times, "@reboot")
	}
	switch {
	case j.Every > 0:
		t, key, why := everyCron(j.Every)
		if why != "" {
			return refuse(key, "%s", why)
		}
		times = append(times, t)
	case j.Cron != nil:
		t, err := j.Cron.fields()
		if err != nil {
			return refuse("cron", "%v", err)
		}
		times = append(times, t)
	case j.Once != nil:
		return refuse("once", "a crontab has no years")
	}
	for _, d := range j.When {
		t, err := d.cron()
		if err != nil {
			return refuse("when", "%v", err)
		}
		times = append(times, t)
	}
	out := make([]string, 0, 2*len(times))
	for _, t := range times {
		out = append(out, cronMark+strings.Join(strings.Fields(j.Name), " "), t+" "+command)
	}
	return out, nil
}

// everyCron returns an interval as the fields of a crontab; why says why it
// cannot be one.
func everyCron(d time.Duration) (fields, key, why string) {
	minutes := int(d / time.Minute)
	switch {
	case d%time.Minute != 0:
		return "", "seconds", fmt.Sprintf("a crontab has no interval of %s: it counts minutes", d)
	case minutes < 60 && 60%minutes == 0:
		return fmt.Sprintf("*/%d * * * *", minutes), "", ""
	case minutes%60 == 0 && minutes/60 < 24 && 24%(minutes/60) == 0:
		return fmt.Sprintf("0 */%d * * *", minutes/60), "", ""
	case minutes == 24*60:
		return "0 0 * * *", "", ""
	case minutes == 7*24*60:
		return "0 0 * * 0", "", ""
	}
	key = "minutes"
	if minutes%60 == 0 {
		key = "hours"
	}
	return "", key, fmt.Sprintf("a crontab has no interval of %s: minutes must divide an hour, hours a day, days are 1 or 7", d)
}
