package outputter

import (
	"fmt"
	"strconv"
	"strings"

	"brine/internal/py/value"
)

// compressIDs joins the states that share module, ID, SLS and result: the
// setting state_compress_ids. Where one return lacks what that needs, or a
// target has no states, all data stay as they are.
// Salt: salt/output/highstate.py _compress_ids.
func compressIDs(data value.Mapping) value.Mapping {
	out := value.NewMap(data.Len())
	for _, host := range data.Keys() {
		v, _ := data.Get(host)
		rets, ok := v.(value.Mapping)
		if !ok {
			return data
		}
		joined, ok := compressHost(rets)
		if !ok {
			return data
		}
		out.Set(host, joined)
	}
	return out
}

func compressHost(rets value.Mapping) (*value.Map, bool) {
	groups := make([]string, 0, rets.Len())
	count := map[string]int{}
	for _, tag := range rets.Keys() {
		v, _ := rets.Get(tag)
		m, ok := v.(*value.Map)
		if !ok || !m.Has("__id__") || !m.Has("__sls__") || !m.Has("result") {
			return nil, false
		}
		module, _, _ := strings.Cut(value.Str(tag), "_|-")
		key := strings.Join([]string{module, value.Str(m.At("__id__")), value.Str(m.At("__sls__")), value.Str(m.At("result"))}, "_")
		groups = append(groups, key)
		count[key]++
	}
	out := value.NewMap(rets.Len())
	for i, tag := range rets.Keys() {
		v, _ := rets.Get(tag)
		m := v.(*value.Map).Copy()
		n := count[groups[i]]
		if n == 1 {
			out.Set(tag, m)
			continue
		}
		id, sls, result := value.Str(m.At("__id__")), value.Str(m.At("__sls__")), value.Str(m.At("result"))
		comps := strings.Split(value.Str(tag), "_|-")
		if len(comps) < 3 {
			return nil, false
		}
		comps[1] = fmt.Sprintf("%s (%d)", id, n)
		comps[2] = strings.Join([]string{compressedName, sls, id, result}, "_")
		joined := strings.Join(comps, "_|-")
		first, ok := out.At(joined).(*value.Map)
		if !ok {
			out.Set(joined, m)
			continue
		}
		if !joinReturn(first, m) {
			return nil, false
		}
	}
	return out, true
}

// joinReturn adds a further return to the first one of its group: the lowest
// number, the earliest start, the sum of the durations, the changes by name.
func joinReturn(first, m *value.Map) bool {
	run, ok := value.AsInt(m.At("__run_num__"))
	run0, ok0 := value.AsInt(first.At("__run_num__"))
	if !ok || !ok0 || !number(m.At("duration")) || !number(first.At("duration")) || !first.Has("start_time") || !m.Has("start_time") {
		return false
	}
	first.Set("__run_num__", min(run, run0))
	sum, _ := strconv.ParseFloat(strconv.FormatFloat(duration(m)+duration(first), 'f', 3, 64), 64)
	first.Set("duration", sum)
	first.Set("start_time", min(m.Str("start_time"), first.Str("start_time")))
	ch := m.At("changes")
	if !value.Truth(ch) {
		return true
	}
	all := value.NewMap(2)
	switch old := first.At("changes"); {
	case value.Truth(first.Map("changes").Map(compressedChanges)):
		all = first.Map("changes").Map(compressedChanges).Copy()
	case value.Truth(old):
		if _, ok := old.(*value.Map); !ok {
			return false
		}
		all.Set(first.At("name"), old)
	}
	all.Set(m.At("name"), ch)
	first.Set("changes", value.MapOf(compressedChanges, all))
	return true
}

func number(v value.Value) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return false
}

const (
	compressedName    = "state_compressed"
	compressedChanges = "compressed changes"
)

// compressedCount returns how many states the one of tag stands for.
func compressedCount(tag string) int {
	comps := strings.Split(tag, "_|-")
	if len(comps) != 4 || !strings.HasPrefix(comps[2], compressedName+"_") {
		return 1
	}
	i := strings.LastIndexByte(comps[1], '(')
	n, err := strconv.Atoi(strings.TrimSuffix(comps[1][i+1:], ")"))
	if i < 0 || err != nil || n < 1 {
		return 1
	}
	return n
}
