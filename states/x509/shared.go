package x509

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type fileManagedArgs struct {
	_ string `arg:"backup,kw" doc:"minion: keep a copy of the replaced file"`
	ownFileArgs
}

// ownFileArgs are the arguments of file.managed but for backup.
type ownFileArgs struct {
	_ fun.Arguments
	_ value.Value `arg:"user,kw,str|int" doc:"owner of the file, by name or ID"`
	_ value.Value `arg:"group,kw,str|int" doc:"group of the file, by name or ID"`
	_ string      `arg:"mode,kw,mode" doc:"permissions of the file"`
	_ bool        `arg:"makedirs,kw" doc:"create missing parent directories"`
	_ string      `arg:"dir_mode,kw,mode" doc:"permissions of created parent directories"`
	_ bool        `arg:"create,kw" doc:"create the file if it is missing; default: True"`
	_ bool        `arg:"follow_symlinks,kw" doc:"write to the target of a symbolic link instead of replacing the link; default: True"`
}

type moreFileArgs struct {
	_ fun.Arguments
	_ string      `arg:"attrs,kw" doc:"chattr(1) attributes"`
	_ string      `arg:"tmp_dir,kw,path" doc:"directory of the temporary file for check_cmd"`
	_ string      `arg:"tmp_ext,kw" doc:"suffix of the temporary file for check_cmd"`
	_ string      `arg:"encoding_errors,kw" doc:"accepted; the content is ASCII text or bytes"`
	_ value.Value `arg:"selinux,kw,dict" doc:"SELinux context; not managed"`
}
