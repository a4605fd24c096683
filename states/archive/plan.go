package archive

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cp"
	files "brine/modules/file"
)

// extractedLeaves has an overlay have what the archive has, where it is on this machine
// or on the file server and no program unpacks it. Else it has the directory alone, and
// nobody knows what is in that.
func extractedLeaves(ctx context.Context, c *fun.Call, o *host.Overlay) error {
	if !cp.IsRemote(firstSource(c.Args.At("source"))) && !value.Truth(c.Args.At("options")) && c.Args.At("use_cmd_unzip") != true {
		if ret := fun.StateFunc(extracted).State(ctx, c); ret.Result == fun.OK {
			return nil
		}
	}
	dir := strings.TrimRight(c.Name, "/")
	if value.Truth(c.Args.At("clean_parent")) {
		if err := o.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := files.New(c.Env, "", false).Mkdir(ctx, dir, files.Perms{User: c.Args.At("user")}); err != nil {
		return err
	}
	return o.Veil(dir, false)
}

// firstSource is the first of the sources of an archive.
func firstSource(v value.Value) string {
	if l, ok := v.(*value.List); ok && l.Len() > 0 {
		v = l.Items[0]
	}
	return value.Str(v)
}
