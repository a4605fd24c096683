package helm

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "release_absent", Doc: "Make sure that a release is not installed.", Src: "states/helm.py release_absent", State: releaseAbsent,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the release"},
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "release_present", Doc: "Install a release, or upgrade it.\n\nAn installed release is upgraded at every run.", Src: "states/helm.py release_present", State: releasePresent, Always: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the release"},
			{Name: "chart", Type: fun.Str, Required: true, Doc: "name or path of the chart"},
			{Name: "values", Type: fun.Path, Doc: "file of values"},
			{Name: "version", Type: fun.Str, Doc: "version of the chart; without it, the latest"},
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "set", Type: fun.Strs, Doc: "value, or list of values, as name=value"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "repo_managed", Doc: "Make sure that repositories of charts are configured or not.", Src: "states/helm.py repo_managed", State: repoManaged,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "any text"},
			{Name: "present", Type: fun.Dicts, Doc: "wanted repositories: mappings of name and url"},
			{Name: "absent", Type: fun.Strs, Doc: "names of unwanted repositories"},
			{Name: "prune", Type: fun.Bool, Default: false, Doc: "remove repositories that are not in present"},
			{Name: "repo_update", Type: fun.Bool, Default: false, Doc: "read what the repositories have after a change"},
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "repo_updated", Doc: "Read what the repositories of charts have.", Src: "states/helm.py repo_updated", State: repoUpdated, Always: true,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "any text"},
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
}
