package ui

import (
	"cmp"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"

	"brine/internal/fleet/history"
)

// plainText says that an answer is text, which its handler writes.
type plainText struct{}

// isHealth reports whether a path is for those who watch over brine ui.
func isHealth(path string) bool { return path == "/healthz" || path == "/readyz" || path == "/metrics" }

func (c *apiCall) text(mime, text string) (*plainText, error) {
	c.w.Header().Set("Content-Type", mime)
	_, _ = c.w.Write([]byte(text))
	return nil, nil
}

// health says that the server answers.
func (s *Server) health(c *apiCall, _ *nothing) (*plainText, error) {
	return c.text("text/plain; charset=utf-8", "ok\n")
}

// ready reads the configuration and the history.
func (s *Server) ready(c *apiCall, _ *nothing) (*plainText, error) {
	err := s.back(c.r.Context()).history(c.r.Context(), func(st *history.Store) error {
		_, err := st.Executions(c.r.Context(), history.Query{Limit: 1})
		return err
	})
	if err != nil {
		text := "The configuration or the history cannot be read"
		if c.v.token != nil { // who has none must not see paths
			text += ": " + err.Error()
		}
		return nil, &apiError{kind: unavailable, detail: text + "."}
	}
	return c.text("text/plain; charset=utf-8", "ready\n")
}

// stats counts requests.
type stats struct {
	mu   sync.Mutex
	seen map[[2]string]int // by kind and class of status
}

// kindOfRequest is what a request is counted as.
func kindOfRequest(r *http.Request) string {
	switch {
	case isHealth(r.URL.Path):
		return "health"
	case forAPI(r):
		return "api"
	case strings.HasPrefix(r.URL.Path, "/assets/"):
		return "asset"
	}
	return "page"
}

// count counts the requests that next answers.
func (x *stats) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusWriter{ResponseWriter: w}
		defer func() {
			key := [2]string{kindOfRequest(r), fmt.Sprintf("%dxx", cmp.Or(seen.status, http.StatusOK)/100)}
			x.mu.Lock()
			defer x.mu.Unlock()
			if x.seen == nil {
				x.seen = map[[2]string]int{}
			}
			x.seen[key]++
		}()
		next.ServeHTTP(seen, r)
	})
}

// statusWriter notes the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is the writer, for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// metrics writes the figures in the text format of Prometheus.
func (s *Server) metrics(c *apiCall, _ *nothing) (*plainText, error) {
	if err := s.back(c.r.Context()).needs(readRuns); err != nil {
		return nil, err
	}
	var b strings.Builder
	head := func(name, kind, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	head("brine_ui_runs", "gauge", "Runs that the server keeps, by state.")
	states := map[string]int{}
	err := s.runs.each(c.r.Context(), func(v runView) bool {
		states[v.state()]++
		return true
	})
	if err != nil {
		return nil, err
	}
	for _, state := range []string{"running", "waiting", "stopping", "succeeded", "failed", "stopped", "refused", "interrupted", "lost"} {
		fmt.Fprintf(&b, "brine_ui_runs{state=%q} %d\n", state, states[state])
	}
	head("brine_ui_runs_active", "gauge", "Runs that have not ended.")
	fmt.Fprintf(&b, "brine_ui_runs_active %d\n", states["running"]+states["stopping"])
	head("brine_ui_requests_total", "counter", "Requests that were answered, by kind and class of status.")
	b.WriteString(s.stats.text())
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	head("go_memstats_sys_bytes", "gauge", "Memory that the process has got from the system.")
	fmt.Fprintf(&b, "go_memstats_sys_bytes %d\n", m.Sys)
	head("go_goroutines", "gauge", "Goroutines of the process.")
	fmt.Fprintf(&b, "go_goroutines %d\n", runtime.NumGoroutine())
	return c.text("text/plain; version=0.0.4; charset=utf-8", b.String())
}

// text is the counts of requests as lines.
func (x *stats) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var lines []string
	for key, n := range x.seen {
		lines = append(lines, fmt.Sprintf("brine_ui_requests_total{kind=%q,class=%q} %d\n", key[0], key[1], n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
