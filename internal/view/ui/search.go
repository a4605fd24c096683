package ui

import (
	"context"
	"net/http"
	"strings"
	"time"

	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
)

// foundShown is how many of each kind a search shows.
const foundShown = 20

// A found is something that a search found.
type found struct{ Href, Name, More, State string }

// A findings of a search in one kind of things.
type foundGroup struct {
	Title string
	listed
	Rows  []found
	Fault string // why nobody looked there, or not everywhere
}

// A searchView is what a search for a text found.
type searchView struct {
	Text    string
	Groups  []foundGroup
	Limited bool // the visitor is limited: some kinds are left out
}

// A finder collects what has a text, in small letters.
type finder struct {
	text string
	foundGroup
}

// take takes something that has the text in one of some texts.
func (f *finder) take(x found, texts ...string) {
	if !strings.Contains(strings.ToLower(strings.Join(append(texts, x.Name, x.More), "\n")), f.text) {
		return
	}
	if f.All++; len(f.Rows) < foundShown {
		f.Rows = append(f.Rows, x)
	}
}

// search looks for a text in all that has a name.
func (s *Server) search(w http.ResponseWriter, r *http.Request, v *visit) {
	x := searchView{Text: strings.TrimSpace(r.URL.Query().Get("q")), Limited: v.limits().Limited()}
	if jobs.IsJID(x.Text) {
		see(w, r, "runs", x.Text)
		return
	}
	if x.Text != "" {
		x.Groups = s.find(r.Context(), x.Text, x.Limited)
	}
	render(w, r, http.StatusOK, searchPage(page{Title: "Search", At: "search", Who: v}, x))
}

// find looks into each kind of things. What fails there is said, and does not keep it from
// looking into the others.
func (s *Server) find(ctx context.Context, text string, limited bool) (out []foundGroup) {
	look := func(title string, f func(*finder) error) {
		in := &finder{text: strings.ToLower(text), foundGroup: foundGroup{Title: title}}
		if err := f(in); err != nil {
			in.Fault = err.Error()
		}
		in.Shown = len(in.Rows)
		out = append(out, in.foundGroup)
	}
	look("Orchestrations, chains and templates", func(f *finder) error {
		c, err := s.back(ctx).catalogue(ctx)
		if err != nil {
			return err
		}
		for _, name := range c.Orchestrations {
			f.take(found{Href: path(kept.Orchestrations, name), Name: name, More: "orchestration"})
		}
		for kind, all := range map[string][]Entry{kept.Chains: c.Chains, kept.Templates: c.Templates} {
			for _, e := range all {
				f.take(found{Href: path(kind, e.Name), Name: e.Name, More: strings.TrimSpace(kindNames[kind] + " " + e.Description)}, e.Fault)
			}
		}
		return nil
	})
	look("Runs that are kept", func(f *finder) error {
		return s.eachRun(ctx, func(v runView) bool {
			f.take(found{Href: path("runs", v.ID), Name: v.Spec.title(), More: clock(v.Started) + " by " + v.User, State: v.state()}, v.ID)
			return true
		})
	})
	if limited {
		return out
	}
	look("Executions in the history", func(f *finder) error { return s.findExecutions(ctx, text, f) })
	look("Hosts", func(f *finder) error {
		ids, note, err := s.back(ctx).match(ctx, "*")
		for _, id := range ids {
			f.take(found{Href: path("hosts", id), Name: id})
		}
		if err == nil {
			f.Fault = note
		}
		return err
	})
	look("Schedules", func(f *finder) error {
		planned, err := s.back(ctx).planned(ctx)
		for _, x := range planned {
			f.take(found{Href: path("chains", x.Chain), Name: x.Chain, More: "once, " + clock(x.At) + " by " + x.User})
		}
		all, rerr := s.back(ctx).recurring(ctx, time.Time{})
		for _, x := range all {
			f.take(found{Href: "/recurring", Name: x.Name, More: x.Runs + ", " + x.When + " by " + x.User})
		}
		if err == nil {
			err = rerr
		}
		return err
	})
	return out
}

// findExecutions looks for executions whose names have a text.
func (s *Server) findExecutions(ctx context.Context, text string, f *finder) error {
	return s.back(ctx).history(ctx, func(st *history.Store) error {
		q := history.Query{Text: text, Limit: foundShown}
		rows, err := st.Executions(ctx, q)
		if err != nil {
			return err
		}
		for i := range rows {
			e := &rows[i]
			f.Rows = append(f.Rows, found{Href: path("history", e.JID), Name: e.Name, More: clock(e.Started) + " by " + e.User, State: e.Status})
		}
		f.All, err = st.Count(ctx, q)
		return err
	})
}
