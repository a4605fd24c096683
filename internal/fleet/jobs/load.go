package jobs

import (
	"maps"
	"slices"
	"time"

	"brine/internal/core/redact"
	"brine/internal/py/value"
)

// A Load is what a job was asked to do: Salt's load.
type Load struct {
	JID     string
	Fun     string
	Arg     *value.List // without secrets, as [redact.Args] gives them
	Tgt     value.Value
	TgtType string
	User    string
	Ret     string // names of returners, with commas
	// RetConfig and RetKwargs are the configuration and settings of Ret. A record
	// has them without secrets.
	RetConfig string
	RetKwargs *value.Map
	Runner    bool // the job of a runner function
	Metadata  value.Value
	Minions   []string // all that were matched
	// Fleets are the targets that were reached through masters, by fleet.
	Fleets    map[string][]string
	LeftOut   []string // keyword arguments that Arg leaves out
	Limit     string   // the part of its targets that the run was for: --limit
	OrchJID   string   // job of the orchestration that this one is a step of
	Step      string   // ID of the step; the record does not have it
	PID       int      // process that runs it
	Detached  bool     // it goes on without that process
	Continued bool     // another process has recorded that it began
	// Sources are the commits of the git repositories that files come from.
	Sources *value.List
}

// Map returns the load with Salt's keys.
func (l Load) Map() *value.Map {
	m := value.MapOf(
		"jid", l.JID, "fun", l.Fun, "arg", l.Arg, "tgt", l.Tgt, "tgt_type", l.TgtType, "user", l.User, "ret", l.Ret,
		"Minions", value.Strings(l.Minions...),
	)
	if l.Arg == nil {
		m.Set("arg", value.NewList())
	}
	if l.Metadata != nil {
		m.Set("metadata", l.Metadata)
	}
	if l.RetConfig != "" {
		m.Set("ret_config", l.RetConfig)
	}
	if l.RetKwargs.Len() > 0 {
		m.Set("ret_kwargs", redact.Hide(l.RetKwargs))
	}
	if len(l.LeftOut) > 0 {
		m.Set("left_out", value.Strings(l.LeftOut...))
	}
	if len(l.Fleets) > 0 {
		fleets := value.NewMap(len(l.Fleets))
		for _, name := range slices.Sorted(maps.Keys(l.Fleets)) {
			fleets.Set(name, value.Strings(l.Fleets[name]...))
		}
		m.Set("fleets", fleets)
	}
	if l.Limit != "" {
		m.Set("limit", l.Limit)
	}
	if l.OrchJID != "" {
		m.Set("orchestration_jid", l.OrchJID)
	}
	if l.PID != 0 {
		m.Set("pid", int64(l.PID))
	}
	if l.Detached {
		m.Set("detached", true)
	}
	if l.Sources.Len() > 0 {
		m.Set("sources", l.Sources)
	}
	return m
}

// timeLayout is how Salt prints the moments of jobs.
const timeLayout = "2006, Jan 02 15:04:05.000000"

// JIDTime returns the time of a job id as Salt prints it, such as "2026, Nov 21
// 09:08:07.123456"; "" for an invalid job id. Salt: salt/utils/jid.py
// jid_to_time.
func JIDTime(jid string) string {
	t, ok := Time(jid)
	if !ok {
		return ""
	}
	return t.Format(timeLayout)
}

// ParseTime returns the moment that [JIDTime] has written.
func ParseTime(s string) (time.Time, bool) {
	t, err := time.Parse(timeLayout, s)
	return t, err == nil
}

// Time returns the moment of a job id, in UTC.
func Time(jid string) (time.Time, bool) {
	if !IsJID(jid) {
		return time.Time{}, false
	}
	t, err := time.Parse(jidLayout, jid[:14]+"."+jid[14:])
	return t, err == nil
}

// Format returns a load as the jobs runner shows it.
// Salt: salt/utils/jid.py format_jid_instance.
func Format(jid string, load *value.Map) *value.Map {
	at := func(key string, or value.Value) value.Value {
		if v, ok := load.Get(key); ok {
			return v
		}
		return or
	}
	m := value.MapOf(
		"Function", FunOf(value.Str(at("fun", "unknown-function"))), "Arguments", at("arg", value.NewList()),
		"Target", at("tgt", "unknown-target"), "Target-type", at("tgt_type", "list"), "User", at("user", "root"),
	)
	if md := metadata(load); md != nil {
		m.Set("Metadata", md)
	}
	if limit := load.Str("limit"); limit != "" { // brine's own
		m.Set("Limit", limit)
	}
	m.Set("StartTime", JIDTime(jid))
	if l := load.List("sources"); l.Len() > 0 {
		m.Set("Sources", l)
	}
	return m
}

// metadata returns the metadata of a load: its own, or what was given as a
// keyword argument.
func metadata(load *value.Map) value.Value {
	if v, ok := load.Get("metadata"); ok {
		return v
	}
	l := load.List("arg")
	for i := range l.Len() {
		if kw, ok := l.Items[i].(*value.Map); ok && kw.At("__kwarg__") == true && kw.Has("metadata") {
			return kw.At("metadata")
		}
	}
	return nil
}

// LoadOf returns the load of a record that was read back.
func LoadOf(jid string, m *value.Map) Load {
	l := Load{
		JID: jid, Fun: m.Str("fun"), Arg: m.List("arg"), Tgt: m.At("tgt"), TgtType: m.Str("tgt_type"), User: m.Str("user"), Ret: m.Str("ret"), RetConfig: m.Str("ret_config"), RetKwargs: m.Map("ret_kwargs"),
		Metadata: m.At("metadata"), OrchJID: m.Str("orchestration_jid"), Detached: m.At("detached") == true, Continued: true, Limit: m.Str("limit"),
		Sources: m.List("sources"),
	}
	ids := m.List("Minions")
	for i := range ids.Len() {
		l.Minions = append(l.Minions, value.Str(ids.Items[i]))
	}
	if n, ok := value.AsInt(m.At("pid")); ok {
		l.PID = int(n)
	}
	return l
}
