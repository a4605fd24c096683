package exec_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/runner/exec"
)

// FuzzRequisites runs states whose requisites are made of the input. Whatever
// they are (cycles, references to nothing), every state gets one return, the
// same in every run, and none runs before what it requires.
func FuzzRequisites(f *testing.F) {
	f.Add([]byte{3, 0, 1, 1, 2, 2, 0})
	f.Add([]byte{5, 4, 1, 4, 2, 4, 3, 0, 0})
	f.Add([]byte{9, 1, 200, 17, 33, 90, 4, 4, 4, 80, 255, 3, 41, 100, 7})
	f.Add([]byte{12, 4, 0, 4, 1, 4, 2, 4, 3, 0, 4, 0, 5, 2, 6, 5, 7, 10, 8, 4, 9})
	f.Fuzz(func(t *testing.T, in []byte) {
		first := returns(t, in)
		if d := cmp.Diff(first, returns(t, in)); d != "" {
			t.Errorf("two runs differ (-first +second):\n%s", d)
		}
	})
}

// graph makes chunks of in: the number of states, then pairs of what a
// requisite is and what it names.
func graph(in []byte) []*fun.Chunk {
	if len(in) == 0 {
		return nil
	}
	funs := []string{"test.nop", "test.succeed_with_changes", "test.fail_without_changes", "rec.changes", "cmd.wait", "rec.fails", "test.nop"}
	kinds := []string{"require", "watch", "onchanges", "onfail", "prereq", "require_any", "watch_any", "onchanges_any", "onfail_any", "onfail_all", "listen"}
	n := int(in[0])%12 + 1
	var chunks []*fun.Chunk
	for i := range n {
		chunks = append(chunks, chunk(fmt.Sprintf("s%d/n%d: %s", i%3, i, funs[(i*5+int(in[0]))%len(funs)])))
	}
	for i := 1; i+1 < len(in); i += 2 {
		c := chunks[(i/2)%n]
		kind := kinds[int(in[i])%len(kinds)]
		to := chunks[int(in[i+1])%n]
		ref := value.MapOf(to.State, to.ID)
		switch in[i+1] / 64 {
		case 1:
			ref = value.MapOf("id", to.ID)
		case 2:
			ref = value.MapOf("sls", to.SLS)
		case 3:
			ref = value.MapOf(to.State, "n?")
		}
		l := c.Low.List(kind)
		if l == nil {
			l = value.NewList()
			c.Low.Set(kind, l)
		}
		l.Append(ref)
		if in[i] > 200 {
			c.Low.Set("parallel", true)
		}
	}
	return chunks
}

func returns(t *testing.T, in []byte) []string {
	r := newRig(t)
	chunks := graph(in)
	got, err := exec.Run(context.Background(), r.env, chunks, exec.Options{})
	if err != nil {
		t.Fatal(err)
	}
	place := map[string]int{}
	for i, k := range got.Returns.Keys() {
		place[k.(string)] = i
	}
	for _, c := range chunks {
		at, ok := place[c.Tag()]
		if !ok {
			t.Errorf("%s has no return", c.ID)
		}
		ret := got.Return(c.Tag())
		if strings.Contains(ret.Str("comment"), "Started in a separate process") {
			t.Errorf("%s was not waited for", c.ID)
		}
		// The return of a dry run that failed has no time, and a state whose
		// prereq has no changes, or whose onchanges and onfail did not come
		// about (which a prereq may find out ahead of its turn), is passed over.
		ran := ret.Has("start_time") && !strings.Contains(ret.Str("comment"), "requisite") &&
			ret.Str("comment") != "No changes detected" && ret.At("__state_ran__") != false
		for _, x := range c.Low.List("require").Copy(0).Items {
			k, v := x.(*value.Map).Entry(0)
			for _, o := range chunks {
				if (k != o.State && k != "id") || v != o.ID || !ran {
					continue
				}
				if o == c || place[o.Tag()] > at || got.Return(o.Tag()).At("result") == false {
					t.Errorf("%s ran (%q) though it requires %s, which did not run well before", c.ID, ret.Str("comment"), o.ID)
				}
			}
		}
	}
	return lines(got, false)
}
