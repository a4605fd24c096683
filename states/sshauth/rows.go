package sshauth

import (
	"brine/internal/core/fun"
)

// keyArgs are the arguments that all functions have behind user.
type keyArgs struct {
	_                   fun.Arguments
	Enc                 string   `arg:"enc" default:"ssh-rsa" doc:"type of a key that is written without one"`
	Comment             string   `arg:"comment" default:"" doc:"comment behind a key that is written without one"`
	Source              string   `arg:"source" default:"" doc:"file of keys, instead of the name: salt://, http://, https:// or file:// URL or a path"`
	Options             []string `arg:"options" doc:"options in front of a key that is written without"`
	Config              string   `arg:"config,path" default:".ssh/authorized_keys" doc:"file of the keys, from the home directory; %u is the user and %h the home directory"`
	FingerprintHashType string   `arg:"fingerprint_hash_type" doc:"hash of fingerprints: md5, sha1, sha224, sha256, sha384 or sha512; default: sha256"`
}

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"the key: [options] type key [comment], or key [comment]"`
}

type userArg struct {
	_    fun.Arguments
	User string `arg:"user,required" doc:"user whose keys they are"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", Do: absent, Files: true, Src: "states/ssh_auth.py absent",
		Doc: "Remove authorized keys of a user.",
	},
	{
		Name: "manage", Do: manage, Files: true, Src: "states/ssh_auth.py manage",
		Doc: "Give a user the listed keys and no others.",
	},
	{
		Name: "present", Do: present, Files: true, Src: "states/ssh_auth.py present",
		Doc: "Add authorized keys to a user.",
	},
}
