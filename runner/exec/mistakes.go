package exec

import (
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A Mistake is an argument that a run accepts, warns of, and does not use as its author
// meant.
type Mistake struct {
	Arg  string
	Text string // what the run warns of
}

// Mistakes returns those of the arguments retry, onlyif, unless, creates and check_cmd of
// a state, and of its slots. known says which values are known before a run: others are
// left out.
func Mistakes(c *fun.Chunk, known func(value.Value) bool) []Mistake {
	var out []Mistake
	add := func(arg, text string) {
		if text != "" {
			out = append(out, Mistake{arg, text})
		}
	}
	if v, ok := c.Low.Get("retry"); ok && known(v) {
		_, mistakes := readRetry(v)
		for _, text := range mistakes {
			add("retry", text)
		}
	}
	for _, kind := range []string{"onlyif", "unless", "creates", "check_cmd"} {
		v, ok := c.Low.Get(kind)
		if !ok || !known(v) {
			continue
		}
		if kind != "check_cmd" {
			add(kind, emptyCondition(kind, v))
		}
		if kind == "creates" {
			add(kind, badEntry(kind, v))
			continue
		}
		for _, entry := range items(v) {
			add(kind, badEntry(kind, entry))
		}
	}
	for _, s := range Slots(c) {
		if known(s.Text) {
			_, _, _, mistake := readSlot(s.Text)
			add(s.Arg, mistake)
		}
	}
	return out
}

// A Slot is text in an argument of a state that the result of a function replaces
// when the state runs.
type Slot struct{ Arg, Text string }

// Function returns the execution function that the slot calls; "" if it is malformed.
func (s Slot) Function() string {
	name, _, _, _ := readSlot(s.Text)
	return name
}

// Slots returns the slots of a state.
func Slots(c *fun.Chunk) []Slot {
	var out []Slot
	for k, v := range c.Low.All() {
		if key, ok := k.(string); ok && hasSlot(v) && mayHaveSlots(key) {
			out = appendSlots(out, key, v)
		}
	}
	return out
}

// appendSlots adds the slots that fill would fill.
func appendSlots(out []Slot, arg string, v value.Value) []Slot {
	switch v := v.(type) {
	case string:
		if isSlot(v) {
			out = append(out, Slot{arg, v})
		}
	case *value.Map:
		for _, x := range v.All() {
			if isSlot(x) {
				out = append(out, Slot{arg, x.(string)})
			}
		}
	case *value.List:
		for _, x := range v.Items {
			if _, ok := x.(*value.List); !ok {
				out = appendSlots(out, arg, x)
			}
		}
	}
	return out
}

// emptyCondition says what is wrong with a condition that is an empty list; "" is
// nothing.
func emptyCondition(kind string, v value.Value) string {
	if l, ok := v.(*value.List); ok && l.Len() == 0 {
		return kind + " is an empty list; the state runs"
	}
	return ""
}

// badEntry says what is wrong with an entry of onlyif, unless or check_cmd, or with
// creates; "" is nothing.
func badEntry(kind string, entry value.Value) string {
	text := func(what string) string { return fmt.Sprintf("%s is %s, %s", kind, value.Repr(entry), what) }
	switch e := entry.(type) {
	case string:
		return ""
	case *value.Map:
		if e.Has("fun") && (kind == "onlyif" || kind == "unless") {
			return ""
		}
		if kind == "onlyif" || kind == "unless" {
			return "an entry of " + kind + " has no `fun`; the state runs"
		}
	case *value.List:
		if kind == "creates" {
			return ""
		}
	}
	switch kind {
	case "onlyif":
		return text("neither a command nor a function; the state runs")
	case "unless":
		return text("neither a command nor a function; it is ignored")
	case "creates":
		return text("neither a path nor a list of paths; it is ignored")
	}
	return text("not a command")
}
