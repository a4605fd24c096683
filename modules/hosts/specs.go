package hosts

import "brine/internal/core/fun"

type ipArg struct {
	_  fun.Arguments
	IP string `arg:"ip,required" doc:"IP address"`
}

type aliasArg struct {
	_     fun.Arguments
	Alias string `arg:"alias,required" doc:"host name"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "add_host", Doc: "Add a host name to an address, which is added if it is missing.", Src: "modules/hosts.py add_host", Do: addHost},
	{Name: "get_alias", Doc: "Return the host names of an address.", Src: "modules/hosts.py get_alias", Do: getAlias},
	{
		Name: "get_ip", Doc: "Return the first address of a host name, or an empty string.", Src: "modules/hosts.py get_ip", Do: getIP,
	},
	{
		Name: "has_pair", Doc: "Return whether an address has a host name.", Src: "modules/hosts.py has_pair", Do: hasPair,
	},
	{Name: "list_hosts", Doc: "Return the host names of all addresses, and the comments.", Src: "modules/hosts.py list_hosts", Do: listHosts},
	{Name: "rm_host", Doc: "Remove a host name from an address.", Src: "modules/hosts.py rm_host", Do: rmHost},
	{
		Name: "set_comment", Doc: "Set the comment of an address; return whether the address is in the file.", Src: "modules/hosts.py set_comment", Do: setComment,
	},
	{
		Name: "set_host", Doc: "Replace the entries of an address. Without names the address is removed.", Src: "modules/hosts.py set_host", Do: setHost,
	},
}
