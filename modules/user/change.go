package user

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

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
	a := args.admin(c)
	return a.Changed(a.Add(ctx, n))
}

type removeArgs struct {
	nameArg
	Remove bool `arg:"remove" default:"False" doc:"also delete home directory and mail"`
	Force  bool `arg:"force" default:"False" doc:"delete a user who is logged in"`
	rootArg
	fun.SystemPath
}

func remove(ctx context.Context, c *fun.Call, args *removeArgs) (fun.Result, error) {
	a := args.admin(c)
	return a.Changed(a.Delete(ctx, args.Name, args.Remove, args.Force))
}

type renameArgs struct {
	nameArg
	NewName string `arg:"new_name,required" doc:"the new name"`
	rootArg
}

func rename(ctx context.Context, c *fun.Call, args *renameArgs) (fun.Result, error) {
	a := args.admin(c)
	return a.Changed(a.Rename(ctx, args.Name, args.NewName))
}

type chgroupsArgs struct {
	nameArg
	Groups []string `arg:"groups,required,comma[str]" doc:"the groups"`
	Append bool     `arg:"append" default:"False" doc:"keep the groups that the user has"`
	rootArg
}

func chgroups(ctx context.Context, c *fun.Call, args *chgroupsArgs) (fun.Result, error) {
	a := args.admin(c)
	return a.Changed(a.SetGroups(ctx, args.Name, args.Groups, args.Append))
}

type chhomeArgs struct {
	nameArg
	Home    string `arg:"home,required,path" doc:"the directory"`
	Persist bool   `arg:"persist" default:"False" doc:"move the content of the old one"`
	rootArg
	fun.SystemPath
}

func chhome(ctx context.Context, c *fun.Call, args *chhomeArgs) (fun.Result, error) {
	a := args.admin(c)
	return a.Changed(a.SetHome(ctx, args.Name, args.Home, args.Persist))
}

// setGecos sets one of the personal data.
func setGecos(ctx context.Context, a *Admin, name, key, v string) (fun.Result, error) {
	return a.Changed(a.SetGecos(ctx, name, key, v))
}

type chfullnameArgs struct {
	nameArg
	Fullname string `arg:"fullname,required,str|none" doc:"the full name"`
	rootArg
}

func chfullname(ctx context.Context, c *fun.Call, args *chfullnameArgs) (fun.Result, error) {
	return setGecos(ctx, args.admin(c), args.Name, "fullname", args.Fullname)
}

type chhomephoneArgs struct {
	nameArg
	Homephone string `arg:"homephone,required,str|none" doc:"the number"`
	rootArg
}

func chhomephone(ctx context.Context, c *fun.Call, args *chhomephoneArgs) (fun.Result, error) {
	return setGecos(ctx, args.admin(c), args.Name, "homephone", args.Homephone)
}

type chotherArgs struct {
	nameArg
	Other string `arg:"other,required,str|none" doc:"the data"`
	rootArg
}

func chother(ctx context.Context, c *fun.Call, args *chotherArgs) (fun.Result, error) {
	return setGecos(ctx, args.admin(c), args.Name, "other", args.Other)
}

type chroomnumberArgs struct {
	nameArg
	Roomnumber string `arg:"roomnumber,required,str|none" doc:"the room number"`
	rootArg
}

func chroomnumber(ctx context.Context, c *fun.Call, args *chroomnumberArgs) (fun.Result, error) {
	return setGecos(ctx, args.admin(c), args.Name, "roomnumber", args.Roomnumber)
}

type chworkphoneArgs struct {
	nameArg
	Workphone string `arg:"workphone,required,str|none" doc:"the number"`
	rootArg
}

func chworkphone(ctx context.Context, c *fun.Call, args *chworkphoneArgs) (fun.Result, error) {
	return setGecos(ctx, args.admin(c), args.Name, "workphone", args.Workphone)
}

type chgidArgs struct {
	nameArg
	GID value.Value `arg:"gid,required,str|int" doc:"name or ID of the group"`
	rootArg
}

func chgid(ctx context.Context, c *fun.Call, args *chgidArgs) (fun.Result, error) {
	a := args.admin(c)
	return a.Changed(a.SetGID(ctx, args.Name, args.GID))
}

type chshellArgs struct {
	nameArg
	Shell string `arg:"shell,required" doc:"the shell"`
	rootArg
}

func chshell(ctx context.Context, c *fun.Call, args *chshellArgs) (fun.Result, error) {
	a := args.admin(c)
	return a.Changed(a.Set(ctx, args.Name, "shell", args.Shell, "-s", args.Shell))
}

type chuidArgs struct {
	nameArg
	UID int64 `arg:"uid,required" doc:"the user ID"`
	rootArg
}

func chuid(ctx context.Context, c *fun.Call, args *chuidArgs) (fun.Result, error) {
	a := args.admin(c)
	return a.Changed(a.Set(ctx, args.Name, "uid", args.UID, "-u", value.Str(args.UID)))
}

type chloginclassArgs struct {
	nameArg
	Loginclass string `arg:"loginclass,required" doc:"the login class"`
	rootArg
}

func chloginclass(ctx context.Context, c *fun.Call, args *chloginclassArgs) (fun.Result, error) {
	a := args.admin(c)
	if !a.OpenBSD {
		return fun.Value(false)
	}
	return a.Changed(a.SetLoginClass(ctx, args.Name, args.Loginclass))
}

func getLoginclass(ctx context.Context, c *fun.Call, args *nameArg) (fun.Result, error) {
	a := NewAdmin(c)
	if !a.OpenBSD {
		return fun.Value(false)
	}
	class, err := a.LoginClass(ctx, args.Name)
	return fun.Result{Value: class}, err
}
