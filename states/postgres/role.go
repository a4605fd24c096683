package postgres

import (
	"context"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/postgres"
)

func sameFold(a, b string) bool { return strings.EqualFold(a, b) }

type groupPresentArgs struct {
	roleNameArg
	createdbArg
	createrolesArg
	encryptedArg
	superuserArg
	inheritArg
	loginArg
	replicationArg
	passwordArg
	refreshPasswordArg
	groupsArg
	userArg
	maintenanceDBArg
	dbAddress
	dbUserArg
}

// groupPresent creates or changes a role that cannot log in.
// Salt: salt/states/postgres_group.py present.
func groupPresent(ctx context.Context, c *fun.Call, a *groupPresentArgs) fun.Ret {
	s := server(c, &a.dbAddress, a.DBUser, a.MaintenanceDB, a.User)
	return rolePresent(ctx, c, s, "Group", "group", &postgres.RoleArgs{
		Name: a.Name, Inherit: a.Inherit, CreateDB: a.CreateDB, CreateRoles: a.CreateRoles, Superuser: a.Superuser, Replication: a.Replication,
		Login: a.Login, Encrypted: a.Encrypted, Groups: a.Groups,
	}, newPassword{given: a.Password, fresh: a.RefreshPassword})
}

type userPresentArgs struct {
	roleNameArg
	createdbArg
	createrolesArg
	encryptedArg
	superuserArg
	replicationArg
	inheritArg
	loginArg
	passwordArg
	DefaultPassword fun.Opt[string] `arg:"default_password,secret" doc:"password for a new role, where password is not given"`
	refreshPasswordArg
	ValidUntil string `arg:"valid_until" doc:"time until which the password is valid"`
	groupsArg
	userArg
	maintenanceDBArg
	dbAddress
	dbUserArg
}

// userPresent creates or changes a role that can log in.
// Salt: salt/states/postgres_user.py present.
func userPresent(ctx context.Context, c *fun.Call, a *userPresentArgs) fun.Ret {
	s := server(c, &a.dbAddress, a.DBUser, a.MaintenanceDB, a.User)
	return rolePresent(ctx, c, s, "User", "user", &postgres.RoleArgs{
		Name: a.Name, Inherit: a.Inherit, CreateDB: a.CreateDB, CreateRoles: a.CreateRoles, Superuser: a.Superuser, Replication: a.Replication,
		Login: a.Login, Encrypted: a.Encrypted, ValidUntil: a.ValidUntil, Groups: a.Groups,
	}, newPassword{given: a.Password, first: a.DefaultPassword, fresh: a.RefreshPassword})
}

// A newPassword is the arguments about the password of a role.
type newPassword struct {
	given fun.Opt[string]
	first fun.Opt[string] // for a new role, where none is given
	fresh bool            // set it without comparing
}

func rolePresent(ctx context.Context, c *fun.Call, s *postgres.Server, title, kind string, w *postgres.RoleArgs, pass newPassword) fun.Ret {
	want, err := w.Role()
	if err != nil {
		return fun.Fail("%v", err)
	}
	have, err := s.Role(ctx, c.Name, !pass.fresh)
	if err != nil {
		return unasked(c, err, "Failed to create "+kind+" "+c.Name, title+" "+c.Name+" is set to be created")
	}
	if err := pass.set(want, have); err != nil {
		return fun.Fail("%v", err)
	}
	if have == nil {
		if c.Test {
			return would(title + " " + c.Name + " is set to be created")
		}
		ok, err := s.CreateRole(ctx, want, kind)
		return acted(ok, err, "Failed to create "+kind+" "+c.Name, done("The "+kind+" "+c.Name+" has been created", c.Name, "Present"))
	}
	update, err := due(ctx, s, want, have)
	switch {
	case err != nil:
		return fun.Fail("Failed to update %s %s: %v", kind, c.Name, err)
	case update.Len() == 0:
		return is(title + " " + c.Name + " is already present")
	case c.Test:
		ret := would(title + " " + c.Name + " is set to be updated")
		ret.Changes = value.MapOf(c.Name, update)
		return ret
	}
	ok, err := s.UpdateRole(ctx, want)
	return acted(ok, err, "Failed to update "+kind+" "+c.Name, done("The "+kind+" "+c.Name+" has been updated", c.Name, update))
}

// set sets the password that a role is to get, encrypted: none where it has the right
// one.
func (p newPassword) set(want *postgres.Role, have *value.Map) error {
	pass := p.given
	if !pass.Given && have == nil {
		pass = p.first
	}
	if !pass.Given || have != nil && !p.fresh && postgres.Matches(want.Name, pass.V, have.Str("password"), want.Method) {
		return nil
	}
	enc, err := postgres.Encrypt(want.Name, pass.V, want.Method)
	if err != nil || enc == "" {
		return err
	}
	want.Password = &enc
	return nil
}

// due returns what of a role is to be changed, as the changes show it.
func due(ctx context.Context, s *postgres.Server, want *postgres.Role, have *value.Map) (*value.Map, error) {
	update := value.NewMap(4)
	for _, f := range []struct {
		name, key string
		want      *bool
	}{
		{"createdb", "can create databases", want.CreateDB},
		{"inherit", "inherits privileges", want.Inherit},
		{"login", "can login", want.Login},
		{"createroles", "can create roles", want.CreateRole},
		{"replication", "replication", want.Replication},
		{"superuser", "superuser", want.Superuser},
	} {
		if f.want != nil && have.At(f.key) != *f.want {
			update.Set(f.name, *f.want)
		}
	}
	if want.Password != nil {
		update.Set("password", true)
	}
	if want.ValidUntil != "" {
		same, err := sameTime(ctx, s, want.ValidUntil, have.At("expiry time"))
		if err != nil {
			return nil, err
		}
		if !same {
			update.Set("valid_until", want.ValidUntil)
		}
	}
	groups := have.List("groups")
	var missing []string
	for _, g := range want.Groups {
		if groups == nil || !slices.ContainsFunc(groups.Items, func(v value.Value) bool { return v == g }) {
			missing = append(missing, g)
		}
	}
	if len(missing) > 0 {
		update.Set("groups", value.Strings(missing...))
	}
	return update, nil
}

// sameTime asks the server whether a time as it is written is the one it has; a
// time that is none, such as infinity, is None.
func sameTime(ctx context.Context, s *postgres.Server, text string, have value.Value) (bool, error) {
	rows, err := s.Query(ctx, "SELECT "+postgres.Literal(text)+"::timestamp(0) AS dt")
	if err != nil || len(rows) == 0 {
		return false, err
	}
	want, err := time.Parse(time.DateTime, rows[0].Str("dt"))
	if err != nil {
		return have == nil, nil // infinity is not a time
	}
	t, ok := have.(time.Time)
	return ok && t.Equal(want), nil
}

// groupAbsentArgs are the arguments of groupAbsent and userAbsent.
type groupAbsentArgs struct {
	roleNameArg
	userArg
	maintenanceDBArg
	dbAddress
	dbUserArg
}

// groupAbsent removes a role. Salt: salt/states/postgres_group.py absent.
func groupAbsent(ctx context.Context, c *fun.Call, a *groupAbsentArgs) fun.Ret {
	return roleAbsent(ctx, c, a, "Group")
}

// userAbsent removes a role. Salt: salt/states/postgres_user.py absent.
func userAbsent(ctx context.Context, c *fun.Call, a *groupAbsentArgs) fun.Ret {
	return roleAbsent(ctx, c, a, "User")
}

func roleAbsent(ctx context.Context, c *fun.Call, a *groupAbsentArgs, title string) fun.Ret {
	s := server(c, &a.dbAddress, a.DBUser, a.MaintenanceDB, a.User)
	have, err := s.Role(ctx, c.Name, false)
	switch {
	case err != nil:
		return fun.Fail("Failed to look for %s %s: %v", strings.ToLower(title), c.Name, err)
	case have == nil:
		return is(title + " " + c.Name + " is not present, so it cannot be removed")
	case c.Test:
		return would(title + " " + c.Name + " is set to be removed")
	}
	ok, err := s.RemoveRole(ctx, c.Name)
	return acted(ok, err, title+" "+c.Name+" failed to be removed", done(title+" "+c.Name+" has been removed", c.Name, "Absent"))
}

// privilege returns the privilege that a state describes.
func privilege(c *fun.Call, object, objectType, prepend string, privileges []string, option bool) (p *postgres.Privilege, shown string, err error) {
	list := strings.Join(privileges, ",")
	p, err = postgres.NewPrivilege(c.Name, object, objectType, prepend, list, option)
	if err != nil {
		return nil, "", err
	}
	if p.Type == "group" {
		list = p.Object
	}
	return p, list, nil
}

type privilegesPresentArgs struct {
	roleNameArg
	objectNameArg
	objectTypeArg
	privilegesArg
	GrantOption bool `arg:"grant_option" doc:"with the right to pass them on"`
	prependArg
	maintenanceDBArg
	userArg
	dbAddress
	dbUserArg
}

// privilegesPresent grants privileges.
// Salt: salt/states/postgres_privileges.py present.
func privilegesPresent(ctx context.Context, c *fun.Call, a *privilegesPresentArgs) fun.Ret {
	p, shown, err := privilege(c, a.ObjectName, a.ObjectType, a.Prepend, a.Privileges, a.GrantOption)
	if err != nil {
		return fun.Fail("%v", err)
	}
	s := server(c, &a.dbAddress, a.DBUser, a.MaintenanceDB, a.User)
	failed := "Failed to grant privilege(s): " + shown + " to " + c.Name
	granted := "The privilege(s): " + shown + " are set to be granted to " + c.Name
	have, err := s.Has(ctx, p)
	switch {
	case err != nil:
		return unasked(c, err, failed, granted)
	case have:
		return is("The requested privilege(s) are already set")
	case c.Test:
		return would(granted)
	}
	ok, err := s.Grant(ctx, p)
	return acted(ok, err, failed, done("The privilege(s): "+shown+" have been granted to "+c.Name, c.Name, "Present"))
}

type privilegesAbsentArgs struct {
	roleNameArg
	objectNameArg
	objectTypeArg
	privilegesArg
	prependArg
	maintenanceDBArg
	userArg
	dbAddress
	dbUserArg
}

// privilegesAbsent revokes privileges.
// Salt: salt/states/postgres_privileges.py absent.
func privilegesAbsent(ctx context.Context, c *fun.Call, a *privilegesAbsentArgs) fun.Ret {
	p, shown, err := privilege(c, a.ObjectName, a.ObjectType, a.Prepend, a.Privileges, false)
	if err != nil {
		return fun.Fail("%v", err)
	}
	s := server(c, &a.dbAddress, a.DBUser, a.MaintenanceDB, a.User)
	failed := "Failed to revoke privilege(s): " + shown + " from " + c.Name
	have, err := s.Has(ctx, p)
	switch {
	case err != nil:
		return fun.Fail("%s: %v", failed, err)
	case !have:
		return is("The requested privilege(s) are not set so cannot be revoked")
	case c.Test:
		return would("The privilege(s): " + shown + " are set to be revoked from " + c.Name)
	}
	ok, err := s.Revoke(ctx, p)
	return acted(ok, err, failed, done("The privilege(s): "+shown+" have been revoked from "+c.Name, c.Name, "Absent"))
}
