package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	pathpkg "path"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/fleet/approval"
	"brine/internal/fleet/kept"
	"brine/internal/py/difflib"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/chain"
)

// A chainView is a chain as a page shows it.
type chainView struct {
	Name        string
	Description string
	Version     string // of its text; a form has that of the text that it was made of
	Steps       []shownStep
	Approve     string // who has to approve it before it starts; "": nobody
	Fault       string // why it cannot be read
	Text        string
	Planned     []Planned // when it is to run later
	PlanFault   string    // why nobody knows that
	Now         time.Time
	CheckNow    bool // the page is to check it at once
}

// A shownStep is a step as the page of a chain shows it.
type shownStep struct {
	Summary, On string
	Approve     string // who has to approve it; "": nobody
}

// errChanged says that a chain has changed since a page was made of it.
var errChanged = errors.New("somebody else changed this chain in the meantime. Nothing was saved")

func versionOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// readChain reads a chain for a page. Of one that is not right, the page has the
// text and the fault.
func (s *Server) readChain(r *http.Request) (*chainStore, *chain.Chain, chainView, error) {
	name := r.PathValue("name")
	st, err := s.back(r.Context()).chains(r.Context())
	if err != nil {
		return nil, nil, chainView{}, err
	}
	c, text, err := st.read(name)
	if err != nil && text == nil {
		if _, missing := errors.AsType[*chain.NotFoundError](err); missing || chain.CheckName(name) != nil {
			err = fmt.Errorf("chain %s: %w", name, ErrNotFound)
		}
		return nil, nil, chainView{}, err
	}
	v := chainView{Name: name, Version: versionOf(text), Text: string(text)}
	if err != nil {
		v.Fault = withoutPaths(err, st.path(name), name+".yml").Error()
		return st, nil, v, nil
	}
	v.Description, v.Approve = c.Description, chain.ApproveText(c.Approve)
	for i := range c.Steps {
		v.Steps = append(v.Steps, shownStep{c.Steps[i].Summary(), c.Steps[i].On, chain.ApproveText(c.Steps[i].Approve)})
	}
	return st, c, v, nil
}

func (s *Server) chain(w http.ResponseWriter, r *http.Request, v *visit) {
	_, _, c, err := s.readChain(r)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	if err := s.redactChain(r, &c); err != nil {
		s.fault(w, r, err)
		return
	}
	c.Now, c.CheckNow = s.opts.Now(), r.URL.Query().Get("check") == "yes"
	planned, err := s.back(r.Context()).planned(r.Context())
	if err != nil {
		c.PlanFault = err.Error()
	}
	for _, x := range planned {
		if x.Chain == c.Name {
			c.Planned = append(c.Planned, x)
		}
	}
	render(w, r, statusOf(r), chainPage(page{Title: c.Name, At: "start", Who: v, Bad: rejectedOf(r)}, c))
}

// redactChain leaves out of the page of a chain what records leave out, for those who
// may not read its text.
func (s *Server) redactChain(r *http.Request, c *chainView) error {
	b := s.back(r.Context())
	if b.needs(readText) == nil {
		return nil
	}
	texts := []string{c.Description, c.Fault}
	for _, x := range c.Steps {
		texts = append(texts, x.Summary, x.On)
	}
	texts, err := b.redacted(r.Context(), texts)
	if err != nil {
		return fmt.Errorf("the chain is not shown, since it is not known which secrets it has: %w", err)
	}
	c.Text, c.Description, c.Fault = "", texts[0], texts[1]
	for i := range c.Steps {
		c.Steps[i].Summary, c.Steps[i].On = texts[2+2*i], texts[3+2*i]
	}
	return nil
}

// minutes is a date and time as browsers send it.
const minutes = "2006-01-02T15:04"

// scheduleChain has a chain run once, later.
func (s *Server) scheduleChain(w http.ResponseWriter, r *http.Request, v *visit) {
	_, _, c, err := s.readChain(r)
	switch {
	case err != nil:
	case c.Fault != "":
		err = errors.New("the chain cannot be run as it is: its page says what is wrong") // as far as the visitor may read it
	case c.Version != r.PostForm.Get("version"):
		err = errChanged
	case r.PostForm.Get("confirm") != "yes":
		err = onField("confirm-later", "nothing was scheduled: confirm that the chain is to run then")
	default:
		err = OnField("at", s.back(r.Context()).schedule(r.Context(), c.Name, r.PostForm.Get("at"), v.name))
	}
	if err != nil {
		s.chainFault(w, r, err)
		return
	}
	see(w, r, "chains", c.Name)
}

// A chainCheck is what is known of a chain before it runs.
type chainCheck struct {
	Chain          chainView
	Faults, Unsure []string
}

// checked checks the chain of a request.
func (s *Server) checked(r *http.Request) (*chainCheck, error) {
	_, _, c, err := s.readChain(r)
	if err != nil {
		return nil, err
	}
	if err := s.redactChain(r, &c); err != nil {
		return nil, err
	}
	x := &chainCheck{Chain: c}
	if c.Fault != "" {
		x.Faults = []string{c.Fault}
		return x, nil
	}
	x.Faults, x.Unsure, err = s.back(r.Context()).checkChain(r.Context(), c.Name)
	return x, err
}

// summary is the outcome in one line.
func (x *chainCheck) summary() string {
	n := len(x.Chain.Steps)
	switch {
	case len(x.Faults) > 0:
		return "The chain cannot run as it is."
	case len(x.Unsure) > 0:
		return fmt.Sprintf("%d step%s: no fault was found in what can be judged.", n, value.Plural(n))
	}
	return fmt.Sprintf("%d step%s: no fault was found.", n, value.Plural(n))
}

// checkChain shows what of a chain cannot work, before it runs.
func (s *Server) checkChain(w http.ResponseWriter, r *http.Request, v *visit) {
	x, err := s.checked(r)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	render(w, r, http.StatusOK, checkPage(page{Title: "Check of " + x.Chain.Name, At: "start", Who: v}, &findings{
		Summary: x.summary(), Faults: x.Faults, Unsure: x.Unsure, Path: path("chains", x.Chain.Name), Name: "Chain " + x.Chain.Name,
	}))
}

// unscheduleChain cancels a run of a chain that has not begun.
func (s *Server) unscheduleChain(w http.ResponseWriter, r *http.Request, _ *visit) {
	name, id := r.PathValue("name"), r.PostForm.Get("id")
	planned, err := s.back(r.Context()).planned(r.Context())
	if err == nil && !slices.ContainsFunc(planned, func(x Planned) bool { return x.ID == id && x.Chain == name }) {
		err = errors.New("this run is not scheduled any more: it has begun, or somebody has canceled it")
	}
	if err == nil {
		err = s.back(r.Context()).unschedule(r.Context(), id)
	}
	if err != nil {
		s.chainFault(w, r, err)
		return
	}
	see(w, r, "chains", name)
}

func (s *Server) runChain(w http.ResponseWriter, r *http.Request, v *visit) {
	_, _, c, err := s.readChain(r)
	switch {
	case err != nil:
		s.fault(w, r, err)
		return
	case c.Version != r.PostForm.Get("version"):
		s.chainFault(w, r, errChanged)
		return
	}
	s.begin(w, r, v, specOf(kept.Chains, c.Name, r), chainRoute)
}

// changeChain changes the text of a chain, if it still is the one that the form was
// made of, and shows the chain.
func (s *Server) changeChain(w http.ResponseWriter, r *http.Request, edit chainEdit) {
	s.editChain(w, r, edit, r.PathValue("name"), (*chainStore).write)
}

// A chainEdit makes another text of that of a chain.
type chainEdit func(*chain.Chain, []byte) ([]byte, error)

// A chainWrite puts the text of a chain in the place of the old one.
type chainWrite func(st *chainStore, name string, old, text []byte) error

// editChain changes a chain, which has a name afterwards, and shows it.
func (s *Server) editChain(w http.ResponseWriter, r *http.Request, edit chainEdit, to string, write chainWrite) {
	st, c, view, err := s.readChain(r)
	if err == nil && view.Version != r.PostForm.Get("version") {
		err = errChanged
	}
	if err == nil && c == nil {
		err = errors.New(view.Fault)
	}
	if err == nil {
		var text []byte
		if text, err = edit(c, []byte(view.Text)); err == nil {
			err = writeChain(st, view, text, write)
		}
	}
	if err != nil {
		s.chainFault(w, r, err)
		return
	}
	seeChanged(w, r, to)
}

// seeChanged shows a chain that was changed, and has its page check it.
func seeChanged(w http.ResponseWriter, r *http.Request, name string) {
	http.Redirect(w, r, path("chains", name)+"?check=yes", http.StatusSeeOther)
}

// writeChain writes the text of a chain, if it is right and nobody else has changed
// the chain.
func writeChain(st *chainStore, old chainView, text []byte, write chainWrite) error {
	if _, err := chain.Parse(old.Name, old.Name+".yml", text); err != nil {
		return err
	}
	err := write(st, old.Name, []byte(old.Text), text)
	if _, taken := errors.AsType[*chain.ExistsError](err); !taken && errors.Is(err, fs.ErrExist) {
		return errChanged
	}
	return err
}

// chainRoute is the page of a chain.
const chainRoute = "GET /chains/{name}"

// chainFault shows why a chain was not changed: on its page, beside the form.
func (s *Server) chainFault(w http.ResponseWriter, r *http.Request, err error) {
	wrote, _ := written(r.PostForm)
	if errors.Is(err, errChanged) || errors.Is(err, ErrNotFound) && wrote != "" {
		s.conflict(w, r)
		return
	}
	s.reject(w, r, chainRoute, pathpkg.Base(r.URL.Path), err)
}

// A conflictView is a chain that somebody else has changed, and what the visitor wrote.
type conflictView struct {
	Chain   chainView // as it is now; the text is left out for those who may not read it
	Deleted bool      // it was deleted
	Yours   string    // "": it was a button
	Whole   bool      // Yours is the text of the whole chain
	Diff    string    // what it would change
	Again   *stepForm // a new step, which can be added to the chain as it is now
}

// conflict shows a chain as it is now, with what the visitor wrote: nothing is lost.
func (s *Server) conflict(w http.ResponseWriter, r *http.Request) {
	_, c, view, err := s.readChain(r)
	if err != nil && !errors.Is(err, ErrNotFound) {
		s.fault(w, r, err)
		return
	}
	x := conflictView{Chain: view, Deleted: err != nil}
	x.Chain.Name = r.PathValue("name")
	if x.Yours, x.Whole = written(r.PostForm); x.Whole {
		x.Diff = difflib.String(difflib.SplitLines(view.Text), difflib.SplitLines(x.Yours), "now", "yours")
	}
	if f := stepOf(view, r.PostForm); c != nil && f.Number == 0 && stepFields[f.Action] != nil {
		x.Again = &f
	}
	if s.back(r.Context()).needs(readText) != nil {
		x.Chain.Text, x.Diff = "", ""
	}
	v, _ := visitOf(r)
	render(w, r, http.StatusConflict, conflictPage(page{Title: "The chain has changed", At: "start", Who: v}, x))
}

// written is what a form about a chain has of the visitor; whole says that it is the
// text of a chain.
func written(sent url.Values) (text string, whole bool) {
	switch f := stepOf(chainView{}, sent); {
	case sent.Has("text"):
		return strings.ReplaceAll(sent.Get("text"), "\r\n", "\n"), true
	case stepFields[f.Action] != nil:
		step, err := f.step()
		if err != nil { // it is shown as it came
			return strings.Join(slices.Sorted(maps.Values(f.Fields)), "\n"), false
		}
		return step.Text(), false
	case sent.Has("description"):
		return sent.Get("name") + "\n" + sent.Get("description"), false
	}
	return targetOf(sent, "targets"), false
}

func (s *Server) chainNew(w http.ResponseWriter, r *http.Request, _ *visit) {
	name := strings.TrimSpace(r.PostForm.Get("name"))
	text, err := chain.New(r.PostForm.Get("description"))
	if err = OnField("chain-description", err); err == nil {
		err = OnField("chain-name", s.create(r, name, text))
	}
	if err != nil {
		s.reject(w, r, "GET /{$}", "new", err)
		return
	}
	see(w, r, "chains", name)
}

// create writes the file of a chain that there is not yet.
func (s *Server) create(r *http.Request, name string, text []byte) error {
	if err := chain.CheckName(name); err != nil {
		return err
	}
	st, err := s.back(r.Context()).chains(r.Context())
	if err != nil {
		return err
	}
	if err = st.write(name, nil, text); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("there is a chain %s already", name)
	}
	return err
}

func (s *Server) chainClone(w http.ResponseWriter, r *http.Request, _ *visit) {
	_, _, c, err := s.readChain(r)
	name := strings.TrimSpace(r.PostForm.Get("name"))
	if err == nil {
		err = OnField("clone", s.create(r, name, []byte(c.Text)))
	}
	if err != nil {
		s.chainFault(w, r, err)
		return
	}
	see(w, r, "chains", name)
}

func (s *Server) chainDelete(w http.ResponseWriter, r *http.Request, _ *visit) {
	st, _, c, err := s.readChain(r)
	switch {
	case err != nil:
	case r.PostForm.Get("confirm") != "yes":
		err = onField("confirm-delete", "nothing was deleted: confirm that the chain is to be deleted")
	case c.Version != r.PostForm.Get("version"):
		err = errChanged
	default:
		err = s.deleteChain(r, st, c)
	}
	if err != nil {
		s.chainFault(w, r, err)
		return
	}
	see(w, r, "")
}

// deleteChain deletes a chain that nobody has changed since it was read.
func (s *Server) deleteChain(r *http.Request, st *chainStore, c chainView) error {
	if err := s.unscheduled(r, c.Name); err != nil {
		return err
	}
	err := st.delete(c.Name, []byte(c.Text))
	if errors.Is(err, fs.ErrExist) {
		return errChanged
	}
	return err
}

func (s *Server) chainMove(w http.ResponseWriter, r *http.Request, _ *visit) {
	s.changeChain(w, r, func(_ *chain.Chain, text []byte) ([]byte, error) {
		return chain.Move(text, r.PostForm.Get("step"), r.PostForm.Get("to"))
	})
}

func (s *Server) chainRemove(w http.ResponseWriter, r *http.Request, _ *visit) {
	s.changeChain(w, r, func(_ *chain.Chain, text []byte) ([]byte, error) { return chain.Remove(text, r.PostForm.Get("step")) })
}

// chainTargets changes the targets of a step.
func (s *Server) chainTargets(w http.ResponseWriter, r *http.Request, _ *visit) {
	field := "targets-" + r.PostForm.Get("step")
	s.changeChain(w, r, func(_ *chain.Chain, text []byte) ([]byte, error) {
		on := targetOf(r.PostForm, "targets")
		if on == "" {
			return nil, onField(field, "give a target expression")
		}
		text, err := chain.Retarget(text, r.PostForm.Get("step"), on)
		return text, OnField(field, err)
	})
}

// chainApprove says who has to approve a chain before it starts, or before one of its steps.
func (s *Server) chainApprove(w http.ResponseWriter, r *http.Request, _ *visit) {
	s.changeChain(w, r, func(_ *chain.Chain, text []byte) ([]byte, error) { return approveForm(r.PostForm, text) })
}

// approveForm is the text of a chain with the approval that a form asks for.
func approveForm(f url.Values, text []byte) ([]byte, error) {
	var rule *approval.Rule
	switch f.Get("who") {
	case "nobody":
	case "any":
		rule = &approval.Rule{}
	case "by":
		rule = &approval.Rule{By: strings.FieldsFunc(f.Get("by"), func(r rune) bool { return r == ',' || r == ' ' })}
		if len(rule.By) == 0 {
			return nil, onField("approve-by", "name the roles or users who approve")
		}
	default:
		return nil, onField("approve-who", "say who approves")
	}
	return chain.Approve(text, f.Get("step"), rule)
}

// chainAbout changes the name and the description of a chain.
func (s *Server) chainAbout(w http.ResponseWriter, r *http.Request, _ *visit) {
	name, to := r.PathValue("name"), strings.TrimSpace(r.PostForm.Get("name"))
	describe := func(_ *chain.Chain, text []byte) ([]byte, error) {
		return chain.Describe(text, strings.TrimSpace(r.PostForm.Get("description")))
	}
	if to == name {
		s.changeChain(w, r, describe)
		return
	}
	if err := s.unscheduled(r, name); err != nil {
		s.chainFault(w, r, err)
		return
	}
	s.editChain(w, r, describe, to, func(st *chainStore, name string, old, text []byte) error {
		err := st.rename(name, to, old, text)
		if _, taken := errors.AsType[*chain.ExistsError](err); taken {
			return onField("name", "there is a chain "+to+" already")
		}
		if chain.CheckName(to) != nil {
			return OnField("name", err)
		}
		return err
	})
}

// unscheduled fails if a chain is to run later: timers have its name. Where nobody
// can be asked, which the page of the chain says, nothing runs later.
func (s *Server) unscheduled(r *http.Request, name string) error {
	planned, _ := s.back(r.Context()).planned(r.Context())
	if slices.ContainsFunc(planned, func(x Planned) bool { return x.Chain == name }) {
		return errors.New("a run of this chain is scheduled under its name: cancel it first")
	}
	return nil
}

func (s *Server) chainText(w http.ResponseWriter, r *http.Request, v *visit) {
	_, _, c, err := s.readChain(r)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	render(w, r, http.StatusOK, chainTextPage(page{Title: "File of " + c.Name, At: "start", Who: v}, c, ""))
}

func (s *Server) chainSaveText(w http.ResponseWriter, r *http.Request, v *visit) {
	st, _, c, err := s.readChain(r)
	if err == nil && c.Version != r.PostForm.Get("version") {
		err = errChanged
	}
	if err != nil {
		s.chainFault(w, r, err)
		return
	}
	text := strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n")
	if err := writeChain(st, c, []byte(text), (*chainStore).write); err != nil {
		if errors.Is(err, errChanged) {
			s.chainFault(w, r, err)
			return
		}
		c.Text = text
		render(w, r, http.StatusUnprocessableEntity, chainTextPage(page{Title: "File of " + c.Name, At: "start", Who: v}, c, err.Error()))
		return
	}
	seeChanged(w, r, c.Name)
}

// A stepForm is the form of a step.
type stepForm struct {
	Chain   chainView
	Number  int    // 0: a new one
	Place   string // of a new one
	Action  string
	Fields  map[string]string
	Problem string
	Faults  []fieldError // by the names of the fields
	Formula *formulaForm // of a step of a formula; nil: it has no SLS yet
}

// The fields of the form of a step, by the kind of action.
var stepFields = map[string][]string{
	chain.Package:   {"targets", "packages"},
	chain.Command:   {"targets", "command"},
	chain.State:     {"targets", "sls", "pillar", "test"},
	chain.Highstate: {"targets", "pillar", "test"},
	chain.Formula:   {"targets", "sls", "pillar", "test"},
	chain.Reboot:    {"targets", "timeout"},
	chain.Upgrade:   {"targets", "packages"},
	chain.Wait:      {"seconds", "event", "targets", "timeout"},
	chain.Config:    {"targets", "source", "dest"},
	// An orchestration has targets of its own.
	chain.Orchestrate: {"sls", "pillar"},
}

// actionTexts describes the kinds of actions.
var actionTexts = map[string]string{
	chain.Package: "Install packages", chain.Command: "Run a command", chain.State: "Apply states", chain.Highstate: "Apply the highstate",
	chain.Formula: "Apply a formula", chain.Reboot: "Reboot and wait", chain.Upgrade: "Upgrade packages", chain.Wait: "Wait", chain.Config: "Copy files",
	chain.Orchestrate: "Run an orchestration",
}

// chainStep shows the form of a step: of the step with the number in the query, or
// of a new one of an action.
func (s *Server) chainStep(w http.ResponseWriter, r *http.Request, v *visit) {
	_, def, c, err := s.readChain(r)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	q := r.URL.Query()
	f := stepForm{Chain: c, Action: q.Get("action"), Place: q.Get("place"), Fields: map[string]string{"sls": q.Get("sls"), "targets": strings.TrimSpace(q.Get("targets"))}}
	if n := q.Get("step"); n != "" {
		i, err := strconv.Atoi(n)
		if err != nil || i < 1 || i > len(c.Steps) {
			s.notFound(w, r, v)
			return
		}
		f.Number, f.Action, f.Fields = i, def.Steps[i-1].Action, fieldsOf(&def.Steps[i-1])
	}
	if stepFields[f.Action] == nil {
		s.notFound(w, r, v)
		return
	}
	var pillar *value.Map
	if f.Number > 0 {
		pillar = def.Steps[f.Number-1].Pillar
	}
	_ = s.formula(r, &f, pillar, nil) // nothing was sent that could be wrong
	render(w, r, http.StatusOK, stepPage(page{Title: actionTexts[f.Action], At: "start", Who: v}, f))
}

// fieldsOf are the fields of a form that has the values of a step.
func fieldsOf(s *chain.Step) map[string]string {
	f := map[string]string{
		"targets": s.On, "command": s.Command, "sls": strings.Join(s.SLS, ", "), "source": s.Source, "dest": s.Dest, "event": s.Event,
	}
	var packages []string
	for name, version := range s.Packages.All() {
		p := value.Str(name)
		if v := value.Str(version); v != "" {
			p += "=" + v
		}
		packages = append(packages, p)
	}
	f["packages"] = strings.Join(packages, "\n")
	if s.Seconds > 0 {
		f["seconds"] = strconv.FormatInt(s.Seconds, 10)
	}
	if s.Timeout > 0 {
		f["timeout"] = strconv.FormatInt(s.Timeout, 10)
	}
	if s.Test {
		f["test"] = "yes"
	}
	if s.Pillar.Len() > 0 {
		f["pillar"] = value.Repr(s.Pillar)
		if text, err := yamlsalt.Dump(s.Pillar, yamlsalt.SafeOptions()); err == nil {
			f["pillar"] = text
		}
	}
	return f
}

func (s *Server) chainSaveStep(w http.ResponseWriter, r *http.Request, v *visit) {
	st, c, view, err := s.readChain(r)
	if err == nil && view.Version != r.PostForm.Get("version") {
		err = errChanged
	}
	if err == nil && c == nil {
		err = errors.New(view.Fault)
	}
	if err != nil {
		s.chainFault(w, r, err)
		return
	}
	f := stepOf(view, r.PostForm)
	if stepFields[f.Action] == nil || f.Number < 0 || f.Number > len(c.Steps) {
		s.notFound(w, r, v)
		return
	}
	var pillar *value.Map
	if f.Number > 0 {
		pillar = c.Steps[f.Number-1].Pillar
	}
	err = s.formula(r, &f, pillar, r.PostForm)
	if asksAgain(r.PostForm) {
		render(w, r, http.StatusOK, stepPage(page{Title: actionTexts[f.Action], At: "start", Who: v}, f))
		return
	}
	if err == nil {
		err = f.save(st, c)
	}
	if err != nil {
		if errors.Is(err, errChanged) {
			s.chainFault(w, r, err)
			return
		}
		if f.Problem = sentence(err.Error()); len(f.Faults) > 0 {
			f.Problem = "The step was not saved: see below."
		}
		p := page{Title: actionTexts[f.Action], At: "start", Who: v, Bad: &rejected{Form: "step", Sent: r.PostForm, Faults: f.Faults}}
		render(w, r, http.StatusUnprocessableEntity, stepPage(p, f))
		return
	}
	seeChanged(w, r, view.Name)
}

// stepOf is the form of a step as a browser sent it.
func stepOf(c chainView, sent url.Values) stepForm {
	f := stepForm{Chain: c, Action: sent.Get("action"), Place: sent.Get("place"), Fields: map[string]string{}}
	f.Number, _ = strconv.Atoi(sent.Get("step"))
	for _, name := range stepFields[f.Action] {
		f.Fields[name] = strings.TrimSpace(strings.ReplaceAll(sent.Get(name), "\r\n", "\n"))
	}
	if f.Fields["targets"] != "" {
		f.Fields["targets"] = targetOf(sent, "targets")
	}
	return f
}

// save writes the step of a form to the file of its chain.
func (f *stepForm) save(st *chainStore, c *chain.Chain) error {
	if f.Faults = f.empty(); len(f.Faults) > 0 {
		return f.Faults[0]
	}
	text, err := f.text(c)
	if x, ok := errors.AsType[fieldError](err); ok {
		f.Faults = []fieldError{x}
	}
	if err != nil {
		return err
	}
	return writeChain(st, f.Chain, text, (*chainStore).write)
}

// stepNeeds are the fields that the form of a step cannot be without.
var stepNeeds = []string{"targets", "packages", "command", "sls", "source"}

// empty names the fields of the form that are needed and empty.
func (f *stepForm) empty() (out []fieldError) {
	for _, name := range stepFields[f.Action] {
		optional := !slices.Contains(stepNeeds, name) || f.Action == chain.Upgrade && name == "packages" || f.Action == chain.Wait && f.Fields["event"] == ""
		if f.Fields[name] == "" && !optional {
			out = append(out, fieldError{name, errors.New("this needs a value")})
		}
	}
	if f.Action == chain.Wait && (f.Fields["seconds"] == "") == (f.Fields["event"] == "") {
		out = append(out, fieldError{"seconds", errors.New("give a number of seconds, or an event and targets")})
	}
	if d := f.Fields["dest"]; d != "" && !strings.HasPrefix(d, "/") {
		out = append(out, fieldError{"dest", errors.New("this must be an absolute path")})
	}
	return out
}

// text is the text of a chain with the step of a form.
func (f stepForm) text(c *chain.Chain) ([]byte, error) {
	step, err := f.step()
	if err != nil {
		return nil, err
	}
	if f.Number > 0 {
		if f.Number <= len(c.Steps) {
			step.PillarFor = c.Steps[f.Number-1].PillarFor // not in the form
		}
		return c.Replace([]byte(f.Chain.Text), strconv.Itoa(f.Number), step)
	}
	place := 0
	if f.Place != "" {
		if place, err = strconv.Atoi(f.Place); err != nil {
			return nil, fmt.Errorf("%q is not the number of a step", f.Place)
		}
	}
	return c.Add([]byte(f.Chain.Text), place, step)
}

// step makes a step of a form. What an action needs is checked when the chain is
// read again.
func (f stepForm) step() (*chain.Step, error) {
	s := &chain.Step{Action: f.Action, On: f.Fields["targets"], Command: f.Fields["command"], Source: f.Fields["source"], Dest: f.Fields["dest"], Event: f.Fields["event"], Test: f.Fields["test"] == "yes"}
	for _, n := range []struct {
		name string
		at   *int64
	}{{"seconds", &s.Seconds}, {"timeout", &s.Timeout}} {
		text := f.Fields[n.name]
		if text == "" {
			continue
		}
		var err error
		if *n.at, err = strconv.ParseInt(text, 10, 64); err != nil || *n.at < 0 {
			return nil, fieldError{n.name, fmt.Errorf("%q is not a number of seconds", text)}
		}
	}
	s.Packages = value.NewMap(2)
	for x := range strings.FieldsSeq(f.Fields["packages"]) {
		name, version, _ := strings.Cut(x, "=")
		s.Packages.Set(name, version)
	}
	for x := range strings.SplitSeq(f.Fields["sls"], ",") {
		if x = strings.TrimSpace(x); x != "" {
			s.SLS = append(s.SLS, x)
		}
	}
	if text := f.Fields["pillar"]; text != "" {
		v, err := yamlsalt.LoadString(text)
		m, ok := v.(*value.Map)
		if err != nil || !ok {
			return nil, onField("pillar", "write values as YAML, such as  nginx: {workers: 4}")
		}
		s.Pillar = m
	} else if f.Formula != nil && f.Formula.values.Len() > 0 {
		s.Pillar = f.Formula.values
	}
	return s, nil
}
