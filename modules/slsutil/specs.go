package slsutil

import (
	"brine/internal/core/fun"
)

type pathArg struct {
	_    fun.Arguments
	Path string `arg:"path,required,path" doc:"path in file_roots"`
}

type serializerArg struct {
	_          fun.Arguments
	Serializer string `arg:"serializer,required" doc:"the format"`
}

type treeArgs struct {
	_       fun.Arguments
	Saltenv string `arg:"saltenv" default:"base" doc:"the environment"`
}

type listsArgs struct {
	_          fun.Arguments
	MergeLists bool `arg:"merge_lists" default:"False" doc:"append the items of lists instead of replacing them"`
}

type strategyArgs struct {
	_        fun.Arguments
	Strategy string `arg:"strategy" default:"smart" doc:"smart, recurse, aggregate, overwrite or list"`
	Renderer string `arg:"renderer" default:"yaml" doc:"decides for smart: aggregate for yamlex, else recurse"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "banner", Doc: "Return a comment box that says that the file is managed.", Src: "modules/slsutil.py banner",
		Do: banner,
	},
	{
		Name: "boolstr", Doc: "Return one text for true and another for false.", Src: "modules/slsutil.py boolstr",
		Do: boolstr,
	},
	{
		Name: "deserialize", Doc: "Parse text in a data format: configparser, json, keyvalue, msgpack, plist, toml, yaml, yamlex.", Src: "modules/slsutil.py deserialize",
		Do: deserialize,
	},
	{
		Name: "dir_exists", Doc: "Return whether a directory exists in the state tree.", Src: "modules/slsutil.py dir_exists",
		Do: dirExists,
	},
	{
		Name: "file_exists", Doc: "Return whether a file exists in the state tree.", Src: "modules/slsutil.py file_exists",
		Do: fileExists,
	},
	{
		Name: "findup", Doc: "Find a file in a directory of the state tree or the nearest parent.", Src: "modules/slsutil.py findup",
		Do: findup,
	},
	{
		Name: "merge", Doc: "Merge a mapping over another by a strategy.", Src: "modules/slsutil.py merge",
		Do: merge,
	},
	{
		Name: "merge_all", Doc: "Merge mappings in order, later ones over earlier ones.", Src: "modules/slsutil.py merge_all",
		Do: mergeAll,
	},
	{
		Name: "path_exists", Doc: "Return whether a file or directory exists in the state tree.", Src: "modules/slsutil.py path_exists",
		Do: pathExists,
	},
	{
		Name: "renderer", Doc: "Render a file or text. Further keywords are variables.", Src: "modules/slsutil.py renderer",
		Do: renderer,
	},
	{
		Name: "serialize", Doc: "Write data in a data format: configparser, json, keyvalue, msgpack, plist, python, toml, yaml, yamlex. Keywords are options of the format.", Src: "modules/slsutil.py serialize",
		Do: serialize,
	},
	{
		Name: "update", Doc: "Merge a mapping into another, which is changed and returned.", Src: "modules/slsutil.py update",
		Do: update,
	},
}
