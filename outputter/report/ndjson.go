package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"time"

	"brine/internal/py/value"
)

// A line is one result in NDJSON. The names are a contract; see docs/reports.md.
type line struct {
	JID      string  `json:"jid,omitempty"`
	Step     string  `json:"step,omitempty"`
	Host     string  `json:"host"`
	ID       string  `json:"id"`
	Name     string  `json:"name,omitempty"`
	Fun      string  `json:"fun"`
	SLS      string  `json:"sls,omitempty"`
	Status   string  `json:"status"`
	Comment  string  `json:"comment"`
	Error    string  `json:"error,omitempty"`       // why it failed, on one line
	Exit     *int64  `json:"exit_status,omitempty"` // of the program that failed
	Output   string  `json:"output,omitempty"`      // the end of what that program wrote
	Changes  rawJSON `json:"changes,omitempty"`
	Begin    float64 `json:"begin"`    // seconds since the begin of the run
	Duration float64 `json:"duration"` // seconds
}

// rawJSON are changes in their own order.
type rawJSON []byte

// MarshalJSON returns the changes as they are.
func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

// NDJSON writes a line of JSON for each result.
func NDJSON(w io.Writer, r *Run) error {
	b := bufio.NewWriter(w)
	for _, s := range r.Suites {
		for _, c := range s.Cases {
			l := line{
				JID: cmp.Or(s.JID, r.JID), Step: s.Step, Host: s.Host, ID: c.ID, Fun: c.Fun, SLS: c.SLS,
				Status: c.Status.String(), Comment: c.Comment, Begin: round(s.Begin + c.Begin), Duration: round(c.Length),
			}
			if c.Status == Failed {
				l.Error, l.Output = c.whyLine(), c.Cause.Output
				if c.Cause.Exited {
					l.Exit = &c.Cause.Status
				}
			}
			if c.Name != c.ID {
				l.Name = c.Name
			}
			if c.Changes != nil {
				doc, err := value.AppendJSON(nil, c.Changes, value.JSONOptions{Repr: true, Strict: true})
				if err != nil {
					return err
				}
				l.Changes = doc
			}
			doc, err := json.Marshal(l)
			if err != nil {
				return err
			}
			if _, err := b.Write(append(doc, '\n')); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

// round is a duration in seconds, to the microsecond.
func round(d time.Duration) float64 { return float64(d.Microseconds()) / 1e6 }
