package helm

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "completion", Doc: "Return the script that completes command lines of helm in a shell.", Src: "modules/helm.py completion", Fn: says,
		Args: []fun.Arg{
			{Name: "shell", Type: fun.Str, Required: true, Doc: "bash, zsh or fish"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "create", Doc: "Create a directory with the files of a chart.", Src: "modules/helm.py create", Fn: acts,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the chart"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "dependency_build", Doc: "Fetch the dependencies of a chart as its lock file has them.", Src: "modules/helm.py dependency_build", Fn: acts,
		Args: []fun.Arg{
			{Name: "chart", Type: fun.Str, Required: true, Doc: "name or path of the chart"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "dependency_list", Doc: "List the dependencies of a chart.", Src: "modules/helm.py dependency_list", Fn: says,
		Args: []fun.Arg{
			{Name: "chart", Type: fun.Str, Required: true, Doc: "name or path of the chart"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "dependency_update", Doc: "Fetch the dependencies of a chart as the chart names them.", Src: "modules/helm.py dependency_update", Fn: acts,
		Args: []fun.Arg{
			{Name: "chart", Type: fun.Str, Required: true, Doc: "name or path of the chart"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "env", Doc: "Return the environment of helm.", Src: "modules/helm.py env", Fn: says,
		Args: []fun.Arg{
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "get_all", Doc: "Return all of a release.", Src: "modules/helm.py get_all", Fn: says,
		Args: []fun.Arg{
			{Name: "release", Type: fun.Str, Required: true, Doc: "name of the release"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "get_hooks", Doc: "Return the hooks of a release.", Src: "modules/helm.py get_hooks", Fn: says,
		Args: []fun.Arg{
			{Name: "release", Type: fun.Str, Required: true, Doc: "name of the release"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "get_manifest", Doc: "Return the manifest of a release.", Src: "modules/helm.py get_manifest", Fn: says,
		Args: []fun.Arg{
			{Name: "release", Type: fun.Str, Required: true, Doc: "name of the release"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "get_notes", Doc: "Return the notes of a release.", Src: "modules/helm.py get_notes", Fn: says,
		Args: []fun.Arg{
			{Name: "release", Type: fun.Str, Required: true, Doc: "name of the release"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "get_values", Doc: "Return the values of a release.", Src: "modules/helm.py get_values", Fn: tells,
		Args: []fun.Arg{
			{Name: "release", Type: fun.Str, Required: true, Doc: "name of the release"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "help", Doc: "Return the help of a command of helm.", Src: "modules/helm.py help_", Fn: says,
		Args: []fun.Arg{
			{Name: "command", Type: fun.Str, Required: true, Doc: "name of the command"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "history", Doc: "Return the revisions of a release.", Src: "modules/helm.py history", Fn: tells,
		Args: []fun.Arg{
			{Name: "release", Type: fun.Str, Required: true, Doc: "name of the release"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "install", Doc: "Install a chart as a release.", Src: "modules/helm.py install", Fn: acts,
		Args: []fun.Arg{
			{Name: "release", Type: fun.Str, Required: true, Doc: "name of the release"},
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
		Name: "lint", Doc: "Examine a chart.", Src: "modules/helm.py lint", Fn: acts,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Required: true, Doc: "path or URL"},
			{Name: "values", Type: fun.Path, Doc: "file of values"},
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "set", Type: fun.Strs, Doc: "value, or list of values, as name=value"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "list", Doc: "List the releases.", Src: "modules/helm.py list_", Fn: tells,
		Args: []fun.Arg{
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "package", Doc: "Pack a chart into an archive.", Src: "modules/helm.py package", Fn: acts,
		Args: []fun.Arg{
			{Name: "chart", Type: fun.Str, Required: true, Doc: "name or path of the chart"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "plugin_install", Doc: "Install a plugin of helm.", Src: "modules/helm.py plugin_install", Fn: acts,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Required: true, Doc: "path or URL"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "plugin_list", Doc: "List the plugins of helm.", Src: "modules/helm.py plugin_list", Fn: says,
		Args: []fun.Arg{
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "plugin_uninstall", Doc: "Remove a plugin of helm.", Src: "modules/helm.py plugin_uninstall", Fn: acts,
		Args: []fun.Arg{
			{Name: "plugin", Type: fun.Str, Required: true, Doc: "name of the plugin"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "plugin_update", Doc: "Update a plugin of helm.", Src: "modules/helm.py plugin_update", Fn: acts,
		Args: []fun.Arg{
			{Name: "plugin", Type: fun.Str, Required: true, Doc: "name of the plugin"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "pull", Doc: "Download a chart.", Src: "modules/helm.py pull", Fn: acts,
		Args: []fun.Arg{
			{Name: "pkg", Type: fun.Str, Required: true, Doc: "name or URL of the chart"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "repo_add", Doc: "Add a repository of charts.", Src: "modules/helm.py repo_add", Fn: acts,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the repository"},
			{Name: "url", Type: fun.Str, Required: true, Doc: "URL of the repository"},
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "repo_index", Doc: "Write the index of a directory of charts.", Src: "modules/helm.py repo_index", Fn: acts,
		Args: []fun.Arg{
			{Name: "directory", Type: fun.Path, Required: true, Doc: "directory of the charts"},
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "repo_list", Doc: "List the repositories of charts.", Src: "modules/helm.py repo_list", Fn: tells,
		Args: []fun.Arg{
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "repo_manage", Doc: "Add and remove repositories of charts.", Src: "modules/helm.py repo_manage", Do: repoManage,
	},
	{
		Name: "repo_remove", Doc: "Remove a repository of charts.", Src: "modules/helm.py repo_remove", Fn: acts,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the repository"},
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "repo_update", Doc: "Read what the repositories of charts have.", Src: "modules/helm.py repo_update", Fn: acts,
		Args: []fun.Arg{
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "rollback", Doc: "Take a release back to an earlier revision.", Src: "modules/helm.py rollback", Fn: acts,
		Args: []fun.Arg{
			{Name: "release", Type: fun.Str, Required: true, Doc: "name of the release"},
			{Name: "revision", Type: fun.Str, Required: true, Doc: "number of the revision"},
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "search_hub", Doc: "Search the public charts.", Src: "modules/helm.py search_hub", Fn: tells,
		Args: []fun.Arg{
			{Name: "keyword", Type: fun.Str, Required: true, Doc: "what to search for"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "search_repo", Doc: "Search the charts of the repositories.", Src: "modules/helm.py search_repo", Fn: tells,
		Args: []fun.Arg{
			{Name: "keyword", Type: fun.Str, Required: true, Doc: "what to search for"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "show_all", Doc: "Return all that a chart says of itself.", Src: "modules/helm.py show_all", Fn: says,
		Args: []fun.Arg{
			{Name: "chart", Type: fun.Str, Required: true, Doc: "name or path of the chart"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "show_chart", Doc: "Return the description of a chart.", Src: "modules/helm.py show_chart", Fn: says,
		Args: []fun.Arg{
			{Name: "chart", Type: fun.Str, Required: true, Doc: "name or path of the chart"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "show_readme", Doc: "Return the README of a chart.", Src: "modules/helm.py show_readme", Fn: says,
		Args: []fun.Arg{
			{Name: "chart", Type: fun.Str, Required: true, Doc: "name or path of the chart"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "show_values", Doc: "Return the default values of a chart.", Src: "modules/helm.py show_values", Fn: says,
		Args: []fun.Arg{
			{Name: "chart", Type: fun.Str, Required: true, Doc: "name or path of the chart"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "status", Doc: "Return the status of a release.", Src: "modules/helm.py status", Fn: tells,
		Args: []fun.Arg{
			{Name: "release", Type: fun.Str, Required: true, Doc: "name of the release"},
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "template", Doc: "Render a chart without installing it.", Src: "modules/helm.py template", Fn: says,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the release"},
			{Name: "chart", Type: fun.Str, Required: true, Doc: "name or path of the chart"},
			{Name: "values", Type: fun.Path, Doc: "file of values"},
			{Name: "output_dir", Type: fun.Path, Doc: "directory to write to"},
			{Name: "set", Type: fun.Strs, Doc: "value, or list of values, as name=value"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "test", Doc: "Run the tests of a release.", Src: "modules/helm.py test", Fn: says,
		Args: []fun.Arg{
			{Name: "release", Type: fun.Str, Required: true, Doc: "name of the release"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "uninstall", Doc: "Remove a release.", Src: "modules/helm.py uninstall", Fn: acts,
		Args: []fun.Arg{
			{Name: "release", Type: fun.Str, Required: true, Doc: "name of the release"},
			{Name: "namespace", Type: fun.Str, Doc: "namespace of Kubernetes"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "upgrade", Doc: "Upgrade a release.", Src: "modules/helm.py upgrade", Fn: acts,
		Args: []fun.Arg{
			{Name: "release", Type: fun.Str, Required: true, Doc: "name of the release"},
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
		Name: "verify", Doc: "Check the signature of a packed chart.", Src: "modules/helm.py verify", Fn: acts,
		Args: []fun.Arg{
			{Name: "path", Type: fun.Path, Required: true, Doc: "path or URL"},
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
	{
		Name: "version", Doc: "Return the version of helm.", Src: "modules/helm.py version", Fn: says,
		Args: []fun.Arg{
			{Name: "flags", Type: fun.Strs, Doc: "options without values, with or without dashes"},
			{Name: "kvflags", Type: fun.Dict, Secret: true, Doc: "options with values"},
		},
	},
}
