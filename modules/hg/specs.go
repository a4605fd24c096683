package hg

import "brine/internal/fun"

var (
	cwd  = fun.Arg{Name: "cwd", Type: fun.Path, Required: true, Doc: "directory of the repository"}
	tip  = fun.Arg{Name: "rev", Type: fun.Str, Default: "tip", Doc: "revision: a hash, tag, bookmark or branch"}
	user = fun.Arg{Name: "user", Type: fun.Str, Doc: "account that runs hg"}
	opts = fun.Arg{Name: "opts", Type: fun.Str, Doc: "further options for hg"}
	key  = fun.Arg{Name: "identity", Type: fun.Path, Doc: "SSH private key"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "archive", Doc: "Write the files of a revision to an archive.", Src: "modules/hg.py archive", Fn: archive,
		Args: []fun.Arg{
			cwd,
			{Name: "output", Type: fun.Path, Required: true, Doc: "path of the archive"},
			tip,
			{Name: "fmt", Type: fun.Str, OneOf: []string{"files", "tar", "tbz2", "tgz", "txz", "uzip", "zip"}, Doc: "format of the archive; default: by its name"},
			{Name: "prefix", Type: fun.Str, Doc: "directory that the files have in the archive; default: the name of the repository"},
			user,
		},
	},
	{
		Name: "clone", Doc: "Clone a repository.", Src: "modules/hg.py clone", Fn: clone,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path, Required: true, Doc: "directory of the clone"},
			{Name: "repository", Type: fun.Str, Required: true, Doc: "URL or path of the repository"},
			opts, user, key,
		},
	},
	{
		Name: "describe", Doc: "Return the newest tag before a revision, the number of revisions since, and its hash.", Src: "modules/hg.py describe", Fn: describe,
		Args: []fun.Arg{cwd, tip, user},
	},
	{
		Name: "pull", Doc: "Pull from another repository.", Src: "modules/hg.py pull", Fn: pull,
		Args: []fun.Arg{
			cwd, opts, user, key,
			{Name: "repository", Type: fun.Str, Doc: "URL or path of the repository; default: the one that was cloned"},
		},
	},
	{
		Name: "revision", Doc: "Return the hash of a revision.", Src: "modules/hg.py revision", Fn: revision,
		Args: []fun.Arg{
			cwd, tip,
			{Name: "short", Type: fun.Bool, Default: false, Doc: "return an abbreviated hash"},
			user,
		},
	},
	{
		Name: "status", Doc: "Return the files that are changed, added, removed, missing or not tracked.", Src: "modules/hg.py status", Fn: status,
		Args: []fun.Arg{
			{Name: "cwd", Type: fun.Path | fun.Paths, Required: true, Doc: "directory of the repository, or a list of them"},
			opts, user,
		},
	},
	{
		Name: "update", Doc: "Check a revision out.", Src: "modules/hg.py update", Fn: update,
		Args: []fun.Arg{
			cwd,
			{Name: "rev", Type: fun.Str, Required: true, Doc: "revision: a hash, tag, bookmark or branch"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "discard changes of files"},
			user,
		},
	},
}
