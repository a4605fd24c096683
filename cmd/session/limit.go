package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"brine/cmd/app"
	"brine/cmd/internal/summary"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/core/roster"
	"brine/internal/fleet"
	"brine/internal/fleet/jobs"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Limit is the part of its targets that a run is for: what --limit names.
type Limit struct {
	// Text is the expression, with @failed, @<jid> and @<file> as the ids that they meant
	// when the run began: records have it, and a resumed run has the same.
	Text string
	// IDs are those that the expression names one by one.
	IDs []string

	patterns []string // ids and globs
	compound string   // "" where there are patterns
	known    map[string]bool
}

// Keep reports whether a machine is within the limit.
func (l *Limit) Keep(id string) bool {
	return l.known[id] || slices.ContainsFunc(l.patterns, func(p string) bool { return value.Fnmatch(p, id) })
}

// Reach takes what the command line says of the machines of the run: how they are
// reached, and which of them it is for. It asks for a password where the flags say so.
func (s *Session) Reach(f *app.FleetFlags) (err error) {
	if s.SSH, err = SSHOptions(s.App, f); err != nil {
		return err
	}
	s.AlsoLimit(f.Limit)
	s.verbose, s.Group = f.Verbose, f.Group
	if f.Summary {
		s.steps.tally, s.steps.mask = &summary.Tally{}, s.Secrets.AnyText
	}
	return nil
}

// AlsoLimit takes an expression of --limit; "" is none. Of several, all hold.
func (s *Session) AlsoLimit(text string) {
	if text != "" {
		s.limitTexts = append(s.limitTexts, text)
	}
}

// Limit returns the part of its targets that the command line says the run is for; nil is
// all.
func (s *Session) Limit() *Limit {
	if len(s.limits) == 0 {
		return nil
	}
	return s.limits[0]
}

// Within returns what tells the targets within all limits; nil is all of them.
func (s *Session) Within() func(id string) bool {
	if len(s.limits) == 0 {
		return nil
	}
	return func(id string) bool {
		return !slices.ContainsFunc(s.limits, func(l *Limit) bool { return !l.Keep(id) })
	}
}

// limitedTo is the limit of the run, as its record has it; "" is none.
func (s *Session) limitedTo() string {
	if l := s.Limit(); l != nil {
		return l.Text
	}
	return s.App.KeepText
}

// limitTo has jobs run only on the targets that an expression of --limit names.
func (s *Session) limitTo(ctx context.Context, f *fleet.Fleet, text string) error {
	l, err := s.readLimit(ctx, text)
	if err != nil {
		return err
	}
	if err := s.resolveLimit(ctx, f, l); err != nil {
		return err
	}
	s.limits = append(s.limits, l)
	if keep := f.Keep; keep != nil {
		f.Keep = func(id string) bool { return keep(id) && l.Keep(id) }
	} else {
		f.Keep = l.Keep
	}
	return nil
}

// failedWord is the name of the last run, for --limit.
const failedWord = "failed"

// readLimit reads an expression of --limit.
func (s *Session) readLimit(ctx context.Context, text string) (*Limit, error) {
	name, at := strings.CutPrefix(strings.TrimSpace(text), "@")
	switch {
	case at && (name == failedWord || jobs.IsJID(name)):
		ids, err := s.failedIn(ctx, name)
		return idLimit(ids), err
	case at:
		ids, err := readIDs(name)
		return idLimit(ids), err
	case isCompound(text):
		return &Limit{Text: text, compound: text}, nil
	}
	l := &Limit{Text: text}
	for p := range strings.SplitSeq(text, ",") {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		l.patterns = append(l.patterns, p)
		if !strings.ContainsAny(p, "*?[") {
			l.IDs = append(l.IDs, p)
		}
	}
	if len(l.patterns) == 0 {
		return nil, &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--limit %q names no target", text), Hint: "ids or globs with commas between them, such as --limit web1,'db*'"}
	}
	return l, nil
}

// isCompound reports whether an expression is more than ids and globs with commas between.
func isCompound(text string) bool {
	words := strings.Fields(text)
	for _, w := range words {
		if _, _, ok := strings.Cut(w, "@"); ok || w == "not" || w == "and" || w == "or" || strings.HasPrefix(w, "(") {
			return true
		}
	}
	return len(words) > 1 && !strings.Contains(text, ",")
}

// idLimit is the limit of a list of ids.
func idLimit(ids []string) *Limit {
	l := &Limit{Text: strings.Join(ids, ","), IDs: ids, known: make(map[string]bool, len(ids))}
	for _, id := range ids {
		l.known[id] = true
	}
	return l
}

// readIDs reads a file of one id a line, such as --failed-file writes.
func readIDs(path string) ([]string, error) {
	hint := "@failed is the targets that failed in the last run, @<jid> those of that job, @<file> a file with one id per line"
	if path == "" {
		return nil, &app.StatusError{Status: app.ExitUsage, Err: errors.New("--limit @: it does not say which job or file"), Hint: hint}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		if strings.Trim(path, "0123456789") == "" {
			hint = "a jid has 20 digits: 'brine run jobs.list_jobs' lists them"
		}
		return nil, &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--limit: %w", err), Hint: hint + source.DidYouMean(path, []string{failedWord})}
	}
	var ids []string
	for _, id := range strings.FieldsFunc(string(b), func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		if id = strings.TrimSpace(id); id != "" && !strings.HasPrefix(id, "#") {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("--limit @%s names no target", path), Hint: "the file of --failed-file is empty where no target failed"}
	}
	return ids, nil
}

// resolveLimit finds the machines that a limit names now. It warns of ids that no roster
// has, and returns an error where nothing is left: a run of nothing would look like one
// that succeeded.
func (s *Session) resolveLimit(ctx context.Context, f *fleet.Fleet, l *Limit) error {
	if kinds := roster.KindsOf(s.Cfg.Opts); roster.AllFromTarget(kinds) {
		if l.compound == "" {
			return nil // these rosters have no list of targets
		}
		return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--limit %s: the roster %s has no list of targets that an expression could choose from", l.Text, strings.Join(kinds, ", ")), Hint: "give ids or globs"}
	}
	if l.compound != "" {
		ids, err := f.Match(ctx, l.compound, "compound")
		if err != nil {
			if bad, ok := errors.AsType[*fun.TargetError](err); ok {
				return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--limit %s: %w", l.Text, bad)}
			}
			return fmt.Errorf("--limit %s: %w", l.Text, err)
		}
		if len(ids) == 0 {
			return noneWithin(l.Text, nil)
		}
		l.known = make(map[string]bool, len(ids))
		for _, id := range ids {
			l.known[id] = true
		}
		return nil
	}
	all, err := f.Match(ctx, "*", "glob")
	if err != nil {
		return fmt.Errorf("--limit %s: %w", l.Text, err)
	}
	listed := make(map[string]bool, len(all))
	some := false
	for _, id := range all {
		listed[id] = true
		some = some || l.Keep(id)
	}
	if !some {
		return noneWithin(l.Text, all)
	}
	var strangers []string
	for _, id := range l.IDs {
		if !listed[id] {
			strangers = append(strangers, id)
		}
	}
	if len(strangers) > 0 {
		near := ""
		if len(strangers) == 1 {
			near = source.DidYouMean(strangers[0], all)
		}
		s.Warn(fun.Warning{Text: fmt.Sprintf("--limit names %s, which no roster has%s", summary.FoldSome(strangers, 10), near)})
	}
	return nil
}

// noneWithin is the error of a limit that leaves nothing.
func noneWithin(text string, all []string) error {
	hint := "'brine ssh --hosts' lists the targets; --roster-file names the roster"
	const most = 200
	if len(text) > most {
		text = text[:most] + "..."
	}
	return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("--limit %s matches no target%s", text, source.DidYouMean(strings.Trim(text, "*?"), all)), Hint: hint}
}

// failedIn returns the targets that failed in a job, by its jid, or in the last run.
func (s *Session) failedIn(ctx context.Context, name string) ([]string, error) {
	files := s.Files
	if files == nil {
		files = jobs.NewFiles(s.Cfg.CacheDir, 0, s.App.Host.Now)
		defer files.Close()
	}
	jid, option := name, "--limit @"+name
	if name == failedWord {
		if jid = lastRun(ctx, files); jid == "" {
			return nil, &app.StatusError{Status: app.ExitGeneric, Err: errors.New("--limit @failed: no run on targets is recorded in the job cache of this machine"), Hint: "cachedir says where that is; 'brine run jobs.list_jobs' lists the jobs"}
		}
	}
	j, err := EndedJob(ctx, files, option, jid)
	if err != nil {
		return nil, err
	}
	ids, err := failedOf(ctx, files, j)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option, err)
	}
	what := strings.TrimPrefix(j.Load.Str("fun"), "runner.")
	if len(ids) == 0 {
		if j.Returns.Len() > 0 && allSucceeded(j) {
			return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("%s: no target failed in job %s (%s): there is nothing to run on", option, jid, printable.Line(what))}
		}
		return nil, &app.StatusError{
			Status: app.ExitGeneric, Err: fmt.Errorf("%s: job %s (%s) failed, but on no target: what failed runs on the controller, or no target was found", option, jid, printable.Line(what)),
			Hint: "'brine run jobs.print_job " + jid + "' shows it; 'brine orchestrate --resume " + jid + "' goes on with an orchestration",
		}
	}
	fmt.Fprintf(s.App.Err, "brine: %s: %d target%s failed in job %s (%s): %s\n", option, len(ids), value.Plural(len(ids)), jid, printable.Line(what), printable.Line(summary.FoldSome(ids, 10)))
	return ids, nil
}

// allSucceeded reports whether a job has returns and none of them is a failure.
func allSucceeded(j *jobs.Job) bool { return len(j.Failed()) == 0 }

// lastRun returns the jid of the newest job that a person started on targets: no step of
// an orchestration, no look-up. "" is none.
func lastRun(ctx context.Context, files *jobs.Files) string {
	jid := ""
	_ = files.Walk(ctx, "", "", func(r *jobs.Row) bool {
		if r.Lookup() || r.FindJob() {
			return true
		}
		load := r.Brief(false).Load
		name := load.Str("fun")
		runner, isRunner := strings.CutPrefix(name, "runner.")
		switch {
		case load.Str("orchestration_jid") != "":
			return true
		case isRunner && !IsOrchestrate(runner) && runner != "state.sls":
			return true
		case !isRunner && load.Str("tgt_type") == "":
			return true
		}
		jid = r.JID
		return false
	})
	return jid
}

// EndedJob returns a job that came to its end, which an option names: of another one it is
// not known which targets failed.
func EndedJob(ctx context.Context, files *jobs.Files, option, jid string) (*jobs.Job, error) {
	j, err := files.Job(ctx, jid)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option, err)
	}
	fault := func(hint, format string, args ...any) error {
		return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf(option+": "+format, args...), Hint: hint}
	}
	switch {
	case j == nil:
		return nil, fault("'brine run jobs.list_jobs' lists the jobs", "there is no job %s in the cache of this machine", jid)
	case j.State == jobs.Active:
		return nil, fault("'brine run jobs.active' shows how far it is; saltutil.kill_job ends it", "job %s is still running", jid)
	case j.State == jobs.Detached:
		return nil, fault("'brine run jobs.lookup_jid "+jid+"' fetches them, or says what still runs", "job %s was started with --async, and not all of its returns have been fetched", jid)
	case j.Damage != "":
		return nil, fault("'brine run jobs.check' tells what is left of it", "the record of job %s is damaged: %s", jid, j.Damage)
	}
	return j, nil
}

// failedOf returns the targets that failed in a job, of an orchestration in any of its
// steps, sorted.
func failedOf(ctx context.Context, files *jobs.Files, j *jobs.Job) ([]string, error) {
	if j.Definition == nil && !strings.HasPrefix(j.Load.Str("fun"), "runner.") {
		ids := j.Failed()
		slices.Sort(ids)
		return ids, nil
	}
	bad := map[string]bool{}
	under := map[string]bool{j.JID: true} // and the orchestrations that its steps are
	entries, err := files.Jobs(ctx, j.JID, "")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !under[e.Load.Str("orchestration_jid")] {
			continue
		}
		if strings.HasPrefix(e.Load.Str("fun"), "runner.") {
			under[e.JID] = true
			continue
		}
		step, err := files.Job(ctx, e.JID)
		if err != nil || step == nil {
			return nil, fmt.Errorf("job %s of one of its steps cannot be read: %w", e.JID, err)
		}
		for _, id := range step.Failed() {
			bad[id] = true
		}
	}
	ids := make([]string, 0, len(bad))
	for id := range bad {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, nil
}

// SayLeftOut says on stderr which targets --limit left out of a run. It returns an error
// where none was within it: nothing was done anywhere.
func (s *Session) SayLeftOut(env *fun.Env) error {
	f, ok := env.Fleet.(*fleet.Fleet)
	text := short(s.limitedTo())
	if text == "" || !ok {
		return nil
	}
	out := f.LeftOut()
	if len(out) == 0 {
		return nil
	}
	if !f.Ran() {
		return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("nothing was run: no target of the run is within --limit %s", text), Hint: "the targets are " + summary.FoldSome(out, 10)}
	}
	fmt.Fprintf(s.App.Err, "brine: --limit %s left out %d target%s: %s\n", printable.Line(text), len(out), value.Plural(len(out)), printable.Line(summary.FoldSome(out, 10)))
	return nil
}

// short is an expression as a message has it.
func short(text string) string {
	const most = 80
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

// sameLimit has a resumed run keep to the limit of the run that it goes on with.
func (s *Session) sameLimit(ctx context.Context, env *fun.Env, j *jobs.Job) error {
	was, now := j.Load.Str("limit"), s.limitedTo()
	switch {
	case was == "":
		return nil
	case now != "" && now != was:
		return &app.StatusError{
			Status: app.ExitUsage, Err: fmt.Errorf("job %s ran with --limit %s, and is resumed with the same", j.JID, short(was)),
			Hint: "leave --limit out; a run for other targets is a new run",
		}
	case now != "":
		return nil
	}
	f, ok := env.Fleet.(*fleet.Fleet)
	if !ok {
		return nil
	}
	return s.limitTo(ctx, f, was)
}
