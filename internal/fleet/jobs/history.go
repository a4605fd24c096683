package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/difflib"
	"brine/internal/py/value"
)

// A History writes an orchestration down in its job's record: the definition
// (what would run) before the first step, then each step as it ends. It is the
// fun.Journal of the run.
type History struct {
	Record Record
	// Resume is the job whose steps that succeeded are not to be run again;
	// nil for none.
	Resume *Job
	SLS    value.Value
	User   string
	// FailedOn returns on which targets a step failed, by its ID and the jid of its job,
	// "" where its return has none; false where that is not known. nil: it never is.
	FailedOn func(step, job string) ([]string, bool)
	// Warn is called once if the history cannot be written.
	Warn func(error)

	once  sync.Once
	fleet fun.Rebooter // of the run; nil: it knows no boots

	mu    sync.Mutex
	boots map[string]fun.Boot // as they were recorded last

	passed map[string][]string // by tag; not changed while the run lasts
}

// Begin records the definition, and returns the steps that are done already. It
// fails where the job that is resumed would run other steps now; the error shows
// the difference.
func (h *History) Begin(ctx context.Context, env *fun.Env, chunks []*fun.Chunk) (map[string]*value.Map, error) {
	low := value.NewList()
	for _, c := range chunks {
		low.Append(withoutSecrets(c.Low))
	}
	def := value.MapOf(
		"sls", h.SLS, "saltenv", env.SaltEnv, "test", value.Truth(env.Opts.At("test")), "user", h.User,
		"pillar_sha256", digest(env.Pillar), "pillar_given", env.PillarOverride.Len() > 0, "low", low,
	)
	if rev := Revision(env); rev != "" {
		def.Set("revision", rev)
	}
	if files := inner(ctx, env, chunks); files.Len() > 0 {
		def.Set("files", files)
	}
	h.fleet, _ = env.Fleet.(fun.Rebooter)
	var done map[string]*value.Map
	if h.Resume != nil {
		var err error
		if done, err = h.resume(def); err != nil {
			return nil, err
		}
		if h.fleet != nil {
			h.fleet.Remember(h.boots)
		}
		h.boots = nil // this record has to have them, too
		def.Set("resumes", h.Resume.JID)
	}
	h.note("definition", def)
	for _, tag := range slices.Sorted(maps.Keys(h.passed)) { // whoever resumes this run needs them, too
		h.note(passedNote, value.MapOf("tag", tag, "ids", value.Strings(h.passed[tag]...)))
	}
	return done, nil
}

// passedNote is the kind of the notes that tell on which targets a step succeeded
// that goes in waves.
const passedNote = "passed"

// HistoryNotes are the kinds of notes that a [History] makes: a run that
// continues an orchestration needs all of them.
func HistoryNotes() []string { return []string{"definition", passedNote, "step"} }

// Passed returns the targets on which a step had succeeded in the run that is
// resumed, where the step itself had not; see [fun.TargetJournal].
func (h *History) Passed(tag string) []string { return h.passed[tag] }

// Pass records that a step has succeeded on a target; see [fun.TargetJournal].
func (h *History) Pass(tag, id string) {
	h.note(passedNote, value.MapOf("tag", tag, "ids", value.Strings(id)))
}

// Done records a step.
func (h *History) Done(c *fun.Chunk, ret *value.Map) {
	step := value.MapOf("tag", c.Tag(), "return", ret)
	for _, k := range []string{"tgt", "tgt_type", "metadata"} {
		if v, ok := c.Low.Get(k); ok {
			step.Set(k, v)
		}
	}
	if h.FailedOn != nil {
		if ids, known := h.FailedOn(c.ID, ret.Str("__jid__")); known {
			step.Set("failed", value.Strings(ids...))
		}
	}
	if boots := h.booted(); boots.Len() > 0 {
		step.Set("boots", boots)
	}
	h.note("step", step)
}

// FailedOn returns on which targets a recorded step failed. Steps that earlier versions
// recorded do not say so: of them, that is where a state failed.
func FailedOn(step *value.Map) []string {
	var out []string
	if l := step.List("failed"); l != nil {
		for _, id := range l.Items {
			out = append(out, value.Str(id))
		}
		return out
	}
	for id, v := range step.Map("return").Map("changes").Map("ret").All() {
		states, _ := v.(*value.Map)
		for _, s := range states.All() {
			if s, ok := s.(*value.Map); ok && s.Has("result") && s.At("result") == false {
				out = append(out, value.Str(id))
				break
			}
		}
	}
	return out
}

// booted returns what has been learned of boots of the run's machines since the
// last call: a resumed run has to recognise a machine that was booted since.
func (h *History) booted() *value.Map {
	out := value.NewMap(0)
	if h.fleet == nil {
		return out
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.boots == nil {
		h.boots = map[string]fun.Boot{}
	}
	all := h.fleet.Boots()
	for _, id := range slices.Sorted(maps.Keys(all)) {
		b := all[id]
		if h.boots[id] == b {
			continue
		}
		h.boots[id] = b
		m := value.MapOf("boot", b.ID)
		if b.Before != "" {
			m.Set("before", b.Before)
		}
		if b.Asked != "" {
			m.Set("asked", b.Asked)
		}
		out.Set(id, m)
	}
	return out
}

func (h *History) note(kind string, data *value.Map) {
	if err := h.Record.Note(kind, data); err != nil && h.Warn != nil {
		h.once.Do(func() { h.Warn(err) })
	}
}

// resume returns the returns of the steps that need not run again: those before
// the first that did not succeed. What they knew of boots is in h.boots then.
func (h *History) resume(now *value.Map) (map[string]*value.Map, error) {
	jid := h.Resume.JID
	then := h.Resume.Definition
	if then == nil {
		return nil, fun.Errorf("job %s cannot be resumed: it is not an orchestration that began its steps", jid)
	}
	if value.Truth(then.At("test")) != value.Truth(now.At("test")) {
		return nil, fun.Errorf("job %s cannot be resumed: one of the two runs is in test mode", jid)
	}
	if diff := lowDiff(then.List("low"), now.List("low")); diff != "" {
		hint := ""
		if value.Truth(then.At("pillar_given")) && !value.Truth(now.At("pillar_given")) {
			hint = "\nthe job was given a pillar, which is not kept: give pillar= again"
		}
		return nil, fun.Errorf("job %s cannot be resumed: its steps are not those that would run now%s\n%s", jid, hint, diff)
	}
	h.passed = maps.Clone(h.Resume.Passed)
	for _, s := range h.Resume.Steps {
		if s.Map("return").At("result") == true { // and is run again because of another one
			delete(h.passed, s.Str("tag"))
		}
	}
	done := map[string]*value.Map{}
	h.boots = map[string]fun.Boot{}
	for _, s := range h.Resume.Steps[:h.Resume.Prefix()] {
		ret, tag := s.Map("return"), s.Str("tag")
		done[tag] = ret
		if then.Has("files") && h.Warn != nil {
			if names := changedInner(then.Map("files").Map(tag), now.Map("files").Map(tag)); names != "" {
				h.Warn(fun.Errorf("step %s of job %s succeeded before %s changed; it is not run again", tag, jid, names))
			}
		}
		for id, b := range s.Map("boots").All() {
			if b, ok := b.(*value.Map); ok {
				h.boots[value.Str(id)] = fun.Boot{ID: b.Str("boot"), Before: b.Str("before"), Asked: b.Str("asked")}
			}
		}
	}
	return done, nil
}

// Prefix returns how many steps a run that continues an orchestration need not
// run again: those before the first that did not succeed.
func (j *Job) Prefix() int {
	n := 0
	for n < len(j.Steps) && j.Steps[n].Map("return").At("result") == true {
		n++
	}
	return n
}

// lowDiff shows how rendered steps differ; "" where they are the same.
func lowDiff(then, now *value.List) string {
	// The record went through JSON, which forgets what kind of dict one was.
	if v, err := value.ParseJSON(string(value.EncodeJSON(now))); err == nil {
		now, _ = v.(*value.List)
	}
	a, b := lowLines(then), lowLines(now)
	if strings.Join(a, "\n") == strings.Join(b, "\n") {
		return ""
	}
	return strings.TrimSuffix(difflib.String(a, b, "then", "now"), "\n")
}

func lowLines(low *value.List) []string {
	var out []string
	for i := range low.Len() {
		m, _ := low.Items[i].(*value.Map)
		out = append(out, m.Str("__id__")+": "+m.Str("state")+"."+m.Str("fun")+"\n")
		for k, v := range m.All() {
			switch k {
			case "__id__", "state", "fun":
			default:
				out = append(out, "  "+value.Str(k)+": "+value.Repr(v)+"\n")
			}
		}
	}
	return out
}

// withoutSecrets returns a low chunk with a digest in place of its pillar, and
// without other secrets.
func withoutSecrets(low *value.Map) *value.Map {
	if low.Has("pillar") {
		m := low.Copy()
		m.Set("pillar", "sha256:"+digest(low.At("pillar")))
		low = m
	}
	return redact.Hide(low).(*value.Map)
}

func digest(v value.Value) string {
	sum := sha256.Sum256(value.EncodeJSON(v))
	return hex.EncodeToString(sum[:])
}

// Revision returns the commit of the git checkout that the first root of the
// SLS tree lies in; "" where it lies in none.
func Revision(env *fun.Env) string {
	roots := env.Opts.Map("file_roots").List("base")
	if roots.Len() == 0 {
		return ""
	}
	dir := value.Str(roots.Items[0])
	for filepath.IsAbs(dir) {
		head, err := env.Host.ReadFile(filepath.Join(dir, ".git", "HEAD"))
		if err != nil {
			if dir == filepath.Dir(dir) {
				return ""
			}
			dir = filepath.Dir(dir)
			continue
		}
		ref, symbolic := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
		if !symbolic {
			return ref
		}
		if id, err := env.Host.ReadFile(filepath.Join(dir, ".git", filepath.FromSlash(ref))); err == nil {
			return strings.TrimSpace(string(id))
		}
		packed, _ := env.Host.ReadFile(filepath.Join(dir, ".git", "packed-refs"))
		for line := range strings.Lines(string(packed)) {
			if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
				return id
			}
		}
		return ""
	}
	return ""
}
