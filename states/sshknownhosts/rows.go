package sshknownhosts

import "brine/internal/fun"

// Arguments that several functions have.
var (
	nameArg   = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name or address of the host"}
	userArg   = fun.Arg{Name: "user", Type: fun.Str, Doc: "user whose known hosts they are; default: those of the system"}
	configArg = fun.Arg{Name: "config", Type: fun.Path, Doc: "file of the known hosts; default: .ssh/known_hosts in the home directory of user, else /etc/ssh/ssh_known_hosts"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", State: absent, Src: "states/ssh_known_hosts.py absent",
		Doc:  "Remove a host from the known hosts.",
		Args: []fun.Arg{nameArg, userArg, configArg},
	},
	{
		Name: "present", State: present, Src: "states/ssh_known_hosts.py present",
		Doc: "Make a host known.\nWith key, that is its key. Else the host is asked for its keys, and with fingerprint one of them has to have it.",
		Args: []fun.Arg{
			nameArg, userArg,
			{Name: "fingerprint", Type: fun.Str, Doc: "fingerprint that one of the keys has to have, as pairs of hexadecimal digits"},
			{Name: "key", Type: fun.Str, Doc: "key of the host in base64"},
			{Name: "port", Type: fun.Int, Doc: "port of the host; it needs hash_known_hosts: False"},
			{Name: "enc", Type: fun.Str, Doc: "type of the key"},
			configArg,
			{Name: "hash_known_hosts", Type: fun.Bool, Default: true, Doc: "write the name of the host as a hash"},
			{Name: "timeout", Type: fun.Duration, Default: int64(5), Unit: "s", Doc: "time to wait for the host"},
			{Name: "fingerprint_hash_type", Type: fun.Str, Doc: "hash of fingerprints: md5, sha1, sha224, sha256, sha384 or sha512; default: sha256"},
		},
	},
}
