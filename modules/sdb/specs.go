package sdb

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type uriArg struct {
	_   fun.Arguments
	URI value.Value `arg:"uri,required" doc:"sdb://PROFILE/KEY"`
}

type setArgs struct {
	uriArg
	Value value.Value `arg:"value,required,secret" doc:"what is stored"`
}

type hashArgs struct {
	uriArg
	Length int64  `arg:"length" default:"8" doc:"number of characters"`
	Chars  string `arg:"chars" default:"abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)" doc:"characters to choose from"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "delete", Doc: "Delete a value.", Src: "modules/sdb.py delete", Do: remove},
	{
		Name: "get", Doc: "Return a value, or the argument itself if it does not name a profile.", Src: "modules/sdb.py get",
		Do: get,
	},
	{
		Name: "get_or_set_hash", Doc: "Return a value; if there is none, store a random string and return it.", Src: "modules/sdb.py get_or_set_hash",
		Do: getOrSetHash,
	},
	{Name: "set", Doc: "Store a value.", Src: "modules/sdb.py set_", Do: set},
}

// runnerSpecs are the functions of the runner, alphabetically.
var runnerSpecs = []fun.Spec{
	{Name: "delete", Doc: "Delete a value.", Src: "runners/sdb.py delete", Do: remove},
	{Name: "get", Doc: "Return a value, or the argument itself if it does not name a profile.", Src: "runners/sdb.py get", Do: runnerGet},
	{
		Name: "get_or_set_hash", Doc: "Return a value; if there is none, store a random string and return it.", Src: "runners/sdb.py get_or_set_hash",
		Do: getOrSetHash,
	},
	{Name: "set", Doc: "Store a value.", Src: "runners/sdb.py set_", Do: set},
}
