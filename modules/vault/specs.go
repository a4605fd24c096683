//go:build !slim

package vault

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type pathArgs struct {
	_    fun.Arguments
	Path string `arg:"path,required" doc:"path of the secret, with the engine: secret/app/db"`
}

type defaultArg struct {
	_       fun.Arguments
	Default value.Value `arg:"default" default:"'<Constant.NOT_SET>'" doc:"what to return if there is no such secret or key; without it, that is an error"`
}

type readArgs struct {
	pathArgs
	Key      value.Value `arg:"key" doc:"return this value of the secret"`
	Metadata bool        `arg:"metadata" default:"False" doc:"of version 2 of KV, return the metadata as well, and the values under data"`
	defaultArg
}

type listArgs struct {
	pathArgs
	defaultArg
}

type writeArgs struct {
	pathArgs
	Data fun.Kwargs `arg:"secret"`
}

type rawArgs struct {
	pathArgs
	Raw *value.Map `arg:"raw,required,secret" doc:"all values of the secret"`
}

type destroyArgs struct {
	pathArgs
	Versions fun.Varargs
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "delete_secret", Doc: "Delete a secret, or the newest version of one.", Src: "modules/vault.py delete_secret", Do: deleteSecret},
	{Name: "destroy_secret", Doc: "Destroy versions of a secret.", Src: "modules/vault.py destroy_secret", Do: destroySecret},
	{Name: "list_secrets", Doc: "Return the names below a path, as keys.", Src: "modules/vault.py list_secrets", Do: listSecrets},
	{Name: "read_secret", Doc: "Return a secret, or one value of it.", Src: "modules/vault.py read_secret", Do: readSecret},
	{Name: "write_raw", Doc: "Write a secret that is given as a dictionary.", Src: "modules/vault.py write_raw", Do: writeRaw},
	{Name: "write_secret", Doc: "Write a secret; its values are the further keyword arguments.", Src: "modules/vault.py write_secret", Do: writeSecret},
}
