package ui

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// windowShown is how many hosts of a run a page has at a time. Scripts ask for another part
// of the list when somebody scrolls there.
const windowShown = 100

// A hostWindow is a part of the hosts of a run.
type hostWindow struct {
	Run   runView
	Step  int    // 0: the hosts of which there is output
	Title string // of the step
	Name  string // only hosts whose IDs have this text
	Hosts []outputHost
	From  int
	All   int
}

// at is the address of the part that begins after some hosts.
func (w *hostWindow) at(from int) string {
	q := url.Values{}
	if w.Step > 0 {
		q.Set("step", strconv.Itoa(w.Step))
	}
	if w.Name != "" {
		q.Set("name", w.Name)
	}
	if from = max(0, from); from > 0 {
		q.Set("from", strconv.Itoa(from))
	}
	if len(q) == 0 {
		return path("runs", w.Run.ID, windowEnd(w))
	}
	return path("runs", w.Run.ID, windowEnd(w)) + "?" + q.Encode()
}

// cut leaves the part that a request asks for.
func (w *hostWindow) cut(all []outputHost, q url.Values) {
	if w.Name = strings.TrimSpace(q.Get("name")); w.Name != "" {
		all = slices.DeleteFunc(all, func(h outputHost) bool { return !strings.Contains(h.ID, w.Name) })
	}
	w.All = len(all)
	w.From, _ = strconv.Atoi(q.Get("from"))
	w.From = min(max(0, w.From), w.All)
	w.Hosts = all[w.From:min(w.From+windowShown, w.All)]
}

// rankOf orders hosts: those that failed, then those that are being worked on.
func (h *runHost) rankOf() int {
	switch h.State {
	case "failed":
		return 0
	case "ok", "changed", "would_change":
		return 2
	}
	return 1
}

// hostsOfStep returns the name of a step and its hosts, those that failed first.
func (r *run) hostsOfStep(number int, limits *Scope) (title string, hosts []outputHost, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if number < 1 || number > len(r.steps) {
		return "", nil, fmt.Errorf("step %d: %w in this run", number, ErrNotFound)
	}
	s := r.steps[number-1]
	for _, h := range s.sorted(limits) {
		one := outputHost{State: h.State, Line: hostLine(*h), Progress: h.progress()}
		one.ID = h.ID
		hosts = append(hosts, one)
	}
	return limits.titled(r.Spec.label(s.ID)), hosts, nil
}

// runHosts shows all hosts of a step of a run.
func (s *Server) runHosts(w http.ResponseWriter, r *http.Request, v *visit) {
	x, err := s.findRun(r.Context(), r.PathValue("id"))
	var out hostWindow
	if err == nil {
		out.Run, _ = s.viewRun(r.Context(), x, 1<<30)
		out.Step, _ = strconv.Atoi(r.URL.Query().Get("step"))
		var all []outputHost
		if out.Title, all, err = x.hostsOfStep(out.Step, v.limits()); err == nil {
			out.cut(all, r.URL.Query())
		}
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	render(w, r, http.StatusOK, runHostsPage(page{Title: "Hosts of " + out.Title, At: "start", Who: v, Refresh: !out.Run.over()}, &out))
}

func windowEnd(w *hostWindow) string {
	if w.Step > 0 {
		return "hosts"
	}
	return "output"
}

func stateClass(state string) string { return strings.ReplaceAll(state, " ", "-") }

// stateWord is the state of a host in words.
func stateWord(state string) string {
	if state == "" {
		return "not known"
	}
	return strings.ReplaceAll(state, "_", " ")
}
