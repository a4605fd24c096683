// Package schedule reads Salt's schedule of a machine, tells when its jobs are
// due, and hands them to systemd or cron: brine has no process that waits.
//
// Start at [Read]; [Installer] writes timers or lines of a crontab.
package schedule

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Schedule is all jobs of a machine. Faults are what is wrong, with its place;
// a job that has one is not among Jobs.
type Schedule struct {
	Enabled bool
	Jobs    []*Job // in the order in which they are written
	Faults  []error
}

// A Job is one scheduled call.
type Job struct {
	Name     string
	At       source.Pos
	Function string
	Args     []value.Value
	Kwargs   *value.Map

	// One of these says when.
	Every time.Duration
	When  []Date
	Cron  *Cron
	Once  *time.Time

	RunOnStart   bool
	Range, Skip  *Span // nil: none
	After, Until *Date // nil: none
	// Skips are single times at which the job does not run, Runs those at which it
	// runs besides: skip_explicit and run_explicit.
	Skips, Runs []time.Time
	// Splay is how long a run is put off: a random time between two.
	SplayMin, SplayMax time.Duration

	Enabled    bool
	MaxRunning int
	// Shared says that one of the controllers that have the job runs it when it is due.
	Shared     bool
	JIDInclude bool
	// Record says that the return is kept in the job cache.
	Record       bool
	Returners    []string
	ReturnConfig string
	ReturnKwargs *value.Map
	Metadata     *value.Map
	// Unserved are the keys that nothing but Salt's own process serves.
	Unserved []string
}

// A Span is a range of times.
type Span struct {
	Start, End Date
	Invert     bool
}

// contains reports whether a time is in the span.
func (s *Span) contains(now time.Time) (bool, error) {
	start, end := s.Start.At(now), s.End.At(now)
	if !end.After(start) {
		return false, fmt.Errorf("the range ends at %s, before it starts at %s", end.Format(time.DateTime), start.Format(time.DateTime))
	}
	return !now.Before(start) && !now.After(end), nil
}

// Globals are the keys of a schedule that are not jobs.
var globals = []string{"enabled", "shared", "skip_function", "skip_during_range", "splay"}

// keys are the keys of a job.
var keys = []string{
	"after", "args", "cron", "days", "dry_run", "enabled", "fun", "func", "function", "hours", "jid_include", "jitter", "job_args", "job_kwargs",
	"kwargs", "maxrunning", "metadata", "minutes", "name", "once", "once_fmt", "persist", "range", "return_config", "return_job", "return_kwargs",
	"returner", "run_after_skip_range", "run_explicit", "run_on_start", "saved", "seconds", "shared", "skip_during_range", "skip_explicit", "splay", "until", "when",
}

// unserved are the keys that need a process that lives between the runs.
var unserved = [...]string{"run_after_skip_range", "skip_function"}

// A Reader reads schedules.
type Reader struct {
	// Functions are the names of all execution functions, to look a job's up; nil:
	// it is not looked up.
	Known func(name string) (known bool, hint string)
	// Whens returns the time that pillar or grains name; see Salt's whens.
	Whens func(name string) (string, bool)
	// Location is where times are read; nil is local.
	Location *time.Location
	// Returner is the option schedule_returner.
	Returner value.Value
	// CheckReturner returns an error for a name that no returner has; nil: names are
	// not looked up.
	CheckReturner func(name string) error
}

// Merge returns the schedule of a machine: jobs of the pillar, over which go
// those of the configuration, as in Salt.
func Merge(opts, pillar value.Value) *value.Map {
	out := value.NewMap(8)
	for _, v := range []value.Value{pillar, opts} {
		m, ok := v.(*value.Map)
		if !ok {
			continue
		}
		for k, job := range m.All() {
			out.Set(k, job)
		}
	}
	return out
}

// Read reads the jobs of a schedule.
func (r Reader) Read(all *value.Map) *Schedule {
	s := &Schedule{Enabled: !all.Has("enabled") || value.Truth(all.At("enabled"))}
	for k, v := range all.All() {
		name, ok := k.(string)
		if !ok {
			name = value.Str(k)
		}
		if slices.Contains(globals, name) {
			continue
		}
		m, ok := v.(*value.Map)
		if !ok {
			s.Faults = append(s.Faults, fault(all.Pos(k), "scheduled job %q must be a mapping, not %s", name, value.Kind(v)))
			continue
		}
		j, err := r.job(name, m, all)
		if err != nil {
			s.Faults = append(s.Faults, err...)
			continue
		}
		if m.Len() > 0 {
			j.At = m.Pos(m.Keys()[0]) // a merged schedule is of several files
		}
		s.Jobs = append(s.Jobs, j)
	}
	return s
}

// Job returns a job by its name; nil where there is none.
func (s *Schedule) Job(name string) *Job {
	for _, j := range s.Jobs {
		if j.Name == name {
			return j
		}
	}
	return nil
}

func fault(pos source.Pos, format string, args ...any) error {
	return &source.Error{Pos: pos, Err: fmt.Errorf(format, args...)}
}

// A jobReader reads one job and collects what is wrong with it.
type jobReader struct {
	Reader
	m    *value.Map
	job  *Job
	errs []error
}

func (r *jobReader) fail(key, format string, args ...any) {
	pos := r.m.Pos(key)
	if pos.IsZero() && r.m.Len() > 0 {
		pos = r.m.Pos(r.m.Keys()[0])
	}
	r.errs = append(r.errs, fault(pos, "scheduled job %q: %s", r.job.Name, fmt.Sprintf(format, args...)))
}

// job reads a job with the defaults that the schedule has.
func (r Reader) job(name string, m, all *value.Map) (*Job, []error) {
	j := &Job{Name: name, Enabled: true, MaxRunning: 1, JIDInclude: true, Record: true, Kwargs: value.NewMap(0)}
	x := &jobReader{Reader: r, m: m, job: j}
	if name == "" || len(name) > 200 || strings.ContainsAny(name, "\n\x00") {
		x.fail("", "the name cannot be that of a job")
	}
	for k := range m.All() {
		key := value.Str(k)
		if !strings.HasPrefix(key, "_") && !slices.Contains(keys, key) {
			x.fail(key, "unknown key %q%s", key, source.DidYouMean(key, keys))
		}
	}
	x.function()
	x.times()
	x.limits(all)
	x.returns()
	for _, key := range unserved {
		if value.Truth(m.At(key)) || value.Truth(all.At(key)) {
			j.Unserved = append(j.Unserved, key)
		}
	}
	if n := m.At("maxrunning"); n != nil {
		if v, ok := value.AsInt(n); !ok || v < 1 || v > 1000 {
			x.fail("maxrunning", "maxrunning must be a number of 1 or more, not %s", value.Repr(n))
		} else {
			j.MaxRunning = int(v)
		}
	}
	j.Shared = value.Truth(all.At("shared"))
	for key, at := range map[string]*bool{"shared": &j.Shared, "enabled": &j.Enabled, "jid_include": &j.JIDInclude, "run_on_start": &j.RunOnStart} {
		if v, ok := m.Get(key); ok && v != nil {
			*at = value.Truth(v) && v != "false" && v != "False"
		}
	}
	if len(x.errs) > 0 {
		return nil, x.errs
	}
	return j, nil
}

// function reads what is called.
func (r *jobReader) function() {
	key := "function"
	for _, k := range []string{"function", "func", "fun"} {
		if r.m.Has(k) {
			key = k
			break
		}
	}
	name, ok := r.m.At(key).(string)
	if !ok || name == "" {
		r.fail(key, "it has no function")
		return
	}
	r.job.Function = name
	if r.Known != nil {
		if known, hint := r.Known(name); !known {
			r.fail(key, "unknown function %s%s", name, hint)
		}
	}
	for _, k := range []string{"args", "job_args"} {
		v := r.m.At(k)
		l, ok := v.(*value.List)
		switch {
		case ok:
			r.job.Args = append(r.job.Args, l.Items...)
		case v != nil:
			r.fail(k, "%s must be a list, not %s", k, value.Kind(v))
		}
	}
	for _, k := range []string{"kwargs", "job_kwargs"} {
		v := r.m.At(k)
		m, ok := v.(*value.Map)
		switch {
		case ok:
			r.job.Kwargs.Update(m)
		case v != nil:
			r.fail(k, "%s must be a mapping, not %s", k, value.Kind(v))
		}
	}
}

// times reads when the job is due.
func (r *jobReader) times() {
	units := []string{"seconds", "minutes", "hours", "days"}
	var given []string
	for _, key := range slices.Concat(units, []string{"when", "cron", "once"}) {
		if r.m.At(key) != nil {
			given = append(given, key)
		}
	}
	kinds := 0
	for i, key := range given {
		if i == 0 || !slices.Contains(units, key) || !slices.Contains(units, given[0]) {
			kinds++
		}
	}
	switch {
	case len(given) == 0 && value.Truth(r.m.At("run_on_start")):
		return // once, on each start
	case len(given) == 0:
		r.fail("function", "it does not say when: it needs seconds, minutes, hours, days, when, cron or once")
		return
	case kinds > 1:
		r.fail(given[1], "%s cannot be used together", strings.Join(given, ", "))
		return
	}
	switch given[0] {
	case "when":
		r.when()
	case "cron":
		c, err := ParseCron(value.Str(r.m.At("cron")))
		if err != nil {
			r.fail("cron", "cron: %v", err)
		}
		r.job.Cron = c
	case "once":
		r.once()
	default:
		r.every(given)
	}
}

func (r *jobReader) every(given []string) {
	total := 0.0
	for _, key := range given {
		n, err := value.ToFloat(r.m.At(key))
		if err != nil || n < 0 || math.IsNaN(n) || n > 1e9 {
			r.fail(key, "%s must be a number of %s, not %s", key, key, value.Repr(r.m.At(key)))
			return
		}
		total += math.Trunc(n) * map[string]float64{"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}[key]
	}
	if total < 1 || total > 1e9 {
		r.fail(given[0], "an interval of %.0f seconds cannot be kept: it must be at least 1", total)
		return
	}
	r.job.Every = time.Duration(total) * time.Second
}

// date reads a date under a key.
func (r *jobReader) date(key string, v value.Value) (Date, bool) {
	if _, ok := v.(int64); ok {
		r.fail(key, "%s: %v is a number: YAML reads 17:00 as one; put the time in quotes", key, v)
		return Date{}, false
	}
	d, err := ParseDate(value.Str(v))
	if err != nil {
		r.fail(key, "%s: %v", key, err)
		return Date{}, false
	}
	return d, true
}

func (r *jobReader) when() {
	items := []value.Value{r.m.At("when")}
	if l, ok := items[0].(*value.List); ok {
		items = l.Items
	}
	for _, v := range items {
		if name, ok := v.(string); ok && r.Whens != nil {
			if text, ok := r.Whens(name); ok {
				v = text
			}
		}
		if d, ok := r.date("when", v); ok {
			r.job.When = append(r.job.When, d)
		}
	}
}

func (r *jobReader) once() {
	v := r.m.At("once")
	if f := r.m.Str("once_fmt"); f != "" && f != "%Y-%m-%dT%H:%M:%S" {
		layout, err := Layout(f)
		if err != nil {
			r.fail("once_fmt", "once_fmt: %v", err)
			return
		}
		t, err := time.ParseInLocation(layout, value.Str(v), r.location())
		if err != nil {
			r.fail("once", "once: %q is not of the form %s", value.Str(v), f)
			return
		}
		r.job.Once = &t
		return
	}
	d, ok := r.date("once", v)
	if !ok {
		return
	}
	if d.Year == 0 {
		r.fail("once", "once: %q has no year", value.Str(v))
		return
	}
	t := d.At(time.Now().In(r.location()))
	r.job.Once = &t
}

func (r Reader) location() *time.Location {
	if r.Location != nil {
		return r.Location
	}
	return time.Local
}

// Layout returns Go's layout of Python's format of dates.
func Layout(format string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		i++
		if i == len(format) {
			return "", errors.New("it ends with %")
		}
		at := strings.IndexByte("YmdHMSIpybBaA%", format[i])
		if at < 0 {
			return "", fmt.Errorf("%%%c is not read here", format[i])
		}
		b.WriteString([...]string{"2006", "01", "02", "15", "04", "05", "03", "PM", "06", "Jan", "January", "Mon", "Monday", "%"}[at])
	}
	return b.String(), nil
}

// limits reads what keeps a job that is due from running.
func (r *jobReader) limits(all *value.Map) {
	for key, at := range map[string]**Date{"after": &r.job.After, "until": &r.job.Until} {
		if v := r.m.At(key); v != nil {
			if d, ok := r.date(key, v); ok {
				*at = &d
			}
		}
	}
	r.job.Skips, r.job.Runs = r.explicit("skip_explicit"), r.explicit("run_explicit")
	r.job.Range = r.span("range", r.m.At("range"))
	skip := r.m.At("skip_during_range")
	if skip == nil {
		skip = all.At("skip_during_range")
	}
	r.job.Skip = r.span("skip_during_range", skip)
	splay, key := r.m.At("splay"), "splay"
	if splay == nil && r.m.At("jitter") != nil {
		splay, key = r.m.At("jitter"), "jitter"
	}
	if splay == nil {
		splay = all.At("splay")
	}
	lo, hi := value.Value(int64(1)), splay
	if m, ok := splay.(*value.Map); ok {
		lo, hi = m.At("start"), m.At("end")
	}
	if !value.Truth(splay) {
		return
	}
	from, ok := value.AsInt(lo)
	to, ok2 := value.AsInt(hi)
	if !ok || !ok2 || from < 0 || to < from || to > 1e8 {
		r.fail(key, "%s must be a number of seconds, or a mapping of start and end, of which end is the larger, not %s", key, value.Repr(splay))
		return
	}
	r.job.SplayMin, r.job.SplayMax = time.Duration(from)*time.Second, time.Duration(to)*time.Second
}

// explicit reads a list of single times, each a mapping of time and time_fmt.
func (r *jobReader) explicit(key string) []time.Time {
	v := r.m.At(key)
	l, ok := v.(*value.List)
	if !ok {
		if v != nil {
			r.fail(key, "%s must be a list, not %s", key, value.Kind(v))
		}
		return nil
	}
	var out []time.Time
	for _, x := range l.Items {
		m, ok := x.(*value.Map)
		if !ok {
			r.fail(key, "%s must be a list of mappings with time and time_fmt, not of %s", key, value.Kind(x))
			return nil
		}
		t, err := r.ParseTime(value.Str(m.At("time")), m.Str("time_fmt"))
		if err != nil {
			r.fail(key, "%s: %v", key, err)
			return nil
		}
		out = append(out, t)
	}
	return out
}

// TimeFormat is Salt's format of single times.
const TimeFormat = "%Y-%m-%dT%H:%M:%S"

// ParseTime reads a time in one of Python's formats; "" is TimeFormat.
func (r Reader) ParseTime(text, format string) (time.Time, error) {
	if format == "" {
		format = TimeFormat
	}
	layout, err := Layout(format)
	if err != nil {
		return time.Time{}, fmt.Errorf("time_fmt: %w", err)
	}
	t, err := time.ParseInLocation(layout, text, r.location())
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not of the form %s", text, format)
	}
	return t, nil
}

// span reads a range; a list of mappings is one.
func (r *jobReader) span(key string, v value.Value) *Span {
	if v == nil {
		return nil
	}
	if l, ok := v.(*value.List); ok {
		m := value.NewMap(3)
		for _, x := range l.Items {
			if one, ok := x.(*value.Map); ok {
				m.Update(one)
			}
		}
		v = m
	}
	m, ok := v.(*value.Map)
	if !ok || !m.Has("start") || !m.Has("end") {
		r.fail(key, "%s must be a mapping with start and end, not %s", key, value.Repr(v))
		return nil
	}
	for k := range m.All() {
		if name := value.Str(k); name != "start" && name != "end" && name != "invert" {
			r.fail(key, "%s: unknown key %q%s", key, name, source.DidYouMean(name, []string{"start", "end", "invert"}))
		}
	}
	start, ok := r.date(key, m.At("start"))
	end, ok2 := r.date(key, m.At("end"))
	if !ok || !ok2 {
		return nil
	}
	s := &Span{Start: start, End: end, Invert: value.Truth(m.At("invert"))}
	if _, err := s.contains(time.Now().In(r.location())); err != nil {
		r.fail(key, "%s: %v", key, err)
		return nil
	}
	return s
}

// returns reads where the return goes.
func (r *jobReader) returns() {
	j := r.job
	if v, ok := r.m.Get("return_job"); ok && v != nil {
		j.Record = value.Truth(v) && v != "nocache" && v != "false"
	}
	r.returners("returner", r.m.At("returner"))
	r.returners("schedule_returner", r.Returner)
	j.ReturnConfig = r.m.Str("return_config")
	for key, at := range map[string]**value.Map{"return_kwargs": &j.ReturnKwargs, "metadata": &j.Metadata} {
		v := r.m.At(key)
		m, ok := v.(*value.Map)
		if v != nil && !ok {
			r.fail(key, "%s must be a mapping, not %s", key, value.Kind(v))
		}
		*at = m
	}
}

// returners reads a list of returners, or a text with commas.
func (r *jobReader) returners(key string, v value.Value) {
	if l, ok := v.(*value.List); ok {
		for _, x := range l.Items {
			r.returners(key, value.Str(x))
		}
		return
	}
	if v == nil {
		return
	}
	for name := range strings.SplitSeq(value.Str(v), ",") {
		name = strings.TrimSpace(name)
		if name == "" || slices.Contains(r.job.Returners, name) {
			continue
		}
		if r.CheckReturner != nil {
			if err := r.CheckReturner(name); err != nil {
				r.fail(key, "%s: %v", key, err)
			}
		}
		r.job.Returners = append(r.job.Returners, name)
	}
}

// Next returns when the job is due next, after now. last is when it ran last; the
// zero time is never. False: it will not be.
func (j *Job) Next(now, last time.Time) (time.Time, bool) {
	first, ok := j.regular(now, last)
	for n := 0; ok && j.skipped(first); n++ {
		if n > len(j.Skips)*2 { // what is skipped has an end; this keeps odd times from going on
			return time.Time{}, false
		}
		first, ok = j.regular(first, first)
	}
	for _, t := range j.Runs {
		if t.After(now) && (!ok || t.Before(first)) {
			first, ok = t, true
		}
	}
	return first, ok
}

// early and late are how far a timer may miss a single time.
const early, late = 2 * time.Second, time.Minute

// near reports whether a job that starts at now does so because of the time t.
func (j *Job) near(now, t time.Time) bool {
	before, after := early, late+j.SplayMax
	if next, ok := j.regular(t, t); ok {
		half := next.Sub(t) / 2
		before, after = min(before, half), min(after, half)
	}
	return !now.Before(t.Add(-before)) && now.Before(t.Add(after))
}

// skipped reports whether a job does not run at now: this is one of Skips, and none
// of Runs.
func (j *Job) skipped(now time.Time) bool {
	at := func(t time.Time) bool { return j.near(now, t) }
	for _, t := range j.Runs {
		if !now.Before(t) && at(t) {
			return false
		}
	}
	return slices.ContainsFunc(j.Skips, at)
}

// regular is Next without single times.
func (j *Job) regular(now, last time.Time) (time.Time, bool) {
	switch {
	case j.Every > 0:
		if at := last.Add(j.Every); !last.IsZero() && at.After(now) {
			return at, true
		}
		return now.Add(j.Every), true
	case j.Cron != nil:
		return j.Cron.Next(now)
	case j.Once != nil:
		return *j.Once, j.Once.After(now)
	}
	var first time.Time
	for _, d := range j.When {
		if t, ok := d.Next(now); ok && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first, !first.IsZero()
}

// Due reports whether a job that is due at now may run; else it says why not.
func (j *Job) Due(now time.Time) (bool, string) {
	if !j.Enabled {
		return false, "it is disabled"
	}
	if j.Range != nil {
		in, err := j.Range.contains(now)
		if err != nil {
			return false, err.Error()
		}
		if in == j.Range.Invert {
			return false, "it is not in its range"
		}
	}
	if j.Skip != nil {
		in, err := j.Skip.contains(now)
		if err != nil {
			return false, err.Error()
		}
		if in {
			return false, "it is in skip_during_range"
		}
	}
	if j.skipped(now) {
		return false, "this run is skipped (skip_explicit)"
	}
	if j.Until != nil && !j.Until.At(now).After(now) {
		return false, "until has passed"
	}
	if j.After != nil && !j.After.At(now).Before(now) {
		return false, "after has not passed"
	}
	return true, ""
}
