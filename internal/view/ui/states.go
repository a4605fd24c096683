package ui

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"brine/internal/py/value"
	"brine/internal/view/chain"
)

// Bounds of the catalogue of states.
const (
	statesShown = 100 // SLS files of a page
	idsShown    = 500 // of an SLS file
	shownDoc    = 300 // bytes of a description in the list
)

// A statesView is a part of the catalogue as a page shows it.
type statesView struct {
	Text string // that names have
	From int
	All  int
	Rows []Entry
}

// at is the address of the part of the list that begins after some SLS files.
func (v statesView) at(from int) string {
	return "/states?" + url.Values{"text": {v.Text}, "from": {strconv.Itoa(max(0, from))}}.Encode()
}

// stateList lists the SLS files of the tree.
func (s *Server) stateList(w http.ResponseWriter, r *http.Request, v *visit) {
	q := r.URL.Query()
	x := statesView{Text: strings.TrimSpace(q.Get("text"))}
	err := s.back(r.Context()).states(r.Context(), func(names []string, first func(string) string) error {
		text := strings.ToLower(x.Text)
		names = slices.DeleteFunc(names, func(n string) bool { return n == "top" || !strings.Contains(strings.ToLower(n), text) })
		from, _ := strconv.Atoi(q.Get("from"))
		x.From, x.All = min(max(0, from), len(names)), len(names)
		for _, n := range names[x.From:min(x.From+statesShown, len(names))] {
			doc := describes(first(n))
			if len(doc) > shownDoc {
				doc = strings.ToValidUTF8(doc[:shownDoc], "") + "…"
			}
			x.Rows = append(x.Rows, Entry{Name: n, Description: doc})
		}
		return nil
	})
	if err != nil {
		s.fault(w, r, err)
		return
	}
	render(w, r, http.StatusOK, statesPage(page{Title: "States", At: "states", Who: v}, x))
}

// A stateView is an SLS file as a page shows it.
type stateView struct {
	Name, Description string
	IDs               []stateID
	More              int
	Fault             string // why it cannot be compiled here
	Chains            []Entry
}

// A stateID is a state of an SLS file.
type stateID struct{ ID, Fun, Name string }

// stateIDs reads the states of low data.
func stateIDs(low *value.List) (out []stateID, more int) {
	for _, x := range low.Items {
		m, ok := x.(*value.Map)
		if !ok {
			continue
		}
		if len(out) == idsShown {
			more++
			continue
		}
		out = append(out, stateID{ID: short(m.Str("__id__")), Fun: m.Str("state") + "." + m.Str("fun"), Name: short(m.Str("name"))})
	}
	return out, more
}

func (s *Server) state(w http.ResponseWriter, r *http.Request, v *visit) {
	x, err := s.stateOf(r)
	if err == nil {
		x.Chains, err = s.changeable(r, v)
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	render(w, r, http.StatusOK, statePage(page{Title: x.Name, At: "states", Who: v}, x))
}

// changeable returns the chains that a user can add steps to.
func (s *Server) changeable(r *http.Request, v *visit) ([]Entry, error) {
	if v.role < Editor {
		return nil, nil
	}
	c, err := s.back(r.Context()).catalogue(r.Context())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(c.Chains), func(e Entry) bool { return e.Fault != "" }), nil
}

func (s *Server) stateOf(r *http.Request) (stateView, error) {
	x := stateView{Name: r.PathValue("sls")}
	found := false
	err := s.back(r.Context()).states(r.Context(), func(names []string, _ func(string) string) error {
		found = slices.Contains(names, x.Name)
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("SLS %s: %w in the tree", x.Name, ErrNotFound)
	}
	if err != nil {
		return x, err
	}
	low, text, err := s.back(r.Context()).state(r.Context(), x.Name)
	x.Description = describes(text)
	if err != nil {
		x.Fault = err.Error()
		return x, nil
	}
	x.IDs, x.More = stateIDs(low)
	return x, nil
}

// stepFor leads to the form of a step of a chain that applies or runs an SLS file.
func stepFor(action string) func(*Server, http.ResponseWriter, *http.Request, *visit) {
	return func(s *Server, w http.ResponseWriter, r *http.Request, v *visit) {
		name := r.URL.Query().Get("chain")
		if chain.CheckName(name) != nil {
			s.notFound(w, r, v)
			return
		}
		q := url.Values{"action": {action}, "sls": {r.PathValue("sls")}}
		http.Redirect(w, r, path("chains", name, "step")+"?"+q.Encode(), http.StatusSeeOther)
	}
}
