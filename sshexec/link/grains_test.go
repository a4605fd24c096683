package link_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// TestPillarGrains is a pillar that reads grains which agents do not send
// unasked: they are asked for when they are first read, and later calls send
// them at once.
func TestPillarGrains(t *testing.T) { // not parallel: its time is its own
	_, _ = net.DefaultResolver.LookupHost(t.Context(), "localhost")
	for _, tt := range []struct {
		name  string
		known []string
		trips float64 // of the first call beyond that of the second
	}{
		{"asked for", nil, 2},
		{"one named before", []string{"pid"}, 1},
		{"named before", []string{"pid", "nosuch"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, map[string]string{"a.sls": "pid{{ pillar['pid'] }}:\n  test.nop\n"})
			s.opts.Pillar = func(_ context.Context, id string, g value.Mapping, _ fun.PillarRequest) (*value.Map, error) {
				pid, _ := g.Get("pid")
				if _, ok := g.Get("nosuch"); ok {
					return nil, fmt.Errorf("a grain that is not there")
				}
				if kernel, _ := g.Get("kernel"); kernel == nil {
					return nil, fmt.Errorf("no kernel")
				}
				return value.MapOf("pid", fmt.Sprint(pid)), nil
			}
			s.opts.PillarGrains = func() []string { return tt.known }
			var first, second float64
			cache := filepath.Join(t.TempDir(), "cache")
			synctest.Test(t, func(t *testing.T) {
				s.t, s.cache = t, cache
				up, down := newLane(), newLane()
				e := s.serve(slowEnd{in: down, out: up})
				c := s.attach(slowEnd{in: up, out: down})
				run := func() float64 {
					start := time.Now()
					got := results(t, call(t, c, job("state.apply", "a")))
					if _, ok := got[fmt.Sprint("pid", os.Getpid())]; !ok {
						t.Errorf("results %v, want the state pid%d", got, os.Getpid())
					}
					return float64(time.Since(start)) / float64(2*oneWay)
				}
				run() // the tree goes to the target
				s.opts.Tree.ForgetWants()
				first, second = run(), run()
				c.Close()
				<-e.done
			})
			if first-second != tt.trips {
				t.Errorf("the first call takes %v round trips, the second %v, want %v more", first, second, tt.trips)
			}
		})
	}
}

// TestAllGrains is a pillar that goes through all grains.
func TestAllGrains(t *testing.T) {
	s := newSite(t, nil)
	s.opts.Pillar = func(_ context.Context, id string, g value.Mapping, _ fun.PillarRequest) (*value.Map, error) {
		m := value.NewMap(0)
		for _, k := range g.Keys() {
			v, ok := g.Get(k)
			if !ok {
				return nil, fmt.Errorf("%v is a key and not there", k)
			}
			m.Set(k, v)
		}
		return value.MapOf("all", m), nil
	}
	c, _ := s.connect()
	p, ok := call(t, c, job("pillar.items")).(*value.Map)
	if !ok {
		t.Fatal("no dict")
	}
	g := p.Map("all")
	for _, k := range []string{"os", "pid", "cwd", "shell"} {
		if !g.Has(k) {
			t.Errorf("the grain %s is missing in %v", k, g.Keys())
		}
	}
	if g.At("id") != "web1" || g.At("role") != "web" {
		t.Errorf("id %v, role %v: want those of the roster", g.At("id"), g.At("role"))
	}
}
