// Package disk is Salt's state module "disk": whether file systems are as full as
// they may be.
package disk

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "disk".
func States() fun.Module {
	return fun.Module{Name: "disk", Kind: fun.State, Doc: "Check how full file systems are.", Specs: specs}
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{{
	Name: "status", Doc: "Check how full a file system is.", Src: "states/disk.py status", Do: status,
}}

// A check is one state in progress.
type check struct {
	a        *statusArgs
	c        *fun.Call
	max, min value.Value // int64, or nil
	used     value.Value
	free     value.Value
	data     value.Value
}

// limit reads the argument name; text is what is wrong with it.
func limit(a *statusArgs, name string, given value.Value) (v value.Value, text string) {
	if given == nil {
		return nil, ""
	}
	strip := " %"
	if a.Absolute {
		strip = " KB"
	}
	n, err := strconv.ParseInt(strings.Trim(value.Str(given), strip), 10, 64)
	if err != nil {
		return nil, name + " must be an integer "
	}
	if !a.Absolute && (n < 0 || n > 100) {
		return n, name + " must be in the range [0, 100] "
	}
	return n, ""
}

type statusArgs struct {
	_        fun.Arguments
	_        string      `arg:"name,required" doc:"the mount point, or a directory"`
	Maximum  value.Value `arg:"maximum,str|int|none" unit:"% or KB" doc:"how much may be used"`
	Minimum  value.Value `arg:"minimum,str|int|none" unit:"% or KB" doc:"how much has to be used"`
	Absolute bool        `arg:"absolute" default:"False" doc:"the limits are in kilobytes, not in percent"`
	Free     bool        `arg:"free" default:"False" doc:"the limits are about the space that is free"`
}

// status compares. Salt: salt/states/disk.py status. Difference: the limits for a
// directory are in kilobytes as well; Salt takes them for bytes.
func status(ctx context.Context, c *fun.Call, a *statusArgs) fun.Ret {
	k := &check{c: c, a: a, data: value.NewMap(0)}
	var maxText, minText string
	k.max, maxText = limit(a, "maximum", a.Maximum)
	k.min, minText = limit(a, "minimum", a.Minimum)
	text := maxText + minText
	if low, ok := k.min.(int64); ok {
		if high, ok := k.max.(int64); ok && low >= high {
			text += "minimum must be less than maximum "
		}
	}
	if text != "" {
		return k.ret(fun.Failed, text)
	}
	res, err := c.Env.Exec(ctx, "disk.usage", nil)
	if err != nil {
		return fun.Raise(err)
	}
	all, _ := res.(*value.Map)
	if all == nil {
		return fun.Raise(fun.Errorf("disk.usage returned %s", value.Repr(res)))
	}
	if m := all.Map(c.Name); m != nil {
		return k.mount(m)
	}
	return k.directory()
}

// ret reports with the keys of Salt's order.
func (k *check) ret(result fun.Outcome, comment string) fun.Ret {
	return fun.Ret{
		Result: result, Comment: comment, Extra: value.MapOf("data", k.data),
		Order: []string{"name", "result", "comment", "changes", "data"},
	}
}

// mount checks a file system that df knows by this mount point.
func (k *check) mount(m *value.Map) fun.Ret {
	k.data = m
	number := func(key string) int64 {
		n, _ := strconv.ParseInt(strings.Trim(m.Str(key), "%"), 10, 64)
		return n
	}
	if k.a.Absolute {
		k.used, k.free = number("used"), number("available")
	} else {
		k.used, k.free = number("capacity"), 100-number("capacity")
	}
	return k.compare()
}

// directory checks the file system that a directory is on.
func (k *check) directory() fun.Ret {
	c := k.c
	st, err := c.Env.Host.Stat(c.Name)
	if err != nil || !st.Mode.IsDir() {
		return k.ret(fun.Failed, fmt.Sprintf("Disk mount %[1]s not present. Directory %[1]s does not exist or is not a directory", c.Name))
	}
	fs, err := c.Env.Host.Statfs(c.Name)
	if err != nil {
		return fun.Raise(fun.Errorf("%v", err))
	}
	total, free := int64(fs.Blocks)*fs.BlockSize, int64(fs.Avail)*fs.BlockSize
	k.data = value.MapOf(c.Name, value.MapOf("available", free, "total", total))
	share := func(n int64) value.Value {
		if total == 0 {
			return int64(0)
		}
		v, err := value.Round(float64(n)/float64(total)*100, 1, false)
		if err != nil {
			return 0.0
		}
		return v
	}
	if k.a.Absolute {
		k.used, k.free = (total-free)/1024, free/1024
	} else {
		k.used, k.free = share(total-free), share(free)
	}
	return k.compare()
}

func (k *check) compare() fun.Ret {
	what, have, unit := "used", k.used, "%"
	if k.a.Free {
		what, have = "available", k.free
	}
	if k.a.Absolute {
		unit = "KB"
	}
	for _, l := range []struct {
		op, is string
		limit  value.Value
	}{{"<", "below minimum", k.min}, {">", "above maximum", k.max}} {
		if l.limit == nil {
			continue
		}
		if out, err := value.Compare(l.op, have, l.limit); err == nil && out {
			return k.ret(fun.Failed, fmt.Sprintf("Disk %s space is %s of %s %s at %s %s", what, l.is, value.Str(l.limit), unit, value.Str(have), unit))
		}
	}
	return k.ret(fun.OK, "Disk used space in acceptable range")
}
