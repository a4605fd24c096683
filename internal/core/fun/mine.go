package fun

import (
	"context"
	"strings"

	"brine/internal/py/value"
)

// A Mine keeps data of machines for other machines to read: Salt's mine. It is
// safe for concurrent use.
type Mine interface {
	// Mine answers a request. That of MineGet is {function: {id: data}}, that of
	// MineKept {id: {function: data}}; the others are nil.
	Mine(ctx context.Context, req MineRequest) (*value.Map, error)
}

// What is asked of a mine.
const (
	MineGet    = "get"    // the data of machines
	MineKept   = "kept"   // all data of machines, for the controller alone
	MineStore  = "store"  // keep data of this machine
	MineDelete = "delete" // forget one function of this machine
	MineFlush  = "flush"  // forget all data of this machine
)

// A MineRequest is what a machine asks of a mine.
type MineRequest struct {
	Op string
	// ID is the machine that asks: only its own data can be changed, and allow_tgt
	// must name it. "" is the controller, which reads all data and has none.
	ID string
	// JID is the job that asks: the data of machines is gathered once for each.
	// "": data is read as it was last kept.
	JID string

	Tgt     value.Value // of MineGet and MineKept
	TgtType string      // "" is glob
	Funs    []string    // of MineGet; of MineDelete one

	Data  *value.Map // of MineStore: data by function
	Clear bool       // forget what Data does not have
}

// Keys of mine data that not all machines may read. Salt: salt/utils/mine.py.
const (
	MineACL     = "__saltmine_acl__"
	MineACLData = "__data__"
)

// MineFunctions returns the names that the argument fun of mine.get gives, and
// whether the return is by function: a list is, text with one name is not.
func MineFunctions(v value.Value) (names []string, byFunction bool) {
	if l, ok := v.(*value.List); ok {
		for _, x := range l.Items {
			names = append(names, value.Str(x))
		}
		return names, true
	}
	seen := map[string]bool{}
	for s := range strings.SplitSeq(value.Str(v), ",") {
		if s = strings.TrimSpace(s); s != "" && !seen[s] {
			seen[s] = true
			names = append(names, s)
		}
	}
	return names, len(names) > 1
}

// MineShape makes the return of mine.get out of data by function.
func MineShape(data *value.Map, names []string, byFunction bool) *value.Map {
	if byFunction {
		return data
	}
	if len(names) == 1 {
		if m := data.Map(names[0]); m != nil {
			return m
		}
	}
	return value.NewMap(0)
}
