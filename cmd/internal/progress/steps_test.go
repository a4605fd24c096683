package progress

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/py/value"
)

// TestCounts: whatever happens to the steps, also more than once, the model says
// the same as counting all of them.
func TestCounts(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		s := newStory()
		chunks := make([]*fun.Chunk, 1+rnd.IntN(30))
		for i := range chunks {
			chunks[i] = chunk(fmt.Sprintf("s%d", i/2)) // two with each ID
			chunks[i].Name = fmt.Sprint(i)
		}
		s.RunBegins("1", chunks)
		states := map[string]string{}
		for _, c := range chunks {
			states[c.Tag()] = waiting
		}
		var began, ended []string // tags, in the order of events
		without := func(tags []string, tag string) []string {
			return slices.DeleteFunc(tags, func(s string) bool { return s == tag })
		}
		for range 200 {
			s.pass(time.Second)
			c := chunks[rnd.IntN(len(chunks))]
			tag := c.Tag()
			began, ended = without(began, tag), without(ended, tag)
			switch rnd.IntN(5) {
			case 0, 1:
				s.StateBegins(c)
				states[tag], began = running, append(began, tag)
			case 2:
				s.StateEnds(c, stateRet(false, ""))
				states[tag], ended = failed, append(ended, tag)
			case 3:
				s.StateEnds(c, stateRet(nil, ""))
				states[tag], ended = would, append(ended, tag)
			default:
				s.StateEnds(c, stateRet(true, ""))
				states[tag], ended = ok, append(ended, tag)
			}
			count := map[string]int{}
			var later []string
			for _, c := range chunks {
				count[states[c.Tag()]]++
				if states[c.Tag()] == waiting {
					later = append(later, c.Tag())
				}
			}
			ss := &s.steps
			if ss.all != len(chunks) || ss.bad != count[failed] || ss.ended.len != len(ended) {
				t.Fatalf("%d of %d ended, %d failed; want %d of %d, %d", ss.ended.len, ss.all, ss.bad, len(ended), len(chunks), count[failed])
			}
			for _, x := range []struct {
				what string
				list *list[*step]
				want []string
			}{{waiting, &ss.waiting, later}, {running, &ss.running, began}, {"ended", &ss.ended, ended}} {
				for what, got := range map[string][]*step{"first": x.list.first(99), "last": x.list.last(99)} {
					var tags []string
					for _, st := range got {
						for tag, other := range ss.byTag {
							if other == st {
								tags = append(tags, tag)
							}
						}
					}
					if !slices.Equal(tags, x.want) || x.list.len != len(x.want) {
						t.Fatalf("%s of %s: %q, want %q", what, x.what, tags, x.want)
					}
				}
			}
			// A job belongs to the step with its ID that began last.
			for _, id := range []string{"s0", "s1"} {
				var want *step
				for _, tag := range began {
					if st := ss.byTag[tag]; st.id == id {
						want = st
					}
				}
				if got := s.stepOf(fun.Job{Step: id}); got != want {
					t.Fatalf("the step of a job of %s is %v, want %v", id, got, want)
				}
			}
		}
	}
}

// TestSlowest: the hosts that are worked on longest are named, of all jobs, and
// phases are counted however often a host is told of.
func TestSlowest(t *testing.T) {
	t.Parallel()
	s := newStory()
	for i := range 30 {
		jid := fmt.Sprint(1 + i%3)
		if i < 3 {
			s.Begin(fun.Job{JID: jid, Fun: "test.ping"}, make([]string, 10))
		}
		s.pass(time.Second)
		s.At(jid, fmt.Sprint("h", i), fleet.Connecting)
		s.At(jid, fmt.Sprint("h", i), fleet.Running)
	}
	for i := range 10 {
		s.Done(fun.Return{ID: fmt.Sprint("h", i), JID: fmt.Sprint(1 + i%3)})
	}
	var names []string
	hosts, all := slowest(s.under(), 4)
	for _, h := range hosts {
		names = append(names, h.id)
	}
	if got := strings.Join(names, " "); got != "h10 h11 h12 h13" || all != 20 {
		t.Errorf("%s of %d", got, all)
	}
	if got, want := s.status(), "3 jobs: 10/30 done, 20 running, slowest h10 19s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Begin(fun.Job{JID: "2", Fun: "test.ping"}, nil) // the same jid once more
	s.End("2")
	if n := len(s.under()); n != 2 {
		t.Errorf("%d jobs under way, want 2", n)
	}
}

// TestManyRunning: a line names some of the steps that run, and counts the others.
func TestManyRunning(t *testing.T) {
	t.Parallel()
	s := newStory()
	chunks := make([]*fun.Chunk, 1000)
	for i := range chunks {
		chunks[i] = chunk(fmt.Sprint("p", i))
	}
	s.RunBegins("1", chunks)
	for _, c := range chunks {
		s.StateBegins(c)
	}
	got := s.status()
	if want := "; p9 0s; 990 more are running"; !strings.HasSuffix(got, want) {
		t.Errorf("%q does not end with %q", got, want)
	}
}

// BenchmarkRun is what a run of states without a pause costs the model, with a
// frame for every hundred of them. The time for each state is the same for all
// sizes.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{10000, 20000, 40000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			chunks := make([]*fun.Chunk, n)
			for i := range chunks {
				chunks[i] = chunk(fmt.Sprint("s", i))
			}
			ret := stateRet(true, "")
			ret.Set("changes", value.NewMap(0))
			for b.Loop() {
				m := newModel("x")
				v := &view{m: m}
				m.RunBegins("1", chunks)
				for i, c := range chunks {
					m.StateBegins(c)
					if i%100 == 0 {
						_, _ = v.frame(80, 24)
					}
					m.StateEnds(c, ret)
				}
				m.RunEnds()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/state")
		})
	}
}
