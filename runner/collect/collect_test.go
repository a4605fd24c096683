package collect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/internal/core/beacon"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// spools are machines with spools, and others that answer with a text.
type spools struct {
	t     *testing.T
	have  map[string]*beacon.Spool
	texts map[string]string
	jobs  int
}

func (s *spools) Match(context.Context, value.Value, string) ([]string, error) { return nil, nil }

// Run runs brine beacon spool on each machine of a list, or on all.
func (s *spools) Run(_ context.Context, job fun.Job, each func(fun.Return) error) (fun.Summary, error) {
	s.jobs++
	if !job.Unrecorded || !strings.HasPrefix(job.Shell, "brine beacon spool") {
		s.t.Errorf("%+v", job)
	}
	wanted, _ := job.Tgt.(*value.List)
	ids := append(sortedKeys(s.have), sortedKeys(s.texts)...)
	for _, id := range ids {
		if wanted != nil && !strings.Contains(" "+strings.Join(wanted.Strs(), " ")+" ", " "+id+" ") {
			continue
		}
		ret := fun.Return{ID: id}
		text, isText := s.texts[id]
		switch {
		case text == "unreachable":
			ret.Stage, ret.Err = fun.Unreachable, errors.New("no route to host")
		case isText:
			ret.Body = fun.ValueBody{V: value.MapOf("stdout", text, "stderr", "no", "retcode", int64(len(text)%3))}
		default:
			ret.Body = fun.ValueBody{V: value.MapOf("stdout", s.answer(id, job.Shell), "stderr", "", "retcode", int64(0))}
		}
		if err := each(ret); err != nil {
			return fun.Summary{}, err
		}
	}
	return fun.Summary{}, nil
}

// answer is what a machine prints, which calls itself by a name of its own.
func (s *spools) answer(id, line string) string {
	spool := s.have[id]
	if _, names, ok := strings.Cut(line, " --done "); ok {
		if _, err := spool.Done(strings.Split(names, ",")); err != nil {
			s.t.Error(err)
		}
	}
	b, err := spool.Take("own-" + id)
	if err != nil {
		s.t.Error(err)
	}
	return string(b.Encode("own-" + id))
}

func newSpools(t *testing.T, events map[string]int) *spools {
	s := &spools{t: t, have: map[string]*beacon.Spool{}, texts: map[string]string{}}
	for id, n := range events {
		spool := beacon.NewSpool(host.NewFake(), "/cache", func(err error) { t.Error(err) })
		list := make([]beacon.Event, n)
		for i := range list {
			list[i] = beacon.Event{Tag: "salt/beacon/own-" + id + "/load/", Data: value.MapOf("n", int64(i), "_stamp", "2024-01-02T03:04:05.000000")}
		}
		if err := spool.Add(list); err != nil {
			t.Fatal(err)
		}
		s.have[id] = spool
	}
	return s
}

// Events of several machines come once, in their order, as those of the ids of the roster.
func TestVisit(t *testing.T) {
	t.Parallel()
	s := newSpools(t, map[string]int{"web1": 1200, "web2": 3, "web3": 0})
	s.texts = map[string]string{"bad1": "hello", "bad2": "x", "bad3": "unreachable", "bad4": "abc"}
	got := map[string]int64{}
	v := &Visit{Fleet: s, Tgt: "*", Take: func(_ context.Context, e beacon.Event) error {
		id := e.Data.Str("id")
		n, _ := value.AsInt(e.Data.At("n"))
		if e.Tag != "salt/beacon/"+id+"/load/" || n != got[id] {
			t.Errorf("%s came as %d, want %d", e.Tag, n, got[id])
		}
		got[id]++
		return nil
	}}
	for _, want := range []string{"web1 1200 0, web2 3 0, web3 0 0", "web1 0 0, web2 0 0, web3 0 0"} {
		found, err := v.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var good, bad []string
		for _, m := range found {
			if m.Err != nil {
				bad = append(bad, m.ID+": "+m.Err.Error())
			} else {
				good = append(good, fmt.Sprintf("%s %d %d", m.ID, m.Events, m.Left))
			}
		}
		if strings.Join(good, ", ") != want {
			t.Errorf("%s, want %s", good, want)
		}
		if text := strings.Join(bad, "; "); text != "bad1: 'brine beacon spool' failed there (2): no; bad2: 'brine beacon spool' failed there (1): no; bad3: unreachable: no route to host; "+
			"bad4: what it handed over is not taken: it is not a batch of events: \"abc\"" {
			t.Error(text)
		}
	}
	if got["web1"] != 1200 || got["web2"] != 3 {
		t.Errorf("%v", got)
	}
}

// A controller that dies, or cannot take an event, gets the batch again, and the same events.
func TestVisitAgain(t *testing.T) {
	t.Parallel()
	s := newSpools(t, map[string]int{"web1": 5})
	var seen []string
	fail := errors.New("the queue does not answer")
	v := &Visit{Fleet: s, Tgt: "*", Take: func(_ context.Context, e beacon.Event) error {
		seen = append(seen, string(value.EncodeJSON(e.Data)))
		if len(seen) == 3 {
			return fail
		}
		return nil
	}}
	found, err := v.Run(t.Context())
	if err != nil || !errors.Is(found[0].Err, fail) {
		t.Fatalf("%v %v", found, err)
	}
	first := seen
	seen = nil
	v.Take = func(_ context.Context, e beacon.Event) error {
		seen = append(seen, string(value.EncodeJSON(e.Data)))
		return nil
	}
	if found, err = v.Run(t.Context()); err != nil || found[0].Events != 5 {
		t.Fatalf("%v %v", found, err)
	}
	if strings.Join(seen[:3], "") != strings.Join(first, "") {
		t.Errorf("%v came as %v", first, seen)
	}
}

// A machine that always has more does not hold the visit.
func TestVisitEnds(t *testing.T) {
	t.Parallel()
	s := newSpools(t, nil)
	s.texts["web1"] = `{"id": "web1", "batch": "0123456789abcdef-1-0", "left": 9, "events": [{"tag": "salt/beacon/web1/load/", "data": {"_stamp": "2024-01-02T03:04:05.000000"}}]}`
	for len(s.texts["web1"])%3 != 0 {
		s.texts["web1"] += " "
	}
	n := 0
	v := &Visit{Fleet: s, Tgt: "*", Take: func(context.Context, beacon.Event) error { n++; return nil }}
	if found, err := v.Run(t.Context()); err != nil || n != maxRounds || s.jobs != maxRounds || found[0].Left != 9 {
		t.Errorf("%d events of %d jobs, %v, %v", n, s.jobs, found, err)
	}
}
