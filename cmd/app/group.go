package app

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"brine/internal/py/source"
)

// A GroupMode says whether equal results of targets are printed together.
type GroupMode string

// The modes; "" is that of Salt's programs, which print each result by itself.
const (
	GroupAuto   GroupMode = "auto"
	GroupAlways GroupMode = "always"
	GroupNever  GroupMode = "never"
	GroupOn     GroupMode = "on" // --group without a value: GroupAlways
)

var groupModes = []string{string(GroupAuto), string(GroupAlways), string(GroupNever)}

// Register adds --group, which alone means always, and --no-group. The default is
// GroupAuto.
func (m *GroupMode) Register(f *pflag.FlagSet) {
	*m = GroupAuto
	f.Var(m, "group", "print equal results together at the end: auto (of 5 targets or more, where no outputter is asked for), always, never")
	f.Lookup("group").NoOptDefVal = string(GroupOn)
	f.BoolFunc("no-group", "same as --group=never", func(string) error {
		*m = GroupNever
		return nil
	})
	_ = f.MarkHidden("no-group")
}

// GroupFrom is how many targets a job has at least whose equal results are printed
// together by default.
const GroupFrom = 5

// Above returns how many targets a job may have whose results are printed one by one; 0 is
// any number. asked says that an outputter is asked for, salt is the number for Salt's
// programs, and for outputters that are asked for.
func (m GroupMode) Above(asked bool, salt int) int {
	switch {
	case m == GroupNever:
		return 0
	case m == GroupAlways || m == GroupOn:
		return 1
	case m == GroupAuto && !asked:
		return GroupFrom - 1
	}
	return salt
}

// Misplaced returns an error where the first or the last argument of a command is a value
// that was meant for --group, which takes it only behind "=".
func (m GroupMode) Misplaced(args []string) error {
	if m != GroupOn || len(args) == 0 {
		return nil
	}
	for _, word := range []string{args[0], args[len(args)-1]} {
		if slices.Contains(groupModes, word) {
			return &StatusError{Status: ExitUsage, Err: errors.New("--group takes its value behind \"=\""), Hint: "write --group=" + word + ", or --group=always where it is an argument"}
		}
	}
	return nil
}

// String returns the mode.
func (m *GroupMode) String() string { return string(*m) }

// Set reads a mode.
func (m *GroupMode) Set(s string) error {
	switch mode := GroupMode(s); mode {
	case GroupAuto, GroupAlways, GroupNever, GroupOn:
		*m = mode
		return nil
	}
	return fmt.Errorf("%q is none of auto, always, never%s", s, source.DidYouMean(s, groupModes))
}

// Type names the values in help.
func (m *GroupMode) Type() string { return "when" }
