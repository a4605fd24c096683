package star

import (
	"go.starlark.net/starlark"

	"brine/internal/core/python/wire"
	"brine/internal/py/value"
)

// A shared is the dict __context__ of a run, and what other languages have of it:
// nothing that a module keeps freezes it.
type shared struct {
	*starlark.Dict
	known map[string]string // as JSON
	due   []update          // what could not be taken while the dict was walked through
}

// An update is what others have made of a key.
type update struct {
	key     string
	deleted bool
	v       value.Value
}

func newShared() *shared {
	return &shared{Dict: starlark.NewDict(0), known: map[string]string{}}
}

// Freeze does nothing.
func (*shared) Freeze() {}

// used reports whether there is anything that others may have, or may have had.
func (s *shared) used() bool { return s.Len() > 0 || len(s.known) > 0 }

// take takes what others have changed, as news tells it.
func (s *shared) take(news *value.Map) {
	if gone := news.List("gone"); gone != nil {
		for _, k := range gone.Items {
			s.due = append(s.due, update{key: value.Str(k), deleted: true})
		}
	}
	for k, v := range news.Map("set").All() {
		s.due = append(s.due, update{key: value.Str(k), v: v})
	}
	for len(s.due) > 0 && s.apply(s.due[0]) {
		s.due = s.due[1:]
	}
}

// apply reports whether the dict could be changed.
func (s *shared) apply(u update) bool {
	key := starlark.String(u.key)
	if u.deleted {
		if _, _, err := s.Delete(key); err != nil {
			return false
		}
		delete(s.known, u.key)
		return true
	}
	v, err := toStarlark(u.v)
	if err != nil {
		return true // Starlark has no such value
	}
	if s.SetKey(key, v) != nil {
		return false
	}
	if _, text, err := share(v, wire.MaxShared); err == nil {
		s.known[u.key] = text
	}
	return true
}

// changes tells what has changed since the last time, of the values that can be sent.
func (s *shared) changes() *value.Map {
	room, now := wire.MaxShared, map[string]string{}
	changed, gone := value.NewMap(4), &value.List{}
	for k, v := range s.Entries() {
		key, ok := starlark.AsString(k)
		if !ok || key == "retcode" { // which goes with the answer of a function
			continue
		}
		data, text, err := share(v, room)
		if err != nil || len(key)+len(text) > room {
			continue
		}
		room -= len(key) + len(text)
		now[key] = text
		if s.known[key] != text {
			changed.Set(key, data)
		}
	}
	for key := range s.known {
		if _, ok := now[key]; !ok {
			gone.Append(key)
		}
	}
	s.known = now
	return value.MapOf("set", changed, "gone", gone)
}

// share returns a value as others get it, and as JSON. One that is not data, or takes
// more than the room in bytes, is an error.
func share(v starlark.Value, room int) (value.Value, string, error) {
	u := unloader{items: room, bytes: room}
	data, err := u.value(v, 0)
	if err != nil {
		return nil, "", err
	}
	packed, err := wire.Pack(data)
	if err != nil {
		return nil, "", err
	}
	return data, string(value.EncodeJSON(packed)), nil
}
