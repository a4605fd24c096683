package hg

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "latest", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Make sure that a clone is at the newest revision, or at a given one.", Src: "states/hg.py latest", State: latest,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "URL or path of the repository"},
			{Name: "rev", Type: fun.Str, Doc: "revision to check out: a hash, tag, bookmark or branch; default: the newest"},
			{Name: "target", Type: fun.Path, Doc: "directory of the clone"},
			{Name: "clean", Type: fun.Bool, Default: false, Doc: "discard changes of files"},
			{Name: "user", Type: fun.Str, Doc: "account that runs hg"},
			{Name: "identity", Type: fun.Path, Doc: "SSH private key"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "delete the content of the target if it is not a repository"},
			{Name: "opts", Type: fun.Str, Doc: "further options for hg clone and hg pull"},
			{Name: "update_head", Type: fun.Bool, Default: true, Doc: "check new revisions out; if false, they are only pulled"},
		},
	},
}
