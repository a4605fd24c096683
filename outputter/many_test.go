package outputter

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"brine/internal/py/value"
)

// stepOf is the report of a step on n targets, of which every tenth fails.
func stepOf(n int, fun string) *value.Map {
	rets, bad, all := value.NewMap(n), []string{}, []string{}
	for i := range n {
		id := fmt.Sprintf("web%05d", i)
		all = append(all, id)
		failed := i%10 == 3
		if failed {
			bad = append(bad, id)
		}
		if fun == "function" {
			rets.Set(id, !failed)
			continue
		}
		states := value.NewMap(3)
		for k := range 3 {
			st := ret(int64(k), fmt.Sprint("id", k), fmt.Sprint("id", k), "app", k != 2 || !failed, value.MapOf("pid", int64(i), "retcode", int64(0)), "done on "+id)
			st.Set("duration", float64(i)/7)
			states.Set(fmt.Sprintf("cmd_|-id%d_|-id%d_|-run", k, k), st)
		}
		rets.Set(id, states)
	}
	changes, comment := value.MapOf("out", "highstate", "ret", rets), "Run failed on minions: "+strings.Join(bad, ", ")
	if fun == "function" {
		changes, comment = value.MapOf("ret", rets), comment+" Function test.x ran on "+strings.Join(all, ", ")+"."
	}
	return value.MapOf("ctl", value.MapOf("salt_|-deploy_|-deploy_|-"+fun, ret(0, "deploy", "deploy", "orch", false, changes, comment)))
}

// foldTest writes the first and the last of names.
func foldTest(ids []string) string {
	return fmt.Sprintf("%s..%s(%d)", ids[0], ids[len(ids)-1], len(ids))
}

func grouped(n int) *Options {
	o := &Options{}
	o.GroupAbove(n, foldTest)
	return o
}

func shown(t testing.TB, data value.Value, o *Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Highstate(&b, data, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestManyTargets(t *testing.T) {
	t.Parallel()
	text := shown(t, stepOf(10_000, "state"), grouped(100))
	if n := strings.Count(text, "\n"); n > 120 {
		t.Errorf("%d lines", n)
	}
	bad, good := strings.Index(text, "\n              web00003..web09993(1000):\n"), strings.Index(text, "\n              web00000..web09999(9000):\n")
	if good < 0 || bad < good {
		t.Errorf("failures at %d, others at %d", bad, good)
	}
	if !strings.Contains(text, "Comment: done on <id>\n") || strings.Contains(text, "done on web") {
		t.Error("states that differ in the id alone do not name it <id>")
	}
	if !strings.Contains(text, "Comment: Run failed on minions: web00003..web09993(1000)\n") {
		t.Errorf("the comment is not folded: %.300s", text)
	}
	text = shown(t, stepOf(10_000, "function"), grouped(100))
	for _, want := range []string{
		"Comment: Run failed on minions: web00003..web09993(1000) Function test.x ran on web00000..web09999(10000).\n",
		"              failed:\n                  ----------\n                  web00003..web09993(1000):\n                      False\n              ret:\n                  ----------\n                  web00000..web09999(9000):\n                      True\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// nearStep is a step on n targets with eight states each. On one of them a state says
// something else, and on another it fails.
func nearStep(n int, fun string) *value.Map {
	rets := value.NewMap(n)
	for i := range n {
		id := fmt.Sprintf("web%05d", i)
		states := value.NewMap(8)
		for k := range 8 {
			comment, good := "done on "+id, true
			switch {
			case k == 5 && i == 2:
				comment = "other on " + id
			case k == 6 && i == 1:
				comment, good = "disk is on fire", false
			}
			st := ret(int64(k), fmt.Sprint("id", k), fmt.Sprint("id", k), "app", good, value.NewMap(0), comment)
			st.Set("duration", float64(i)/7)
			states.Set(fmt.Sprintf("test_|-id%d_|-id%d_|-nop", k, k), st)
		}
		rets.Set(id, states)
	}
	changes := value.MapOf("ret", rets)
	if fun == "state" {
		changes.Set("out", "highstate")
	}
	return value.MapOf("ctl", value.MapOf("salt_|-deploy_|-deploy_|-"+fun, ret(0, "deploy", "deploy", "orch", false, changes, "ran")))
}

// Of targets that are nearly like a larger group, only what differs is shown: below the
// group, or at the end where it failed.
func TestNearTargets(t *testing.T) {
	t.Parallel()
	for _, n := range []int{6, 1000} {
		base := fmt.Sprintf("web00000..web%05d(%d)", n-1, n-2)
		text := shown(t, nearStep(n, "state"), grouped(4))
		at := -1
		for _, want := range []string{
			"\n              " + base + ":\n", "Comment: done on <id>\n", "Total states run:     8\n",
			"\n              web00002..web00002(1) (7 of 8 states as on " + base + "):\n", "Comment: other on web00002\n", "Total states run:     1\n",
			"\n              web00001..web00001(1) (7 of 8 states as on " + base + "):\n", "Comment: disk is on fire\n", "Failed:    1\n",
		} {
			i := strings.Index(text[at+1:], want)
			if i < 0 {
				t.Fatalf("%d: no %q behind %d in\n%s", n, want, at, text)
			}
			at += 1 + i
		}
		if lines := strings.Count(text, "\n"); lines > 130 {
			t.Errorf("%d: %d lines", n, lines)
		}
		text = shown(t, nearStep(n, "function"), grouped(4))
		for _, want := range []string{"failed:\n                  ----------\n                  web00001..web00001(1) (7 of 8 states as on " + base + "):\n", base + ":\n", "web00002..web00002(1) (7 of 8 states as on " + base + "):\n"} {
			if strings.Count(text, want) != 1 {
				t.Errorf("%d: not one %q in\n%s", n, want, text)
			}
		}
	}
}

// TestAllDiffer: comparing many targets that all differ stays possible.
func TestAllDiffer(t *testing.T) {
	t.Parallel()
	data := nearStep(300, "state")
	targets := data.Map("ctl").Map("salt_|-deploy_|-deploy_|-state").Map("changes").Map("ret")
	i := 0
	for _, v := range targets.All() {
		for _, st := range v.(*value.Map).All() {
			i++
			st.(*value.Map).Set("comment", fmt.Sprint("alone ", i))
		}
	}
	if text := shown(t, data, grouped(4)); strings.Contains(text, "states as on") || strings.Count(text, "Total states run:     8\n") != 300 {
		t.Errorf("%.2000s", text)
	}
}

// Lists are what many functions return; of states they are why these did not run.
func TestManyLists(t *testing.T) {
	t.Parallel()
	rets := value.NewMap(200)
	for i := range 200 {
		rets.Set(fmt.Sprintf("web%05d", i), value.NewList("10.0.0.1"))
	}
	rets.Set("last", false)
	step := func(fun string, changes *value.Map) value.Value {
		return value.MapOf("ctl", value.MapOf("salt_|-ips_|-ips_|-"+fun, ret(0, "ips", "ips", "orch", false, changes, "ran")))
	}
	text := shown(t, step("function", value.MapOf("ret", rets)), grouped(100))
	if bad := strings.Index(text, "failed:"); bad < 0 || strings.Index(text, "last..last(1):") < bad || strings.Index(text, "ret:") < bad || strings.Index(text, "web00000..web00199(200):") < strings.Index(text, "ret:") {
		t.Errorf("lists of a function count as failures: %s", text)
	}
	states := value.NewMap(201)
	for i := range 200 {
		states.Set(fmt.Sprintf("web%05d", i), value.MapOf("test_|-a_|-a_|-nop", ret(0, "a", "a", "s", true, value.NewMap(0), "")))
	}
	states.Set("text", "an exception")
	states.Set("list", value.NewList("No matching sls found"))
	text = shown(t, step("state", value.MapOf("out", "highstate", "ret", states)), grouped(100))
	good := strings.Index(text, "web00000..web00199(200):")
	if one, two := strings.Index(text, "text..text(1):"), strings.Index(text, "list..list(1):"); one < 0 || two < 0 || one < good || two < good {
		t.Errorf("targets without states are not last: %s", text)
	}
}

// Up to Many targets nothing is folded, nor where nobody says how.
func TestFewTargets(t *testing.T) {
	t.Parallel()
	for _, fun := range []string{"state", "function"} {
		data := stepOf(100, fun)
		want := shown(t, data, &Options{})
		for _, o := range []*Options{grouped(100), grouped(0)} {
			if got := shown(t, data, o); got != want {
				t.Errorf("%s, grouped %t: %.400s", fun, o.many != nil, got)
			}
		}
	}
	// what is no list of names of a step stays
	data := value.MapOf("local", value.MapOf("test_|-a_|-a_|-nop", ret(0, "a", "a", "s", true, value.NewMap(0), "x: "+strings.Repeat("a, ", 200)+"b")))
	if text := shown(t, data, grouped(100)); !strings.Contains(text, "a, a, a, b\n") {
		t.Error("the comment of a state is folded")
	}
}

// BenchmarkManyTargets is the report of a step on 10,000 targets, with equal
// results together and without.
func BenchmarkManyTargets(b *testing.B) {
	data := stepOf(10_000, "state")
	for _, o := range []*Options{grouped(100), {}} {
		b.Run(fmt.Sprintf("grouped=%t", o.many != nil), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = shown(b, data, o)
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapSys)/1e6, "MB-heap")
		})
	}
}
