package sshauth

import (
	"brine/internal/fun"
	"brine/modules/ssh"
)

// keyArgs are the arguments that all functions have behind user.
var keyArgs = []fun.Arg{
	{Name: "enc", Type: fun.Str, Default: "ssh-rsa", Doc: "type of a key that is written without one"},
	{Name: "comment", Type: fun.Str, Default: "", Doc: "comment behind a key that is written without one"},
	{Name: "source", Type: fun.Str, Default: "", Doc: "file of keys, instead of the name: salt://, http://, https:// or file:// URL or a path"},
	{Name: "options", Type: fun.Strs, Doc: "options in front of a key that is written without"},
	{Name: "config", Type: fun.Path, Default: ssh.DefaultKeys, Doc: "file of the keys, from the home directory; %u is the user and %h the home directory"},
	{Name: "fingerprint_hash_type", Type: fun.Str, Doc: "hash of fingerprints: md5, sha1, sha224, sha256, sha384 or sha512; default: sha256"},
}

// Arguments that several functions have.
var (
	nameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "the key: [options] type key [comment], or key [comment]"}
	userArg = fun.Arg{Name: "user", Type: fun.Str, Required: true, Doc: "user whose keys they are"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", State: absent, Src: "states/ssh_auth.py absent",
		Doc:  "Remove authorized keys of a user.",
		Args: []fun.Arg{nameArg, userArg}, Shared: [][]fun.Arg{keyArgs},
	},
	{
		Name: "manage", State: manage, VarKw: true, Src: "states/ssh_auth.py manage",
		Doc: "Give a user the listed keys and no others.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "accepted; the keys are in ssh_keys"},
			{Name: "ssh_keys", Type: fun.Strs, Required: true, Doc: "list of keys"},
			userArg,
		}, Shared: [][]fun.Arg{keyArgs},
	},
	{
		Name: "present", State: present, VarKw: true, Src: "states/ssh_auth.py present",
		Doc:  "Add authorized keys to a user.",
		Args: []fun.Arg{nameArg, userArg}, Shared: [][]fun.Arg{keyArgs},
	},
}
