package group

import (
	"context"
	"errors"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// presentLeaves has an overlay have the group that present would make. A number that the
// state does not give is the next free one, as groupadd chooses it.
func presentLeaves(_ context.Context, c *fun.Call, o *host.Overlay) error {
	g, err := o.LookupGroup(c.Name)
	switch {
	case errors.Is(err, host.ErrNoAccount):
		g = host.Group{Name: c.Name, Passwd: "x"}
		if g.GID, err = o.NextID(value.Truth(c.Args.At("system"))); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	if gid, ok := value.AsInt(c.Args.At("gid")); ok {
		g.GID = int(gid)
	}
	g.Members = slices.Clone(g.Members)
	if l := c.Args.List("members"); l != nil {
		g.Members = l.Strs()
	}
	for _, name := range c.Args.List("addusers").Strs() {
		if !slices.Contains(g.Members, name) {
			g.Members = append(g.Members, name)
		}
	}
	gone := c.Args.List("delusers").Strs()
	g.Members = slices.DeleteFunc(g.Members, func(name string) bool { return slices.Contains(gone, name) })
	o.PutGroup(g)
	return nil
}

// absentLeaves takes the group out of an overlay.
func absentLeaves(_ context.Context, c *fun.Call, o *host.Overlay) error {
	o.DropGroup(c.Name)
	return nil
}
