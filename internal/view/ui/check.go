package ui

import (
	"net/http"

	"brine/internal/fleet/kept"
)

// findings are what a check of something that can be run has found.
type findings struct {
	Summary, Path, Name string
	Faults, Unsure      []string
}

// kindNames are what kinds of definitions are called.
var kindNames = map[string]string{kept.Orchestrations: "orchestration", kept.Templates: "template"}

// checkOf returns what shows what of a definition cannot work, before it runs. parameter is
// what its name is called in the pattern of the route.
func checkOf(kind, parameter string) func(*Server, http.ResponseWriter, *http.Request, *visit) {
	return func(s *Server, w http.ResponseWriter, r *http.Request, v *visit) {
		name := r.PathValue(parameter)
		faults, unsure, err := s.back(r.Context()).checkDefinition(r.Context(), kind, name)
		if err != nil {
			s.fault(w, r, err)
			return
		}
		x := &findings{Summary: "No fault was found.", Path: path(kind, name), Name: "The " + kindNames[kind] + " " + name, Faults: faults, Unsure: unsure}
		switch {
		case len(faults) > 0:
			x.Summary = "The " + kindNames[kind] + " cannot run as it is."
		case len(unsure) > 0:
			x.Summary = "No fault was found in what can be judged."
		}
		render(w, r, http.StatusOK, checkPage(page{Title: "Check of " + name, At: "start", Who: v}, x))
	}
}

// apiCheck is checkOf for the API.
func apiCheck(kind string) func(*Server, *apiCall, *nothing) (*Check, error) {
	return func(s *Server, c *apiCall, _ *nothing) (*Check, error) {
		faults, unsure, err := s.back(c.r.Context()).checkDefinition(c.r.Context(), kind, c.r.PathValue("name"))
		return &Check{Faults: texts(faults), NotJudged: texts(unsure)}, err
	}
}
