// Package at is Salt's execution module "at": jobs of at(1), with tags.
package at

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/tool"
)

// Module returns the execution module "at".
func Module() fun.Module {
	return fun.Module{Name: "at", Kind: fun.Exec, Doc: "Jobs of at(1).", Avail: tool.Needs("at", "The at module could not be loaded: at command not found"), Specs: specs}
}

// mark begins the line of a job by which it is tagged.
const mark = "### SALT: "

// A job is a line of atq(1).
type job struct {
	id                           int64
	date, time, queue, user, tag string
}

func (j job) value() *value.Map {
	return value.MapOf("job", j.id, "date", j.date, "time", j.time, "queue", j.queue, "user", j.user, "tag", j.tag)
}

func jobsValue(jobs []job) *value.Map {
	l := value.NewList()
	for _, j := range jobs {
		l.Append(j.value())
	}
	return value.MapOf("jobs", l)
}

// parse reads a line of atq(1): "3\tSun Nov 22 23:59:00 2026 a root". Older ones
// print "2026-11-22 23:59 a root".
func parse(line string) (job, bool) {
	id, rest, ok := strings.Cut(line, "\t")
	n, err := strconv.ParseInt(strings.TrimSpace(id), 10, 64)
	f := strings.Fields(rest)
	if !ok || err != nil {
		return job{}, false
	}
	if len(f) == 4 && strings.Count(f[0], "-") == 2 {
		return job{id: n, date: f[0], time: f[1], queue: f[2], user: f[3]}, true
	}
	if len(f) < 7 {
		return job{}, false
	}
	t, err := time.Parse("Mon Jan 2 15:04:05 2006", strings.Join(f[:5], " "))
	if err != nil {
		return job{}, false
	}
	return job{id: n, date: t.Format("2006-01-02"), time: t.Format("15:04:05"), queue: f[5], user: f[6]}, true
}

// tagOf returns the tag in the script of a job: a word of letters, digits and "_".
func tagOf(script string) string {
	tag := ""
	for line := range strings.Lines(script) {
		rest, ok := strings.CutPrefix(line, mark)
		if !ok {
			continue
		}
		end := strings.IndexFunc(rest, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		})
		if end < 0 {
			end = len(rest)
		}
		if end > 0 {
			tag = rest[:end]
		}
	}
	return tag
}

// queue returns all jobs, with their tags.
func queue(ctx context.Context, h host.Host) ([]job, error) {
	out, err := tool.Run(ctx, h, "atq")
	if err != nil {
		return nil, err
	}
	if !out.OK() {
		return nil, fun.Errorf("%s", out.Fault())
	}
	var jobs []job
	for line := range strings.Lines(out.Stdout) {
		j, ok := parse(strings.TrimRight(line, "\n"))
		if !ok {
			continue
		}
		script, err := tool.Run(ctx, h, "at", "-c", strconv.FormatInt(j.id, 10))
		if err != nil {
			return nil, err
		}
		j.tag = tagOf(script.Stdout)
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// tagged returns the jobs that have a tag or are the job of that number.
func tagged(jobs []job, tag string) []job {
	return slices.DeleteFunc(jobs, func(j job) bool { return j.tag != tag && strconv.FormatInt(j.id, 10) != tag })
}

type atqArgs struct {
	_   fun.Arguments
	Tag string `arg:"tag" doc:"only jobs with this tag, or the job of this number"`
}

func atq(ctx context.Context, c *fun.Call, a *atqArgs) (fun.Result, error) {
	jobs, err := queue(ctx, c.Env.Host)
	if err != nil {
		return fun.Result{}, err
	}
	if tag := a.Tag; tag != "" {
		jobs = tagged(jobs, tag)
	}
	return fun.Value(jobsValue(jobs))
}

type atrmArgs struct {
	More fun.Varargs
}

// atrm removes jobs by number, all of them, or all with a tag.
// Salt: salt/modules/at.py atrm. Difference: several jobs are removed as well, where
// Salt hands all numbers to at(1) in one word, so that none is.
func atrm(ctx context.Context, c *fun.Call, a *atrmArgs) (fun.Result, error) {
	if len(a.More) == 0 {
		return fun.Value(value.MapOf("jobs", value.MapOf("removed", value.NewList(), "tag", nil)))
	}
	jobs, err := queue(ctx, c.Env.Host)
	if err != nil {
		return fun.Result{}, err
	}
	words := make([]string, len(a.More))
	for i, v := range a.More {
		words[i] = value.Str(v)
	}
	var tag value.Value
	switch {
	case words[0] != "all":
		jobs = slices.DeleteFunc(jobs, func(j job) bool { return !slices.Contains(words, strconv.FormatInt(j.id, 10)) })
	case len(words) > 1:
		tag, jobs = words[1], tagged(jobs, words[1])
	}
	if len(jobs) == 0 {
		res := fun.Result{Value: value.MapOf("jobs", value.MapOf("removed", value.NewList(), "tag", tag))}
		if words[0] != "all" {
			res.Retcode = 1
		}
		return res, nil
	}
	argv, removed := []string{"at", "-d"}, value.NewList()
	for _, j := range jobs {
		argv = append(argv, strconv.FormatInt(j.id, 10))
		removed.Append(strconv.FormatInt(j.id, 10))
	}
	out, err := tool.Merged(ctx, c.Env.Host, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Status != 0 {
		return fun.Result{}, fun.Errorf("%s", out.Text)
	}
	return fun.Value(value.MapOf("jobs", value.MapOf("removed", removed, "tag", tag)))
}

type addArgs struct {
	Tag   value.Value `arg:"tag,kw,str" doc:"name of the job for the other functions"`
	RunAs string      `arg:"runas,kw" doc:"account that it runs as"`
	More  fun.Varargs
	_     fun.Kwargs
}

// add queues a job. Salt: salt/modules/at.py at. Differences: an answer of at(1) that
// names no job is the error, and a job without a tag is not tagged "None".
func add(ctx context.Context, c *fun.Call, a *addArgs) (fun.Result, error) {
	if len(a.More) < 2 {
		return fun.Value(jobsValue(nil))
	}
	spec := value.Str(a.More[0])
	words := make([]string, len(a.More)-1)
	for i, v := range a.More[1:] {
		words[i] = value.Str(v)
	}
	script := strings.Join(words, " ")
	if tag := value.Str(a.Tag); a.Tag != nil {
		if strings.ContainsAny(tag, "\r\n") {
			return fun.Result{}, fun.Errorf("the tag %s has a line end", value.Repr(tag))
		}
		script = mark + tag + "\n" + script
	}
	if strings.HasPrefix(spec, "-") {
		return fun.Value(value.MapOf("jobs", value.NewList(), "error", "invalid timespec"))
	}
	out, err := cmd.Run(ctx, c.Env, "at "+proc.Quote(spec), cmd.Options{Stdin: script, RunAs: a.RunAs, Merge: true})
	if err != nil {
		return fun.Result{}, err
	}
	said := out.Stdout
	if strings.HasSuffix(said, "Garbled time") {
		return fun.Result{Value: value.MapOf("jobs", value.NewList(), "error", "invalid timespec"), Retcode: out.Retcode}, nil
	}
	id := ""
	for line := range strings.Lines(said) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "job" {
			id = f[1]
		}
	}
	if out.Retcode != 0 || id == "" {
		return fun.Result{Value: value.MapOf("jobs", value.NewList(), "error", said), Retcode: max(out.Retcode, 1)}, nil
	}
	jobs, err := queue(ctx, c.Env.Host)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(jobsValue(slices.DeleteFunc(jobs, func(j job) bool { return strconv.FormatInt(j.id, 10) != id })))
}

type atcArgs struct {
	_     fun.Arguments
	Jobid string `arg:"jobid,required" doc:"number of the job"`
}

// atc returns the script of a job.
func atc(ctx context.Context, c *fun.Call, a *atcArgs) (fun.Result, error) {
	id := a.Jobid
	if _, err := strconv.ParseUint(id, 10, 63); err != nil {
		return fun.Value(value.MapOf("error", fmt.Sprintf("invalid job id '%s'", id)))
	}
	out, err := tool.Run(ctx, c.Env.Host, "at", "-c", id)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Text() == "" {
		return fun.Result{Value: value.MapOf("error", fmt.Sprintf("invalid job id '%s'", id)), Retcode: out.Status}, nil
	}
	return fun.Value(out.Text())
}

type jobcheckArgs struct {
	_ fun.Arguments
	_ value.Value `arg:"hour,kw,int|str" doc:"hour at which the job runs"`
	_ value.Value `arg:"minute,kw,int|str" doc:"minute at which it runs"`
	_ value.Value `arg:"day,kw,int|str" doc:"day of the month on which it runs"`
	_ value.Value `arg:"month,kw,int|str" doc:"month in which it runs, as a number"`
	_ value.Value `arg:"year,kw,int|str" doc:"year in which it runs"`
	_ value.Value `arg:"tag,kw,str" doc:"name that it was given"`
	_ value.Value `arg:"runas,kw,str" doc:"account that it runs as"`
	_ fun.Kwargs
}

// jobcheck returns the jobs that fit all conditions.
func jobcheck(ctx context.Context, c *fun.Call, a *jobcheckArgs) (fun.Result, error) {
	given := c.Given(a)
	if given.Len() == 0 {
		return fun.Value(value.MapOf("error", "You have given a condition"))
	}
	jobs, err := queue(ctx, c.Env.Host)
	if err != nil {
		return fun.Result{}, err
	}
	if len(jobs) == 0 {
		return fun.Value(jobsValue(nil))
	}
	fits, err := condition(given)
	if err != nil {
		return fun.Result{}, err
	}
	m := jobsValue(slices.DeleteFunc(jobs, func(j job) bool { return !fits(j) }))
	if l := m.List("jobs"); l.Len() == 0 {
		m.Set("note", "No match jobs or time format error")
	}
	return fun.Value(m)
}

// condition reads hour, minute, day, month, year, tag and runas.
// Salt: salt/modules/at.py _atq. Difference: an hour or minute of 0 counts, and a
// year may be a number.
func condition(kw *value.Map) (func(job) bool, error) {
	var all []func(job) bool
	for _, k := range []struct {
		name string
		of   func(job) string
	}{
		{"hour", func(j job) string { return part(j.time, ":", 0) }},
		{"minute", func(j job) string { return part(j.time, ":", 1) }},
		{"day", func(j job) string { return part(j.date, "-", 2) }},
		{"month", func(j job) string { return part(j.date, "-", 1) }},
		{"year", func(j job) string { return part(j.date, "-", 0) }},
	} {
		v := kw.At(k.name)
		if v == nil || v == "" {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(value.Str(v)))
		if err != nil {
			return nil, value.Raise("ValueError", "invalid literal for int() with base 10: %s", value.Repr(value.Str(v)))
		}
		want := fmt.Sprintf("%02d", n)
		if k.name == "year" && len(want) == 2 {
			want = "20" + want
		}
		all = append(all, func(j job) bool { return k.of(j) == want })
	}
	if tag := kw.At("tag"); value.Truth(tag) {
		all = append(all, func(j job) bool { return j.tag == value.Str(tag) })
	}
	if user := kw.At("runas"); value.Truth(user) {
		all = append(all, func(j job) bool { return j.user == value.Str(user) })
	}
	return func(j job) bool {
		for _, fits := range all {
			if !fits(j) {
				return false
			}
		}
		return true
	}, nil
}

func part(s, sep string, i int) string {
	if f := strings.Split(s, sep); i < len(f) {
		return f[i]
	}
	return ""
}
