package rabbitmq

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/rabbitmq"
)

// A grant is what a user may do in a virtual host.
type grant struct{ vhost, configure, write, read string }

func (g *grant) value() *value.Map {
	return value.MapOf("configure", g.configure, "write", g.write, "read", g.read)
}

// grants reads the argument perms: mappings of a virtual host to three patterns.
func grants(a *userPresentArgs) ([]grant, error) {
	var out []grant
	for _, item := range a.Perms {
		m, ok := item.(*value.Map)
		if !ok {
			continue
		}
		for k, v := range m.All() {
			three, ok := v.(*value.List)
			if !ok || len(three.Items) != 3 {
				return nil, fun.Errorf("perms of virtual host '%s' must be a list of three patterns: configure, write and read, not %s", value.Str(k), value.Repr(v))
			}
			g := grant{vhost: value.Str(k)}
			for i, to := range []*string{&g.configure, &g.write, &g.read} {
				if p := three.Items[i]; p != nil {
					*to = value.Str(p)
				}
			}
			out = append(out, g)
		}
	}
	return out, nil
}

// A plan is what of a user is to change.
type plan struct {
	changes *value.Map
	acts    []func(context.Context) (string, error)
}

func (p *plan) add(key string, change *value.Map, act func(context.Context) (string, error)) {
	p.changes.Set(key, change)
	p.acts = append(p.acts, act)
}

type userPresentArgs struct {
	_        fun.Arguments
	Name     string          `arg:"name,required" doc:"name of the user"`
	Password fun.Opt[string] `arg:"password,secret" doc:"password"`
	Force    bool            `arg:"force" default:"False" doc:"set the password without looking whether it is right"`
	Tags     value.Value     `arg:"tags,list[str]" doc:"tags; text is split at blanks"`
	Perms    []value.Value   `arg:"perms,list[dict]" doc:"mappings of a virtual host to three patterns: configure, write and read"`
	Runas    string          `arg:"runas" doc:"account that runs the program"`
}

// userPresent makes sure that a user is there, with a password, tags and
// permissions. Salt: salt/states/rabbitmq_user.py present.
func userPresent(ctx context.Context, c *fun.Call, a *userPresentArgs) fun.Ret {
	b, name := rabbitmq.ClientOf(c, a.Runas), a.Name
	perms, err := grants(a)
	if err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	all, err := b.Users(ctx)
	if err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	p := &plan{changes: value.NewMap(3)}
	current, there := all.Get(name)
	if !there {
		p.changes.Set("user", value.MapOf("old", "", "new", name))
		if c.Test {
			return fun.Ret{Result: fun.WouldChange, Comment: "User '" + name + "' is set to be created.", Changes: p.changes}
		}
		if _, err := b.AddUser(ctx, name, password(a)); err != nil {
			return fun.FailedBy(err, "Error: ")
		}
		current = value.NewList()
	} else if err := planPassword(ctx, a, b, p); err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	if there && !a.Force && len(perms) == 0 && len(fun.ItemsOf(a.Tags)) == 0 && len(p.acts) == 0 {
		return fun.Report(fun.OK, nil, "User '"+name+"' is already present.")
	}
	if err := planRights(ctx, a, b, p, current, perms); err != nil {
		return partly(p, there, err)
	}
	switch {
	case p.changes.Len() == 0:
		return fun.Report(fun.OK, nil, "'"+name+"' is already in the desired state.")
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Configuration for '" + name + "' will change.", Changes: p.changes}
	}
	for _, act := range p.acts {
		if _, err := act(ctx); err != nil {
			return partly(p, there, err)
		}
	}
	return fun.Ret{Result: fun.OK, Comment: "'" + name + "' was configured.", Changes: p.changes}
}

// partly reports a failure after which the user may have been created.
func partly(p *plan, there bool, err error) fun.Ret {
	ret := fun.FailedBy(err, "Error: ")
	if user, ok := p.changes.Get("user"); ok && !there {
		ret.Changes = value.MapOf("user", user)
	}
	return ret
}

func password(a *userPresentArgs) *string {
	if !a.Password.Given {
		return nil
	}
	s := a.Password.V
	return &s
}

// planPassword notes the change of the password of a user who is there.
func planPassword(ctx context.Context, a *userPresentArgs, b *rabbitmq.Client, p *plan) error {
	name, want := a.Name, password(a)
	if want == nil {
		if a.Force {
			p.add("password", value.MapOf("old", "Removed password.", "new", ""),
				func(ctx context.Context) (string, error) { return b.ClearPassword(ctx, name) })
		}
		return nil
	}
	if !a.Force {
		if ok, err := b.CheckPassword(ctx, name, *want); ok || err != nil {
			return err
		}
	}
	p.add("password", value.MapOf("old", "", "new", "Set password."),
		func(ctx context.Context) (string, error) { return b.ChangePassword(ctx, name, *want) })
	return nil
}

// planRights notes the changes of tags and permissions.
func planRights(ctx context.Context, a *userPresentArgs, b *rabbitmq.Client, p *plan, current value.Value, perms []grant) error {
	name := a.Name
	if a.Tags != nil {
		tags := strings.Fields(strings.Join(fun.StringsOf(a.Tags), " "))
		l, _ := current.(*value.List)
		if have := l.Strs(); !sameSet(have, tags) {
			p.add("tags", value.MapOf("old", value.Strings(have...), "new", value.Strings(tags...)),
				func(ctx context.Context) (string, error) { return b.SetUserTags(ctx, name, tags) })
		}
	}
	if len(perms) == 0 {
		return nil
	}
	existing, err := b.UserPermissions(ctx, name)
	if err != nil {
		return err
	}
	was, will := value.NewMap(0), value.NewMap(len(perms))
	for _, g := range perms {
		have, ok := existing.Get(g.vhost)
		if ok && value.Equal(have, g.value()) {
			continue
		}
		if ok {
			was.Set(g.vhost, have)
		}
		will.Set(g.vhost, g.value())
		p.acts = append(p.acts, func(ctx context.Context) (string, error) {
			return b.SetPermissions(ctx, g.vhost, name, g.configure, g.write, g.read)
		})
	}
	if will.Len() == 0 {
		return nil
	}
	change := value.NewMap(2)
	if was.Len() > 0 {
		change.Set("old", was)
	}
	change.Set("new", will)
	p.changes.Set("perms", change)
	return nil
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

type userAbsentArgs struct {
	_     fun.Arguments
	Name  string `arg:"name,required" doc:"name of the user"`
	Runas string `arg:"runas" doc:"account that runs the program"`
}

// userAbsent makes sure that a user is not there.
// Salt: salt/states/rabbitmq_user.py absent.
func userAbsent(ctx context.Context, c *fun.Call, a *userAbsentArgs) fun.Ret {
	b, name := rabbitmq.ClientOf(c, a.Runas), a.Name
	all, err := b.Users(ctx)
	changes := value.MapOf("name", value.MapOf("old", name, "new", ""))
	switch {
	case err != nil:
		return fun.FailedBy(err, "Error: ")
	case !all.Has(name):
		return fun.Report(fun.OK, nil, "The user '"+name+"' is not present.")
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "The user '" + name + "' will be removed.", Changes: changes}
	}
	if _, err := b.DeleteUser(ctx, name); err != nil {
		return fun.FailedBy(err, "Error: ")
	}
	return fun.Ret{Result: fun.OK, Comment: "The user '" + name + "' was removed.", Changes: changes}
}
