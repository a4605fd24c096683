package hosts

import "brine/internal/fun"

// Arguments that several functions have.
var (
	ipArg    = fun.Arg{Name: "ip", Type: fun.Str, Required: true, Doc: "IP address"}
	aliasArg = fun.Arg{Name: "alias", Type: fun.Str, Required: true, Doc: "host name"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "add_host", Doc: "Add a host name to an address, which is added if it is missing.", Src: "modules/hosts.py add_host", Fn: addHost, Args: []fun.Arg{ipArg, aliasArg}},
	{Name: "get_alias", Doc: "Return the host names of an address.", Src: "modules/hosts.py get_alias", Fn: getAlias, Args: []fun.Arg{ipArg}},
	{
		Name: "get_ip", Doc: "Return the first address of a host name, or an empty string.", Src: "modules/hosts.py get_ip", Fn: getIP,
		Args: []fun.Arg{{Name: "host", Type: fun.Str, Required: true, Doc: "host name"}},
	},
	{
		Name: "has_pair", Doc: "Return whether an address has a host name.", Src: "modules/hosts.py has_pair", Fn: hasPair,
		Args: []fun.Arg{ipArg, {Name: "alias", Type: fun.Strs, Required: true, Doc: "host name, or a list of them"}},
	},
	{Name: "list_hosts", Doc: "Return the host names of all addresses, and the comments.", Src: "modules/hosts.py list_hosts", Fn: listHosts},
	{Name: "rm_host", Doc: "Remove a host name from an address.", Src: "modules/hosts.py rm_host", Fn: rmHost, Args: []fun.Arg{ipArg, aliasArg}},
	{
		Name: "set_comment", Doc: "Set the comment of an address; return whether the address is in the file.", Src: "modules/hosts.py set_comment", Fn: setComment,
		Args: []fun.Arg{ipArg, {Name: "comment", Type: fun.Str, Required: true, Doc: "comment"}},
	},
	{
		Name: "set_host", Doc: "Replace the entries of an address. Without names the address is removed.", Src: "modules/hosts.py set_host", Fn: setHost,
		Args: []fun.Arg{
			ipArg,
			{Name: "alias", Type: fun.Str, Required: true, Doc: "host names, separated by blanks"},
			{Name: "comment", Type: fun.Str, Doc: "comment behind the names"},
		},
	},
}
