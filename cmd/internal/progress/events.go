package progress

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// An event is what happened in a run, as --progress=json writes it; its schema
// is docs/progress.schema.json.
type event struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`
	JID     string    `json:"jid,omitempty"`
	Title   string    `json:"title,omitempty"`
	Unit    string    `json:"unit,omitempty"`
	ID      string    `json:"id,omitempty"`
	Fun     string    `json:"fun,omitempty"`
	Step    string    `json:"step,omitempty"`
	Host    string    `json:"host,omitempty"`
	Phase   string    `json:"phase,omitempty"`
	Result  string    `json:"result,omitempty"`
	Comment string    `json:"comment,omitempty"`
	Wave    *int      `json:"wave,omitempty"`
	Waves   *int      `json:"waves,omitempty"`
	Hosts   *int      `json:"hosts,omitempty"`
	Done    *int      `json:"done,omitempty"`
	Failed  *int      `json:"failed,omitempty"`
	Never   *int      `json:"never_ran,omitempty"`
	Total   *int      `json:"total,omitempty"`
	Seconds *float64  `json:"seconds,omitempty"`

	job      string // what the job of a host is called
	reported bool   // the report shows it
	left     bool   // the host was left out
	first    bool   // of those that were left out
}

// seconds is a duration in seconds, to the millisecond.
func seconds(d time.Duration) *float64 {
	f := float64(d.Milliseconds()) / 1000
	return &f
}

// events writes each event as a line of JSON.
type events struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *events) write(e event) {
	e.Time = e.Time.UTC()
	b, err := json.Marshal(e)
	if err != nil {
		return // of strings, numbers and a time: it cannot fail
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Nobody is left to read it where it cannot be written; the run goes on.
	_, _ = s.w.Write(append(b, '\n'))
}
