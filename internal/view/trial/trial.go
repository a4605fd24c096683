// Package trial tests the cases of a tree: it compiles them for systems by their
// grains, compares what comes of it with golden files, and applies them to throw-away
// machines. Start with [Compile] and [Apply].
package trial

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/casefile"
)

// A World is what the cases of a tree are tested with.
type World struct {
	Tree string     // absolute
	Opts *value.Map // the configuration of the tree: roots, renderer options and so on
	// Settings are the options that the configuration of the tree sets.
	Settings *value.Map
	Host     host.Host           // that of the controller
	Name     func(string) string // a path as the user knows it
	// Grains returns the recorded grains of a system; the error says what systems there
	// are.
	Grains func(system string) (*value.Map, error)
	// NewEnv returns an Env that looks at a tree on a Host and runs nothing.
	NewEnv func(ctx context.Context, h host.Host, opts *value.Map, fault func(error)) *fun.Env
	// Covers says that branches of templates are noted, for a Coverage.
	Covers bool
	// Invoker calls functions of an Env, also those that it keeps from templates.
	Invoker func(*fun.Env) fun.Invoker
}

// A Job is a case on one system.
type Job struct {
	Case   *casefile.Case
	System string
}

// Name names a job.
func (j Job) Name() string { return j.Case.Name + " on " + j.System }

// Jobs returns the matrix of a suite: each case on each of its systems. The error names
// a pattern that selects nothing.
func Jobs(s *casefile.Suite, cases, systems []string) ([]Job, error) {
	var jobs []Job
	var names, all []string
	for _, c := range s.Cases {
		names = append(names, c.Name)
		for _, sys := range c.Systems {
			if !slices.Contains(all, sys) {
				all = append(all, sys)
			}
			if selects(cases, c.Name) && selects(systems, sys) {
				jobs = append(jobs, Job{c, sys})
			}
		}
	}
	if err := unused("case", cases, names); err != nil {
		return nil, err
	}
	if err := unused("system", systems, all); err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("no case that is selected has one of the systems %s", strings.Join(systems, ", "))
	}
	return jobs, nil
}

func selects(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return value.Fnmatch(p, name) })
}

// unused returns an error for a pattern that matches no name.
func unused(what string, patterns, names []string) error {
	for _, p := range patterns {
		if !slices.ContainsFunc(names, func(n string) bool { return value.Fnmatch(p, n) }) {
			return fmt.Errorf("no %s is named %q%s: there are %s", what, p, source.DidYouMean(p, names), strings.Join(names, ", "))
		}
	}
	return nil
}

// A Status is how a check ended.
type Status int

// The results of checks.
const (
	Passed Status = iota
	Skipped
	Failed
)

func (s Status) String() string { return [...]string{"passed", "skipped", "failed"}[s] }

// A Check is one thing that was looked at.
type Check struct {
	Name   string // such as "compile" or "file /etc/motd"
	Status Status
	Text   string // what was found; of what failed, why
	Hint   string
	Pos    source.Pos // File is an absolute path, or as the user knows it
	Took   time.Duration
}

// A Result has the checks of a job.
type Result struct {
	Job
	Checks []Check
	Took   time.Duration
	SLS    []string // that the case compiled
	// Files are the files of this machine that a case was compiled from, and the files
	// and directories that its states name.
	Files []string

	compiled bool
	states   []stateID
	pillars  []value.Value // of its machines
	branches map[branchKey]bool
}

// Failed reports whether a check of the job failed.
func (r *Result) Failed() bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Status == Failed })
}

// failures is how many checks of the job failed.
func (r *Result) failures() (n int) {
	for _, c := range r.Checks {
		if c.Status == Failed {
			n++
		}
	}
	return n
}

// add adds a check that began at a time.
func (r *Result) add(c Check, began time.Time) {
	c.Took = time.Since(began)
	r.Checks = append(r.Checks, c)
}

// abs returns the path of an SLS file or template that a fault names, as far as it is
// found below a root.
func abs(h host.Host, roots []string, name string) string {
	if path.IsAbs(name) {
		return name
	}
	for _, root := range roots {
		p := path.Join(root, name)
		if st, err := h.Stat(p); err == nil && st.Mode.IsRegular() {
			return p
		}
	}
	return name
}
