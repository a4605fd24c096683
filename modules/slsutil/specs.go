package slsutil

import (
	"brine/internal/fun"
	"brine/internal/render"
)

// Arguments that several functions have.
var (
	pathArg       = fun.Arg{Name: "path", Type: fun.Path, Required: true, Doc: "path in file_roots"}
	serializerArg = fun.Arg{Name: "serializer", Type: fun.Str, Required: true, Doc: "the format"}
)

var treeArgs = []fun.Arg{
	{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "the environment"},
}

var listsArgs = []fun.Arg{
	{Name: "merge_lists", Type: fun.Bool, Default: false, Doc: "append the items of lists instead of replacing them"},
}

var strategyArgs = []fun.Arg{
	{Name: "strategy", Type: fun.Str, Default: "smart", Doc: "smart, recurse, aggregate, overwrite or list"},
	{Name: "renderer", Type: fun.Str, Default: "yaml", Doc: "decides for smart: aggregate for yamlex, else recurse"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "banner", Doc: "Return a comment box that says that the file is managed.", Src: "modules/slsutil.py banner",
		Fn: banner,
		Args: []fun.Arg{
			{Name: "width", Type: fun.Int, Default: int64(72), Unit: "columns", Doc: "width of the box"},
			{Name: "commentchar", Type: fun.Str, Default: "#", Doc: "start of a comment line"},
			{Name: "borderchar", Type: fun.Str, Default: "#", Doc: "character of the first and last line"},
			{Name: "blockstart", Type: fun.Str, Doc: "start of a comment block"},
			{Name: "blockend", Type: fun.Str, Doc: "end of a comment block"},
			{Name: "title", Type: fun.Str, Doc: "the first text, centred"},
			{Name: "text", Type: fun.Str, Doc: "the second text"},
			{Name: "newline", Type: fun.Bool, Default: false, Doc: "end with a newline"},
		},
	},
	{
		Name: "boolstr", Doc: "Return one text for true and another for false.", Src: "modules/slsutil.py boolstr",
		Fn: boolstr,
		Args: []fun.Arg{
			{Name: "value", Required: true, Doc: "the condition"},
			{Name: "true", Default: "true", Doc: "returned if true"},
			{Name: "false", Default: "false", Doc: "returned if false"},
		},
	},
	{
		Name: "deserialize", Doc: "Parse text in a data format: configparser, json, keyvalue, msgpack, plist, toml, yaml, yamlex.", Src: "modules/slsutil.py deserialize",
		VarKw: true, Fn: deserialize,
		Args: []fun.Arg{
			serializerArg,
			{Name: "stream_or_string", Type: fun.Str, Required: true, Doc: "the text"},
		},
	},
	{
		Name: "dir_exists", Doc: "Return whether a directory exists in the state tree.", Src: "modules/slsutil.py dir_exists",
		Shared: [][]fun.Arg{treeArgs}, Fn: dirExists,
		Args: []fun.Arg{
			pathArg,
		},
	},
	{
		Name: "file_exists", Doc: "Return whether a file exists in the state tree.", Src: "modules/slsutil.py file_exists",
		Shared: [][]fun.Arg{treeArgs}, Fn: fileExists,
		Args: []fun.Arg{
			pathArg,
		},
	},
	{
		Name: "findup", Doc: "Find a file in a directory of the state tree or the nearest parent.", Src: "modules/slsutil.py findup",
		Shared: [][]fun.Arg{treeArgs}, Fn: findup,
		Args: []fun.Arg{
			{Name: "startpath", Type: fun.Path, Required: true, Doc: "where to start; '' is the root"},
			{Name: "filenames", Required: true, Doc: "a name, or a list of which the first that exists counts"},
		},
	},
	{
		Name: "merge", Doc: "Merge a mapping over another by a strategy.", Src: "modules/slsutil.py merge",
		Shared: [][]fun.Arg{strategyArgs, listsArgs}, Fn: merge,
		Args: []fun.Arg{
			{Name: "obj_a", Required: true, Doc: "the lower mapping"},
			{Name: "obj_b", Required: true, Doc: "the upper mapping"},
		},
	},
	{
		Name: "merge_all", Doc: "Merge mappings in order, later ones over earlier ones.", Src: "modules/slsutil.py merge_all",
		Shared: [][]fun.Arg{strategyArgs, listsArgs}, Fn: mergeAll,
		Args: []fun.Arg{
			{Name: "lst", Type: fun.List, Required: true, Doc: "the mappings"},
		},
	},
	{
		Name: "path_exists", Doc: "Return whether a file or directory exists in the state tree.", Src: "modules/slsutil.py path_exists",
		Shared: [][]fun.Arg{treeArgs}, Fn: pathExists,
		Args: []fun.Arg{
			pathArg,
		},
	},
	{
		Name: "renderer", Doc: "Render a file or text. Further keywords are variables.", Src: "modules/slsutil.py renderer",
		VarKw: true, Fn: renderer,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Doc: "salt:// URL or absolute path of a file"},
			{Name: "string", Doc: "text to render instead of a file"},
			{Name: "default_renderer", Type: fun.Str, Default: render.DefaultPipeline, Doc: "the renderers if the first line names none"},
		},
	},
	{
		Name: "serialize", Doc: "Write data in a data format: configparser, json, keyvalue, msgpack, plist, python, toml, yaml, yamlex. Keywords are options of the format.", Src: "modules/slsutil.py serialize",
		VarKw: true, Fn: serialize,
		Args: []fun.Arg{
			serializerArg,
			{Name: "obj", Required: true, Doc: "the data"},
		},
	},
	{
		Name: "update", Doc: "Merge a mapping into another, which is changed and returned.", Src: "modules/slsutil.py update",
		Shared: [][]fun.Arg{listsArgs}, Fn: update,
		Args: []fun.Arg{
			{Name: "dest", Required: true, Doc: "the mapping that is changed"},
			{Name: "upd", Required: true, Doc: "the mapping that is merged over it"},
			{Name: "recursive_update", Type: fun.Bool, Default: true, Doc: "merge nested mappings"},
		},
	},
}
