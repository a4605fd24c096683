package aptpkg

import (
	"context"
	"slices"
	"strings"

	"brine/internal/py/value"
)

// simulate returns what act would change, as apt works it out.
func (i *installation) simulate(ctx context.Context) (*value.Map, error) {
	more := []string{"--simulate"}
	holds, err := held(i.env)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(holds, func(n string) bool { return slices.Contains(i.named, n) }) {
		more = append(more, "--allow-change-held-packages") // act releases them
	}
	ret := value.NewMap(0)
	for _, argv := range i.commands(more...) {
		out, err := i.query(ctx, argv...)
		if err != nil {
			return nil, err
		}
		if out.Status != 0 {
			i.errors = append(i.errors, failure(out))
		}
		ret.Update(simulated(out.Stdout))
	}
	return ret, nil
}

// simulated reads what apt-get --simulate says, as CompareDicts of the versions
// before and after: lines such as
//
//	Inst brine-a [1.0] (2.0 repo:stable [amd64])
//	Inst brine-b (1.0 repo:stable [amd64])
//	Remv brine-c [1.0]
//	Purg brine-d [1.0]
func simulated(text string) *value.Map {
	ret := value.NewMap(0)
	for l := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(l)
		if len(f) < 3 {
			continue
		}
		name, old := f[1], ""
		rest := f[2:]
		if strings.HasPrefix(rest[0], "[") {
			old, rest = strings.Trim(rest[0], "[]"), rest[1:]
		}
		switch f[0] {
		case "Inst":
			if len(rest) > 0 && strings.HasPrefix(rest[0], "(") {
				ret.Set(name, value.MapOf("old", old, "new", strings.Trim(rest[0], "()")))
			}
		case "Remv", "Purg":
			ret.Set(name, value.MapOf("new", "", "old", old))
		}
	}
	return ret
}
