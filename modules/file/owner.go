package file

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// getGIDArgs are the arguments of getGID, getGroup, getMode, getUID and getUser.
type getGIDArgs struct {
	pathArg
	followArgs
}

func getGID(_ context.Context, c *fun.Call, a *getGIDArgs) (fun.Result, error) {
	return stat(c, a, func(s Stats) value.Value { return int64(s.GID) })
}

func getGroup(_ context.Context, c *fun.Call, a *getGIDArgs) (fun.Result, error) {
	return stat(c, a, func(s Stats) value.Value { return s.Group })
}

func getUID(_ context.Context, c *fun.Call, a *getGIDArgs) (fun.Result, error) {
	return stat(c, a, func(s Stats) value.Value { return int64(s.UID) })
}

func getUser(_ context.Context, c *fun.Call, a *getGIDArgs) (fun.Result, error) {
	return stat(c, a, func(s Stats) value.Value { return s.User })
}

type gidToGroupArgs struct {
	_   fun.Arguments
	GID value.Value `arg:"gid,required,str|int" doc:"ID or name"`
}

func gidToGroup(_ context.Context, c *fun.Call, a *gidToGroupArgs) (fun.Result, error) {
	f := on(c)
	gid, ok := asNumber(a.GID)
	if !ok {
		if gid, ok = f.GroupToGID(a.GID); !ok {
			return fun.Value("")
		}
	}
	return fun.Value(f.GIDToGroup(gid))
}

type groupToGIDArgs struct {
	_     fun.Arguments
	Group value.Value `arg:"group,required" doc:"name or ID"`
}

func groupToGID(_ context.Context, c *fun.Call, a *groupToGIDArgs) (fun.Result, error) {
	f := on(c)
	if gid, ok := f.GroupToGID(a.Group); ok {
		return fun.Value(int64(gid))
	}
	return fun.Value("")
}

type uidToUserArgs struct {
	_   fun.Arguments
	UID value.Value `arg:"uid,required" doc:"user ID"`
}

func uidToUser(_ context.Context, c *fun.Call, a *uidToUserArgs) (fun.Result, error) {
	f := on(c)
	if uid, ok := asNumber(a.UID); ok {
		return fun.Value(f.UIDToUser(uid))
	}
	return fun.Value(a.UID)
}

type userToUIDArgs struct {
	_    fun.Arguments
	User value.Value `arg:"user,required" doc:"name or ID; None is the user brine runs as"`
}

func userToUID(_ context.Context, c *fun.Call, a *userToUIDArgs) (fun.Result, error) {
	f := on(c)
	if uid, ok := f.UserToUID(a.User); ok {
		return fun.Value(int64(uid))
	}
	return fun.Value("")
}
