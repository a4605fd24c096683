package event

import "brine/internal/py/value"

// trimmed stands where a value was that made an event too large.
const trimmed = "VALUE_TRIMMED"

// trim returns data without its largest values where it takes more than limit bytes:
// those of more than half the limit first, then smaller ones, until it fits.
// Salt: salt/utils/dicttrim.py trim_dict.
func trim(data *value.Map, limit int) *value.Map {
	for tenths := 5; tenths > 0 && value.Outweighs(data, limit); tenths-- {
		data = trimAbove(data, limit/10*tenths, 0)
	}
	return data
}

// trimAbove replaces the values of more than most bytes. data stays as it is.
func trimAbove(data *value.Map, most, depth int) *value.Map {
	out := data
	set := func(k, v value.Value) {
		if out == data {
			out = data.Copy()
		}
		out.Set(k, v)
	}
	for k, v := range data.All() {
		if m, ok := v.(*value.Map); ok && depth < value.MaxDepth {
			if less := trimAbove(m, most, depth+1); less != m {
				set(k, less)
			}
		} else if value.Outweighs(v, most) {
			set(k, trimmed)
		}
	}
	return out
}
