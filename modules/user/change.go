package user

import (
	"context"

	"brine/internal/fun"
	"brine/internal/value"
)

// done is the return of a change; one that failed has the exit status of the
// tool.
func (a *Admin) done(ok bool, err error) (fun.Result, error) {
	res := fun.Result{Value: ok}
	if !ok {
		res.Retcode = a.Status
	}
	return res, err
}

type addArgs struct {
	nameArg
	UID        value.Value `arg:"uid,int" doc:"user ID"`
	GID        value.Value `arg:"gid,str|int" doc:"primary group, by name or ID"`
	Groups     []string    `arg:"groups,comma[str]" doc:"supplementary groups"`
	Home       value.Value `arg:"home,path" doc:"home directory"`
	Shell      string      `arg:"shell" doc:"login shell"`
	Unique     bool        `arg:"unique" default:"True" doc:"refuse an ID already in use"`
	System     bool        `arg:"system" default:"False" doc:"create a system account"`
	Fullname   string      `arg:"fullname" default:"" doc:"full name"`
	Roomnumber string      `arg:"roomnumber" default:"" doc:"room number"`
	Workphone  string      `arg:"workphone" default:"" doc:"work phone number"`
	Homephone  string      `arg:"homephone" default:"" doc:"home phone number"`
	Other      string      `arg:"other" default:"" doc:"other personal data"`
	Createhome bool        `arg:"createhome" default:"True" doc:"create the home directory"`
	Loginclass string      `arg:"loginclass" doc:"login class, on OpenBSD only"`
	Nologinit  bool        `arg:"nologinit" default:"False" doc:"keep the user out of lastlog and faillog"`
	rootArg
	Usergroup value.Value `arg:"usergroup,bool" doc:"True: create a group of the same name; False: do not"`
}

func add(ctx context.Context, c *fun.Call, args *addArgs) (fun.Result, error) {
	n := New{
		Name: args.Name, UID: args.UID, GID: args.GID, Groups: args.Groups, Shell: args.Shell,
		Unique: args.Unique, System: args.System, CreateHome: args.Createhome, NoLogInit: args.Nologinit,
		UserGroup: args.Usergroup, Fullname: args.Fullname, Room: args.Roomnumber,
		WorkPhone: args.Workphone, HomeTel: args.Homephone, Other: args.Other, LoginClass: args.Loginclass,
	}
	if v := args.Home; v != nil {
		s := value.Str(v)
		n.Home = &s
	}
	a := NewAdmin(c)
	return a.done(a.Add(ctx, n))
}

type removeArgs struct {
	nameArg
	Remove bool `arg:"remove" default:"False" doc:"also delete home directory and mail"`
	Force  bool `arg:"force" default:"False" doc:"delete a user who is logged in"`
	rootArg
	fun.SystemPath
}

func remove(ctx context.Context, c *fun.Call, args *removeArgs) (fun.Result, error) {
	a := NewAdmin(c)
	return a.done(a.Delete(ctx, args.Name, args.Remove, args.Force))
}

type renameArgs struct {
	nameArg
	NewName string `arg:"new_name,required" doc:"the new name"`
	rootArg
}

func rename(ctx context.Context, c *fun.Call, args *renameArgs) (fun.Result, error) {
	a := NewAdmin(c)
	return a.done(a.Rename(ctx, args.Name, args.NewName))
}

type chgroupsArgs struct {
	nameArg
	Groups []string `arg:"groups,required,comma[str]" doc:"the groups"`
	Append bool     `arg:"append" default:"False" doc:"keep the groups that the user has"`
	rootArg
}

func chgroups(ctx context.Context, c *fun.Call, args *chgroupsArgs) (fun.Result, error) {
	a := NewAdmin(c)
	return a.done(a.SetGroups(ctx, args.Name, args.Groups, args.Append))
}

type chhomeArgs struct {
	nameArg
	Home    string `arg:"home,required,path" doc:"the directory"`
	Persist bool   `arg:"persist" default:"False" doc:"move the content of the old one"`
	rootArg
	fun.SystemPath
}

func chhome(ctx context.Context, c *fun.Call, args *chhomeArgs) (fun.Result, error) {
	a := NewAdmin(c)
	return a.done(a.SetHome(ctx, args.Name, args.Home, args.Persist))
}

// setGecos sets one of the personal data, the argument of that name.
func setGecos(ctx context.Context, c *fun.Call, key string) (fun.Result, error) {
	a := NewAdmin(c)
	return a.done(a.SetGecos(ctx, c.Str("name"), key, c.Str(key)))
}

type chfullnameArgs struct {
	nameArg
	_ value.Value `arg:"fullname,required,str|none" doc:"the full name"`
	rootArg
}

func chfullname(ctx context.Context, c *fun.Call, _ *chfullnameArgs) (fun.Result, error) {
	return setGecos(ctx, c, "fullname")
}

type chhomephoneArgs struct {
	nameArg
	_ value.Value `arg:"homephone,required,str|none" doc:"the number"`
	rootArg
}

func chhomephone(ctx context.Context, c *fun.Call, _ *chhomephoneArgs) (fun.Result, error) {
	return setGecos(ctx, c, "homephone")
}

type chotherArgs struct {
	nameArg
	_ value.Value `arg:"other,required,str|none" doc:"the data"`
	rootArg
}

func chother(ctx context.Context, c *fun.Call, _ *chotherArgs) (fun.Result, error) {
	return setGecos(ctx, c, "other")
}

type chroomnumberArgs struct {
	nameArg
	_ value.Value `arg:"roomnumber,required,str|none" doc:"the room number"`
	rootArg
}

func chroomnumber(ctx context.Context, c *fun.Call, _ *chroomnumberArgs) (fun.Result, error) {
	return setGecos(ctx, c, "roomnumber")
}

type chworkphoneArgs struct {
	nameArg
	_ value.Value `arg:"workphone,required,str|none" doc:"the number"`
	rootArg
}

func chworkphone(ctx context.Context, c *fun.Call, _ *chworkphoneArgs) (fun.Result, error) {
	return setGecos(ctx, c, "workphone")
}

// set sets one thing of user.info, the argument of that name, by a flag of usermod.
func set(ctx context.Context, c *fun.Call, key, flag string) (fun.Result, error) {
	v := c.Value(key)
	a := NewAdmin(c)
	return a.done(a.Set(ctx, c.Str("name"), key, v, flag, value.Str(v)))
}

type chgidArgs struct {
	nameArg
	GID value.Value `arg:"gid,required,str|int" doc:"name or ID of the group"`
	rootArg
}

func chgid(ctx context.Context, c *fun.Call, args *chgidArgs) (fun.Result, error) {
	a := NewAdmin(c)
	return a.done(a.SetGID(ctx, args.Name, args.GID))
}

type chshellArgs struct {
	nameArg
	_ string `arg:"shell,required" doc:"the shell"`
	rootArg
}

func chshell(ctx context.Context, c *fun.Call, _ *chshellArgs) (fun.Result, error) {
	return set(ctx, c, "shell", "-s")
}

type chuidArgs struct {
	nameArg
	_ int64 `arg:"uid,required" doc:"the user ID"`
	rootArg
}

func chuid(ctx context.Context, c *fun.Call, _ *chuidArgs) (fun.Result, error) {
	return set(ctx, c, "uid", "-u")
}

type chloginclassArgs struct {
	nameArg
	Loginclass string `arg:"loginclass,required" doc:"the login class"`
	rootArg
}

func chloginclass(ctx context.Context, c *fun.Call, args *chloginclassArgs) (fun.Result, error) {
	a := NewAdmin(c)
	if !a.OpenBSD {
		return fun.Value(false)
	}
	return a.done(a.SetLoginClass(ctx, args.Name, args.Loginclass))
}

func getLoginclass(ctx context.Context, c *fun.Call, args *nameArg) (fun.Result, error) {
	a := NewAdmin(c)
	if !a.OpenBSD {
		return fun.Value(false)
	}
	class, err := a.LoginClass(ctx, args.Name)
	return fun.Result{Value: class}, err
}
