package outputter

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"

	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// Highstate prints the returns of states, the states of nested targets below
// the step that ran them. Data that are no such returns are printed by
// [Nested], as Salt does. Salt: salt/output/highstate.py.
func Highstate(w io.Writer, data value.Value, o *Options) error {
	text, ok := highstateText(data, o, 1)
	if !ok {
		return Nested(w, data, o)
	}
	return text.print(w)
}

// highstateText formats each target of data; ok is false if data are not
// returns of states. level is the number of orchestrations that contain data.
func highstateText(data value.Value, o *Options, level int) (text reportLines, ok bool) {
	data, ok = unwrap(data)
	if !ok {
		return nil, false
	}
	switch data := data.(type) {
	case nil:
		return reportLines{{text: "None"}}, true
	case string:
		return reportLines{{text: o.clean(data)}}, true
	case value.Mapping:
		data = withoutRetcode(data)
		if o.opt("state_compress_ids") && o.Shown == nil {
			data = compressIDs(data)
		}
		for _, k := range data.Keys() {
			v, _ := data.Get(k)
			h := hostPrinter{o: o, c: colors(o.Color), level: level}
			t, _, ok := h.print(value.Str(k), v)
			if !ok {
				return nil, false
			}
			text = append(text, t...)
		}
		return text, true
	}
	return nil, false
}

// unwrap returns the returns by target: those of an orchestration come with an
// outputter and a retcode, those of a job with its jid. ok is false if data is
// the return of a job that is not an orchestration.
func unwrap(data value.Value) (value.Value, bool) {
	for _, key := range [...]string{"return", "data"} {
		if m, ok := data.(value.Mapping); ok {
			if inner, ok := m.Get(key); ok {
				data = inner
			}
		}
	}
	m, ok := data.(value.Mapping)
	if !ok || m.Len() != 1 {
		return data, true
	}
	only, _ := m.Get(m.Keys()[0])
	job, ok := only.(value.Mapping)
	if !ok || !has(job, "jid") || !has(job, "fun") {
		return data, true
	}
	ret, ok := job.Get("return")
	if !ok {
		return data, true
	}
	of, ok := ret.(value.Mapping)
	if !ok {
		return nil, false
	}
	if inner, ok := of.Get("data"); ok {
		data = inner
	}
	return data, true
}

func has(m value.Mapping, key string) bool {
	_, ok := m.Get(key)
	return ok
}

// withoutRetcode removes the return code next to the states of a single
// controller.
func withoutRetcode(data value.Mapping) value.Mapping {
	if !has(data, "retcode") {
		return data
	}
	masters := 0
	for _, k := range data.Keys() {
		if s, ok := k.(string); ok && strings.HasSuffix(s, "_master") {
			masters++
		}
	}
	if masters != 1 {
		return data
	}
	m := value.NewMap(data.Len())
	for _, k := range data.Keys() {
		if k != "retcode" {
			v, _ := data.Get(k)
			m.Set(k, v)
		}
	}
	return m
}

// hostPrinter prints one target's returns.
type hostPrinter struct {
	o     *Options
	c     palette
	level int // how many orchestrations it is in, 1 for the outermost

	color   string // of the target's name
	lines   reportLines
	counts  map[string]int // by result: True, False, None, and warnings
	changes int
	total   float64 // ms
	beside  float64 // ms of the parallel state that took longest
	notRun  int     // steps that had no target within --limit
}

func (h *hostPrinter) add(lines ...string) {
	for _, l := range lines {
		h.lines = append(h.lines, reportLine{text: l})
	}
}

// print formats the returns of a target, and reports whether one of them
// changed something; ok is false if they are not returns of states.
func (h *hostPrinter) print(host string, data value.Value) (text reportLines, changed, ok bool) {
	h.color = h.c.green
	h.counts = map[string]int{}
	switch v := data.(type) {
	case bool, int64, *big.Int:
		h.changes = 1
		h.add(h.color + "    " + value.Str(v) + h.c.endc)
		h.color = h.c.cyan
	case string:
		h.changes = 1
		for _, l := range value.SplitLines(v, false) {
			h.add(h.color + "    " + h.o.clean(l) + h.c.endc)
		}
		h.color = h.c.cyan
	case *value.List:
		h.color = h.c.lightRed
		h.add("    " + h.color + "Data failed to compile:" + h.c.endc)
		for _, e := range v.Items {
			h.add(h.color + "----------\n    " + h.o.clean(value.Str(e)) + h.c.endc)
		}
	case value.Mapping:
		if !h.states(v) {
			return nil, false, false
		}
		h.summary(host)
	}
	if h.o.Shown != nil && h.level == 1 && len(h.lines) > 0 { // its name is printed
		return h.lines, h.changes > 0, true
	}
	first := reportLine{text: h.color + h.o.clean(host) + ":" + h.c.endc}
	return append(reportLines{first}, h.lines...), h.changes > 0, true
}

// stateRet is one state's return as the outputter reads it.
type stateRet struct {
	tag    string
	m      *value.Map
	comps  [4]string // state, id, name, fun
	run    int64
	result string // "True", "False" or "None"
	many   int    // how many states it stands for
}

// states prints the states; false says that one of them has no changes or no
// comment, so that it is something else.
func (h *hostPrinter) states(data value.Mapping) bool {
	var rets []stateRet
	var unordered []string
	for _, k := range data.Keys() {
		v, _ := data.Get(k)
		m, ok := v.(*value.Map)
		if !ok {
			continue
		}
		tag := value.Str(k)
		if tag != "changes" && m.Len() > 0 && !m.Has("__run_num__") {
			unordered = append(unordered, pyformat.Pformat(m, 80))
		}
		if !m.Has("result") {
			continue
		}
		rets = append(rets, h.newStateRet(tag, m))
	}
	for _, text := range slices.Backward(unordered) {
		h.add("The State execution failed to record the order in which all states were executed. The state return missing data is:", text)
	}
	sort.SliceStable(rets, func(i, j int) bool { return rets[i].run < rets[j].run })
	for i := range rets {
		if !rets[i].m.Has("changes") || !h.state(&rets[i]) {
			return false
		}
	}
	return true
}

func (h *hostPrinter) newStateRet(tag string, m *value.Map) stateRet {
	r := stateRet{tag: tag, m: m, many: 1, result: "False"}
	if h.o.opt("state_compress_ids") {
		r.many = compressedCount(tag)
	}
	parts := strings.SplitN(h.o.clean(tag), "_|-", 4)
	copy(r.comps[:], parts)
	// A tag of fewer parts still shows its last part as the function.
	if len(parts) < 4 {
		r.comps[3] = parts[len(parts)-1]
	}
	r.run, _ = value.AsInt(m.At("__run_num__"))
	switch res := m.At("result").(type) {
	case nil:
		r.result = "None"
	default:
		if value.Truth(res) {
			r.result = "True"
		}
	}
	return r
}

// state prints a state; false says that it is none.
func (h *hostPrinter) state(r *stateRet) bool {
	if r.result == "True" && r.m.At("not_run") == true { // of a step that --limit leaves no target
		h.notRun += r.many
	} else {
		h.counts[r.result] += r.many
	}
	if r.m.Has("__parallel__") {
		h.beside = max(h.beside, duration(r.m))
	} else {
		h.total += duration(r.m)
	}
	changed, ctext, ok := h.changesText(r)
	if !ok {
		return false
	}
	if changed {
		if n := r.m.Map("changes").Map(compressedChanges).Len(); r.many > 1 && n > 0 {
			h.changes += n
		} else {
			h.changes++
		}
	}
	if h.level == 1 && h.o.Shown[r.tag] {
		h.colorOf(r.result)
		return true
	}
	if r.result == "True" && !changed && (h.o.HideClean || h.o.opt("state_output_diff")) {
		return true
	}
	color := h.c.green
	if changed {
		color = h.c.cyan
	}
	if c := h.colorOf(r.result); c != "" {
		color = c
	}
	// As in Salt the beginning and the end of the setting say what is meant:
	// changes, changes_id.
	mode := strings.ToLower(h.o.StateOutput)
	comps := r.comps
	if strings.HasSuffix(mode, "_id") {
		comps[2] = comps[1]
	}
	terse := false
	switch {
	case strings.HasPrefix(mode, "filter"):
		if h.listed("state_output_terse", r.result) {
			terse = true
		} else if h.listed("state_output_exclude", r.result) {
			return true
		}
	case strings.HasPrefix(mode, "terse"):
		terse = true
	case strings.HasPrefix(mode, "mixed"):
		terse = r.result != "False"
	case strings.HasPrefix(mode, "changes"), strings.HasPrefix(mode, "live"):
		terse = r.result == "True" && !changed
	}
	if terse {
		h.terse(r, comps, color)
		return true
	}
	if !r.m.Has("comment") {
		return false
	}
	h.full(r, comps, color, ctext)
	return true
}

// colorOf colours the name of the target by a result, and returns the colour of a
// state that did not succeed, "" where it did.
func (h *hostPrinter) colorOf(result string) string {
	switch result {
	case "False":
		h.color = h.c.red
	case "None":
		h.color = h.c.lightYellow
	default:
		return ""
	}
	return h.color
}

// HighstatePart prints one state of a target while its states run; if first is
// set, after the target's name. It prints nothing if ret is not the return of a
// state, or if the options exclude the state.
func HighstatePart(w io.Writer, host, tag string, ret *value.Map, first bool, o *Options) error {
	h := hostPrinter{o: o, c: colors(o.Color), level: 1, counts: map[string]int{}}
	if first {
		h.add(h.c.cyan + o.clean(host) + ":" + h.c.endc)
	}
	r := h.newStateRet(tag, ret)
	if !ret.Has("changes") || !h.state(&r) || len(h.lines) == 0 {
		return nil
	}
	return h.lines.print(w)
}

// StateOutputs returns the settings of state_output; each may end in _id.
func StateOutputs() []string { return []string{"full", "terse", "mixed", "changes", "filter", "live"} }

// IsStateOutput reports whether a setting of state_output, in small letters, is one.
func IsStateOutput(mode string) bool {
	return slices.Contains(StateOutputs(), strings.TrimSuffix(mode, "_id"))
}

// listed reports whether a filter setting, a list or text with commas, names
// result.
func (h *hostPrinter) listed(setting, result string) bool {
	switch v := h.o.Opts.At(setting).(type) {
	case string:
		return slices.Contains(strings.Split(v, ","), result)
	case *value.List:
		for _, x := range v.Items {
			if x == result { // as in Salt the booleans themselves match nothing
				return true
			}
		}
	}
	return false
}

func (h *hostPrinter) full(r *stateRet, comps [4]string, color string, changes reportLine) {
	line := func(label, text string) {
		h.add("    " + color + label + text + h.c.endc)
	}
	h.add(color + "----------" + h.c.endc)
	line("      ID: ", comps[1])
	line("Function: ", comps[0]+"."+comps[3])
	if comps[1] != comps[2] {
		line("    Name: ", comps[2])
	}
	line("  Result: ", r.result)
	comment := commentText(r.m)
	if comps[0] == "salt" && h.o.many != nil {
		comment = h.o.many.comment(h.o.many, comment)
	}
	line(" Comment: ", h.o.clean(comment))
	if start, ok := r.m.Get("start_time"); ok && !h.o.HideProfile {
		line(" Started: ", h.o.clean(value.Str(start)))
		dur := ""
		if d, ok := r.m.Get("duration"); ok {
			dur = h.o.clean(value.Str(d)) + " ms"
		}
		line("Duration: ", dur)
	}
	changes.text = color + "     Changes:   " + changes.text
	changes.end = h.c.endc
	h.lines = append(h.lines, changes)
	if w, ok := r.m.Get("warnings"); ok {
		h.counts["warnings"]++
		h.add("   " + h.c.lightRed + " Warnings: " + strings.TrimLeft(fill(h.o.clean(warningText(w)), 80, 14), " ") + h.c.endc)
	}
}

// commentText is the comment, its further lines indented, with the data of
// the return behind it.
func commentText(m *value.Map) string {
	indent := "\n" + strings.Repeat(" ", 14)
	comment := value.Str(m.At("comment"))
	comment = strings.ReplaceAll(strings.TrimFunc(comment, value.IsSpace), "\n", indent)
	switch d := m.At("data").(type) {
	case nil:
		if m.Has("data") {
			comment += " None"
		}
	case *value.List:
		for _, x := range d.Items {
			comment += " " + value.Str(x)
		}
	case *value.Map:
		for k, v := range d.All() {
			comment += "\n\t\t" + value.Str(k) + ": " + value.Str(v)
		}
	default:
		comment += " " + value.Str(d)
	}
	return comment
}

func warningText(w value.Value) string {
	l, ok := w.(*value.List)
	if !ok {
		return value.Str(w)
	}
	var parts []string
	for _, x := range l.Items {
		parts = append(parts, value.Str(x))
	}
	return strings.Join(parts, "\n")
}

// terse prints a state on one line.
func (h *hostPrinter) terse(r *stateRet, comps [4]string, color string) {
	result := "Clean"
	if value.Truth(r.m.At("changes")) {
		result = "Changed"
	}
	switch r.result {
	case "False":
		result = "Failed"
	case "None":
		result = "Differs"
	}
	start, dur := h.o.clean(value.Str(r.m.At("start_time"))), h.o.clean(value.Str(r.m.At("duration")))
	profile := !h.o.HideProfile && r.m.Has("start_time")
	warnings := ""
	if w, ok := r.m.Get("warnings"); ok {
		warnings = h.c.lightRed + "Warnings:\n" + h.o.clean(warningText(w)) + h.c.endc
	}
	switch tab := h.o.Opts.At("state_tabular").(type) {
	case string:
		h.add(format(tab, color, comps[2], comps[0], comps[3], result, h.c.endc, r.m))
	case bool:
		if tab {
			if warnings != "" {
				warnings += "\n"
			}
			times := ""
			if profile {
				times = start + " [" + rjust(dur, 7) + " ms] "
			}
			h.add(warnings + color + times + rjust(comps[0], 10) + "." + ljust(comps[3], 10) + " " + ljust(result, 7) + "   Name: " + comps[2] + h.c.endc)
			return
		}
		h.plainTerse(comps, color, result, warnings, start, dur, profile)
	default:
		h.plainTerse(comps, color, result, warnings, start, dur, profile)
	}
}

func (h *hostPrinter) plainTerse(comps [4]string, color, result, warnings, start, dur string, profile bool) {
	s := warnings + " " + color + " Name: " + comps[2] + " - Function: " + comps[0] + "." + comps[3] + " - Result: " + result
	if profile {
		s += " - Started: " + start + " - Duration: " + dur + " ms"
	}
	h.add(s + h.c.endc)
}

// changesText prints a state's changes and tells whether there are any: the
// states of nested targets count only where one of those changed something. ok
// is false where nested returns are none of states.
func (h *hostPrinter) changesText(r *stateRet) (changed bool, text reportLine, ok bool) {
	ch := r.m.At("changes")
	switch r.m.Str("name") {
	case "state.orch", "state.orchestrate", "state.sls":
		// Salt tells an orchestration by its name alone.
		inner, ok := highstateText(ch, h.o, h.level+1)
		pad := strings.Repeat(" ", 14*h.level)
		text.text = pad + strings.ReplaceAll("\n"+inner.join(), "\n", "\n"+pad)
		return true, text, ok
	}
	if !value.Truth(ch) {
		return false, text, true
	}
	m, ok := ch.(*value.Map)
	if !ok {
		text.text = "Invalid Changes data: " + h.o.clean(value.Str(ch))
		return true, text, true
	}
	if ret := m.At("ret"); ret != nil && m.At("out") == "highstate" {
		targets, ok := ret.(value.Mapping)
		if !ok {
			return false, text, false
		}
		return h.targetsText(targets)
	}
	if r.comps[0] == "salt" && h.o.many != nil {
		ch = h.o.many.calls(h.o.many, m)
	}
	o := *h.o
	o.NestedIndent = 14
	o.Retcode = 0
	return true, reportLine{below: ch, o: &o}, true
}

// targetsText prints the states of the targets of a step.
func (h *hostPrinter) targetsText(targets value.Mapping) (changed bool, text reportLine, ok bool) {
	var b strings.Builder
	one := func(name string, v value.Value) bool {
		inner := hostPrinter{o: h.o, c: h.c, level: 1}
		t, c, ok := inner.print(name, v)
		b.WriteString("\n" + indentLines(t.join(), strings.Repeat(" ", 14)))
		changed = changed || c
		return ok
	}
	if keys := targets.Keys(); h.o.many.are(len(keys)) {
		for _, a := range h.o.many.together(targets, h.o.many.failed, h.o.many.fold) {
			if !one(a.name, a.v) {
				return false, text, false
			}
		}
	} else {
		for _, k := range keys {
			if v, _ := targets.Get(k); !one(value.Str(k), v) {
				return false, text, false
			}
		}
	}
	text.text = b.String()
	return changed, text, true
}

func indentLines(s, indent string) string {
	lines := value.SplitLines(s, false)
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return strings.Join(lines, "\n")
}

// duration returns a return's duration in ms; text such as "1.2 ms" counts.
func duration(m *value.Map) float64 {
	switch d := m.At("duration").(type) {
	case float64:
		return d
	case int64:
		return float64(d)
	case string:
		d, _, _ = strings.Cut(d, " ms")
		f, _ := strconv.ParseFloat(strings.TrimSpace(d), 64)
		return f
	}
	return 0
}

// summary prints the counts below the states.
func (h *hostPrinter) summary(host string) {
	width := 1
	for _, n := range h.counts {
		width = max(width, len(strconv.Itoa(n)))
	}
	if len(h.counts) == 0 {
		width = 0
	}
	width += len("Succeeded") + len(": ")
	rule := strings.Repeat("-", width)
	count := func(label, n string) string { return label + ": " + rjust(n, width-len(label)-2) }

	h.add(h.c.cyan + "\nSummary for " + h.o.clean(host) + "\n" + rule + h.c.endc)
	var stats []string
	if n := h.counts["None"]; n > 0 {
		stats = append(stats, fmt.Sprintf("%sunchanged=%d%s", h.c.lightYellow, n, h.c.endc))
	}
	if h.changes > 0 {
		stats = append(stats, fmt.Sprintf("%schanged=%d%s", h.c.green, h.changes, h.c.endc))
	}
	good, bad, warned := h.counts["True"]+h.counts["None"], h.counts["False"], h.counts["warnings"]
	line := h.c.green + count("Succeeded", strconv.Itoa(good)) + h.c.endc
	if len(stats) > 0 {
		line += " (" + strings.Join(stats, ", ") + ")"
	}
	h.add(line)
	color := h.c.cyan
	if bad > 0 {
		color = h.c.red
	}
	h.add(color + count("Failed", strconv.Itoa(bad)) + h.c.endc)
	if h.notRun > 0 {
		h.add(h.c.lightYellow + count("Not run", strconv.Itoa(h.notRun)) + h.c.endc)
	}
	if h.o.opt("state_output_pct") && good+bad > 0 {
		pct := func(n int) string {
			f, _ := strconv.ParseFloat(strconv.FormatFloat(float64(n)/float64(good+bad)*100, 'f', 2, 64), 64)
			return value.FloatRepr(f)
		}
		h.add(h.c.green+count("Success %", pct(good))+h.c.endc, color+count("Failure %", pct(bad))+h.c.endc)
	}
	if warned > 0 {
		h.add(h.c.lightRed + count("Warnings", strconv.Itoa(warned)) + h.c.endc)
	}
	h.add(h.c.cyan + rule + "\nTotal states run: " + rjust(strconv.Itoa(good+bad), width-7) + h.c.endc)
	if h.o.HideProfile {
		return
	}
	total, unit := h.total+h.beside, "ms"
	if total > 999 {
		total, unit = total/1000, "s"
	}
	h.add(h.c.cyan + "Total run time: " + rjust(strconv.FormatFloat(total, 'f', 3, 64), width-5) + " " + unit + h.c.endc)
}
