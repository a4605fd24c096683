package runner

import (
	"bufio"
	"errors"
	"io"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/queue"
	"brine/internal/py/value"
)

// QueueTimeout bounds the time that a command waits for the database of a queue.
const QueueTimeout = 30 * time.Second

// A QueuedRun is what a worker hands to the process that runs an entry: one line of
// JSON on stdin, so that nothing of it is in the list of processes.
type QueuedRun struct {
	JID     string   // of this run
	Earlier []string // runs of the same entry
	Work    *queue.Work
}

// Encode returns the line that [ReadQueued] reads.
func (r *QueuedRun) Encode() ([]byte, error) {
	work, err := r.Work.Encode()
	if err != nil {
		return nil, err
	}
	return append(value.EncodeJSON(value.MapOf("jid", r.JID, "earlier", value.Strings(r.Earlier...), "work", work)), '\n'), nil
}

// ReadQueued reads the line of a worker. What follows it is the rest of stdin,
// which ends with the worker.
func ReadQueued(in io.Reader) (*QueuedRun, io.Reader, error) {
	rest := bufio.NewReader(in)
	line, err := rest.ReadString('\n')
	if err != nil {
		return nil, nil, errors.New("the worker handed over nothing")
	}
	v, err := value.ParseJSON(line)
	if err != nil {
		return nil, nil, err
	}
	m, _ := v.(*value.Map)
	r := &QueuedRun{JID: m.Str("jid")}
	if !jobs.IsJID(r.JID) {
		return nil, nil, errors.New("the worker handed over no jid")
	}
	for i := range m.List("earlier").Len() {
		r.Earlier = append(r.Earlier, value.Str(m.List("earlier").Items[i]))
	}
	r.Work, err = queue.ParseWork(m.Str("work"))
	return r, rest, err
}
