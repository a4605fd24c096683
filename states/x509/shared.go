package x509

import "brine/internal/fun"

// Arguments that several states have.
var (
	fileManagedArgs = []fun.Arg{
		{Name: "backup", Type: fun.Str, KwOnly: true, Doc: "minion: keep a copy of the replaced file"},
		{Name: "user", Type: fun.Str | fun.Int, KwOnly: true, Doc: "owner of the file, by name or ID"},
		{Name: "group", Type: fun.Str | fun.Int, KwOnly: true, Doc: "group of the file, by name or ID"},
		{Name: "mode", Type: fun.Mode, KwOnly: true, Doc: "permissions of the file"},
		{Name: "makedirs", Type: fun.Bool, KwOnly: true, Doc: "create missing parent directories"},
		{Name: "dir_mode", Type: fun.Mode, KwOnly: true, Doc: "permissions of created parent directories"},
		{Name: "create", Type: fun.Bool, KwOnly: true, Doc: "create the file if it is missing; default: True"},
		{Name: "follow_symlinks", Type: fun.Bool, KwOnly: true, Doc: "write to the target of a symbolic link instead of replacing the link; default: True"},
	}
	moreFileArgs = []fun.Arg{
		{Name: "attrs", Type: fun.Str, KwOnly: true, Doc: "chattr(1) attributes"},
		{Name: "tmp_dir", Type: fun.Path, KwOnly: true, Doc: "directory of the temporary file for check_cmd"},
		{Name: "tmp_ext", Type: fun.Str, KwOnly: true, Doc: "suffix of the temporary file for check_cmd"},
		{Name: "encoding_errors", Type: fun.Str, KwOnly: true, Doc: "accepted; the content is ASCII text or bytes"},
		{Name: "selinux", Type: fun.Dict, KwOnly: true, Doc: "SELinux context; not managed"},
	}
	remoteArgs = []fun.Arg{
		{Name: "ca_server", Type: fun.Str, KwOnly: true, Doc: "machine that signs, by publish.publish"},
		{Name: "path", Type: fun.Path, KwOnly: true, Doc: "file to manage, instead of name"},
	}
	algorithmArg = []fun.Arg{{Name: "algorithm", Type: fun.Str, KwOnly: true, Doc: "same as digest"}}
	textArg      = []fun.Arg{{Name: "text", Type: fun.Bool, KwOnly: true, Doc: "accepted, has no effect"}}
	olderKeyArgs = []fun.Arg{
		{Name: "bits", Type: fun.Int, KwOnly: true, Doc: "same as keysize"},
		{Name: "cipher", Type: fun.Str, KwOnly: true, Doc: "accepted, has no effect"},
		{Name: "verbose", Type: fun.Bool, KwOnly: true, Doc: "accepted, has no effect"},
		{Name: "text", Type: fun.Bool, KwOnly: true, Doc: "accepted, has no effect"},
	}
)
