package ui

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"brine/internal/fleet/jobs"
	"brine/internal/view/chain"
)

// shownDetails bounds the details of an entry of the audit record, in bytes.
const shownDetails = 2000

// details says for the audit record what a form asks for beside the path that it was
// sent to. What cannot be read is left out: the action itself tells why it fails.
func (s *Server) details(name string, r *http.Request) string {
	var parts []string
	switch {
	case strings.HasPrefix(name, "chain."):
		parts = s.chainDetails(strings.TrimPrefix(name, "chain."), r)
	case strings.HasPrefix(name, "approval."):
		if e, err := s.approvalOf(r); err == nil {
			parts = []string{e.Kind + " " + e.Name, e.Before(), "started by " + e.User, r.PostForm.Get("comment")}
		}
	case r.PathValue("id") != "": // of a run
		if x, err := s.findRun(r.Context(), r.PathValue("id")); err == nil {
			view, _ := s.viewRun(r.Context(), x, 1<<30)
			parts = []string{strings.TrimSpace(view.Spec.title() + " " + view.JID)}
		}
	case strings.HasPrefix(r.URL.Path, "/hosts/"):
		parts = selectionDetails(r.PostForm)
	case name == "function":
		parts = []string{r.PostForm.Get("function"), "targets " + r.PostForm.Get("expr")}
	case name == "recurring.add":
		f := r.PostForm
		parts = []string{"name " + f.Get("name"), strings.TrimSpace(f.Get("what") + " " + f.Get("template")), f.Get("form") + " " + f.Get("when") + " " + f.Get("zone"), "queue " + f.Get("queue")}
	case name == "run":
		parts = s.runDetails(r)
		if sls := r.PostForm.Get("expr"); sls != "" { // by salt-api
			parts = append(parts, r.PostForm.Get("function")+" "+sls)
		}
	}
	text := strings.ToValidUTF8(strings.Join(parts, "\n"), "\ufffd")
	if len(text) > shownDetails {
		text = strings.ToValidUTF8(text[:shownDetails], "") + "…"
	}
	return text
}

// runDetails says how and on what something is run.
func (s *Server) runDetails(r *http.Request) []string {
	var parts []string
	if r.PostForm.Get("test") == "yes" {
		parts = append(parts, "preview")
	}
	if jid := r.PostForm.Get("resume"); jobs.IsJID(jid) {
		parts = append(parts, "resumes "+jid)
	}
	for key := range r.PostForm {
		if target, ok := strings.CutPrefix(key, "t:"); ok { // of a template
			parts = append(parts, target+": "+targetOf(r.PostForm, key))
		}
	}
	slices.Sort(parts)
	if !onChain(r) {
		return parts
	}
	if _, c, view, err := s.readChain(r); err == nil && c != nil {
		parts = append(parts, "version "+view.Version)
		for i := range c.Steps {
			parts = append(parts, fmt.Sprintf("step %d: %s", i+1, c.Steps[i].Summary()))
		}
	}
	return parts
}

// chainDetails says what a form asks for on a chain.
func (s *Server) chainDetails(name string, r *http.Request) []string {
	f := r.PostForm
	switch name {
	case "new", "clone":
		return []string{"name " + f.Get("name")}
	case "schedule":
		return []string{"at " + f.Get("at")}
	case "unschedule":
		return []string{f.Get("id")}
	}
	_, c, view, err := s.readChain(r)
	if err != nil || c == nil {
		return nil
	}
	says := func(step string) string {
		n, err := strconv.Atoi(step)
		if err != nil || n < 1 || n > len(c.Steps) {
			return "step " + step
		}
		return fmt.Sprintf("step %d: %s", n, c.Steps[n-1].Summary())
	}
	text := []byte(view.Text)
	switch name {
	case "delete":
		return []string{"version " + view.Version}
	case "move":
		return []string{says(f.Get("step")) + ", to place " + f.Get("to")}
	case "rm":
		return []string{"removes " + says(f.Get("step"))}
	case "targets":
		text, err = chain.Retarget(text, f.Get("step"), targetOf(f, "targets"))
	case "approve":
		text, err = approveForm(f, text)
	case "about":
		text, err = chain.Describe(text, strings.TrimSpace(f.Get("description")))
	case "edit":
		text = []byte(strings.ReplaceAll(f.Get("text"), "\r\n", "\n"))
	case "step":
		text, err = stepOf(view, f).text(c)
	}
	if err != nil {
		return nil
	}
	now, err := chain.Parse(c.Name, c.Name, text)
	if err != nil {
		return nil
	}
	out := chain.Changes(c, now)
	if to := strings.TrimSpace(f.Get("name")); name == "about" && to != c.Name {
		out = append(out, "name "+to)
	}
	return out
}

// outcome is how a job went, in a few words; of an action, whether it was allowed.
func (x jobRow) outcome() string {
	if !strings.HasPrefix(x.Fun, uiAction) {
		return x.Status
	}
	if x.Failed {
		return "refused"
	}
	return "allowed"
}
