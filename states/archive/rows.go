package archive

import "brine/internal/fun"

var specs = []fun.Spec{
	{
		Name: "extracted", Shared: [][]fun.Arg{fun.SystemPath}, VarKw: true, State: extracted, Src: "states/archive.py extracted",
		Doc: "Extract an archive unless its contents already exist.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Path, Required: true, Doc: "absolute path of the directory to extract to"},
			{Name: "source", Type: fun.Str | fun.List, Required: true, Doc: "URL or path of the archive; the first of a list that exists"},
			{Name: "source_hash", Type: fun.Str, Doc: "digest of the archive, or a file of digests"},
			{Name: "source_hash_name", Type: fun.Str, Doc: "name to look up in a file of digests"},
			{Name: "source_hash_update", Type: fun.Bool, Default: false, Doc: "extract again if the digest changed"},
			{Name: "skip_files_list_verify", Type: fun.Bool, Default: false, Doc: "do nothing while the digest is the one that source_hash_update noted"},
			{Name: "keep_source", Type: fun.Bool, Default: true, Doc: "keep a downloaded archive in the cache"},
			{Name: "skip_verify", Type: fun.Bool, Default: false, Doc: "accept a remote archive without a digest"},
			{Name: "password", Type: fun.Str, Secret: true, Doc: "accepted; encrypted archives are not supported"},
			{Name: "options", Type: fun.Str, Doc: "options of tar(1) or unzip(1), which then extracts the archive"},
			{Name: "list_options", Type: fun.Str, Doc: "command that writes the decompressed archive to standard output, for other compressions"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "replace files of another type that have the same names"},
			{Name: "overwrite", Type: fun.Bool, Default: false, Doc: "always extract"},
			{Name: "clean", Type: fun.Bool, Default: false, Doc: "first remove the top-level entries of the archive"},
			{Name: "clean_parent", Type: fun.Bool, Default: false, Doc: "first remove the directory and its contents"},
			{Name: "user", Type: fun.Str | fun.Int, Doc: "owner of extracted files, by name or ID"},
			{Name: "group", Type: fun.Str | fun.Int, Doc: "group of extracted files, by name or ID"},
			{Name: "if_missing", Type: fun.Path, Doc: "do nothing if this path exists"},
			{Name: "trim_output", Type: fun.Bool | fun.Int, Default: false, Doc: "report at most this many files; True is 100"},
			{Name: "use_cmd_unzip", Type: fun.Bool, Doc: "extract a zip archive with unzip(1); default: if options are given"},
			{Name: "extract_perms", Type: fun.Bool, Default: true, Doc: "keep the permissions in a zip archive"},
			{Name: "enforce_toplevel", Type: fun.Bool, Default: true, Doc: "refuse an archive without a single top-level directory"},
			{Name: "enforce_ownership_on", Type: fun.Path, Doc: "path whose owner is managed instead of that of all files"},
			{Name: "archive_format", Type: fun.Str, Doc: "tar or zip; default: by the name of the source"},
			{Name: "use_etag", Type: fun.Bool, Default: false, Doc: "use ETag headers to check whether a web source changed"},
		},
	},
}
