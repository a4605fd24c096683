package grains

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type keyArg struct {
	_   fun.Arguments
	Key string `arg:"key,required" doc:"name of the grain; the delimiter separates nested keys"`
}

type pathArg struct {
	_   fun.Arguments
	Key value.Value `arg:"key,required,str|int|list" doc:"name of the grain; the delimiter separates nested keys"`
}

type valArg struct {
	_   fun.Arguments
	Val value.Value `arg:"val,required" doc:"the value"`
}

type delimiterArgs struct {
	_         fun.Arguments
	Delimiter string `arg:"delimiter" default:":" doc:"separates nested keys"`
}

type destructiveArgs struct {
	_           fun.Arguments
	Destructive bool `arg:"destructive" default:"False" doc:"delete keys that are set to None"`
}

type refreshArgs struct {
	_ fun.Arguments
	_ bool `arg:"refresh_pillar" default:"True" doc:"accepted; the pillar of a run is rendered when it is read"`
}

type forceArgs struct {
	_     fun.Arguments
	Force bool `arg:"force" default:"False" doc:"also replace mappings and lists"`
}

type getArgs struct {
	_         fun.Arguments
	Key       value.Value `arg:"key,required,str|int|list" doc:"name of the grain; the delimiter separates nested keys"`
	Default   value.Value `arg:"default" default:"''" doc:"returned if the grain does not exist"`
	Delimiter string      `arg:"delimiter" default:":" doc:"separates nested keys"`
	Ordered   bool        `arg:"ordered" default:"True" doc:"False returns the value as JSON would decode it: keys are text"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "append", Doc: "Append a value to a list grain and store it in the grains file.", Src: "modules/grains.py append",
		Do: appendFn,
	},
	{Name: "delkey", Doc: "Delete a grain from the grains file.", Src: "modules/grains.py delkey", Do: delkey},
	{Name: "delval", Doc: "Set a grain to None in the grains file.", Src: "modules/grains.py delval", Do: delval},
	{
		Name: "equals", Doc: "Return whether a grain has the same text as a value.", Src: "modules/grains.py equals",
		Do: equals,
	},
	{Name: "fetch", Doc: "Return a grain; an alias of grains.get.", Src: "modules/grains.py fetch", Do: getFn},
	{
		Name: "filter_by", Doc: "Select from a mapping by a grain.\n\nThe key that matches the grain's value (keys may be globs) gives the result, otherwise the default key.", Src: "modules/grains.py filter_by",
		Do: filterBy,
	},
	{Name: "get", Doc: "Return a grain.", Src: "modules/grains.py get", Do: getFn},
	{
		Name: "get_or_set_hash", Doc: "Return a grain; if it does not exist, set it to random text first.", Src: "modules/grains.py get_or_set_hash",
		Do: getOrSetHash,
	},
	{Name: "has_value", Doc: "Return whether a grain exists.", Src: "modules/grains.py has_value", Do: hasValue},
	{Name: "item", Doc: "Return grains by name.", Src: "modules/grains.py item", Do: item},
	{
		Name: "items", Doc: "Return all grains.", Src: "modules/grains.py items",
		Do: items,
	},
	{Name: "ls", Doc: "Return the names of all grains, sorted.", Src: "modules/grains.py ls", Do: ls},
	{
		Name: "remove", Doc: "Remove a value from a list grain and store it in the grains file.", Src: "modules/grains.py remove",
		Do: remove,
	},
	{
		Name: "set", Doc: "Set a grain, which may be nested, and store it in the grains file.\n\nMappings and lists are only replaced with force.", Src: "modules/grains.py set",
		Do: set,
	},
	{
		Name: "setval", Doc: "Set a grain and store it in the grains file.", Src: "modules/grains.py setval",
		Do: setval,
	},
	{
		Name: "setvals", Doc: "Set grains and store them in the grains file.", Src: "modules/grains.py setvals",
		Do: setvals,
	},
}
