package cp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// pushable reports whether a path may name what is pushed, or where to.
func pushable(p string) bool { return filepath.IsAbs(p) && !strings.Contains(p, "../") }

type pushArgs struct {
	Path         string `arg:"path,required,path" doc:"absolute path of the file"`
	KeepSymlinks bool   `arg:"keep_symlinks" default:"False" doc:"name the file by the link, not by its target"`
	uploadArg
	RemoveSource bool `arg:"remove_source" default:"False" doc:"remove the file after it was accepted"`
}

// push sends one file. Salt: push.
func push(ctx context.Context, c *fun.Call, a *pushArgs) (fun.Result, error) {
	p := a.Path
	if !pushable(p) {
		return fun.Value(false)
	}
	if !a.KeepSymlinks {
		resolve := c.Env.Host.ReadTarget
		if a.RemoveSource {
			resolve = c.Env.Host.EvalSymlinks
		}
		real, err := resolve(p)
		if err != nil {
			if errors.Is(err, fs.ErrPermission) {
				warnPush(c, p, err.Error())
			}
			return fun.Value(false)
		}
		p = real
	}
	ok, err := pushFile(ctx, c, p, a.UploadPath)
	if err != nil || !ok {
		return answer(false, err)
	}
	if a.RemoveSource {
		if err := c.Env.Host.Remove(p); err != nil {
			return answer(nil, fun.Errorf("%s was sent and cannot be removed: %v", p, err))
		}
	}
	return fun.Value(true)
}

// pushFile sends the file at p under the name as. What keeps it from being
// taken is a warning: the function's answer is only False, as Salt's.
func pushFile(ctx context.Context, c *fun.Call, p, as string) (bool, error) {
	st, err := c.Env.Host.Stat(p)
	if err != nil || !st.Mode.IsRegular() {
		return false, nil
	}
	if as == "" {
		as = p
	} else if !pushable(as) {
		return false, nil
	}
	up, ok := c.Env.Up.(fun.Pusher)
	if !ok {
		warnPush(c, p, "there is no controller here to send it to")
		return false, nil
	}
	f, err := c.Env.Host.Open(p)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := up.Push(ctx, strings.TrimLeft(path.Clean(as), "/"), f); err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		warnPush(c, p, err.Error())
		return false, nil
	}
	return true, nil
}

func warnPush(c *fun.Call, p, why string) {
	c.Env.Warn(fun.Warning{Text: fmt.Sprintf("cp.%s: %s is not sent: %s", c.Spec.Name, p, why)})
}

type pushDirArgs struct {
	Path string      `arg:"path,required,path" doc:"absolute path of the directory"`
	Glob value.Value `arg:"glob,str" doc:"only files whose names match"`
	uploadArg
}

// pushDir sends the files below a directory. Salt: push_dir.
func pushDir(ctx context.Context, c *fun.Call, a *pushDirArgs) (fun.Result, error) {
	top, as := a.Path, a.UploadPath
	if !pushable(top) {
		return fun.Value(false)
	}
	top, err := c.Env.Host.ReadTarget(top)
	if err != nil {
		return fun.Value(false)
	}
	st, err := c.Env.Host.Stat(top)
	if err != nil {
		return fun.Value(false)
	}
	if !st.Mode.IsDir() {
		ok, err := pushFile(ctx, c, top, as)
		return answer(ok, err)
	}
	files := filesBelow(c, top, 0)
	sent := false
	for _, f := range files {
		if g := a.Glob; g != nil && !value.Fnmatch(value.Str(g), filepath.Base(f)) {
			continue
		}
		name := ""
		if as != "" {
			name = "/" + strings.Trim(as, "/") + strings.TrimPrefix(f, top)
		}
		ok, err := pushFile(ctx, c, f, name)
		if err != nil || !ok {
			return answer(false, err)
		}
		sent = true
	}
	return fun.Value(sent)
}

// maxPushDepth bounds how deep directories are entered.
const maxPushDepth = 100

// filesBelow returns all that is below dir and no directory. Links to
// directories are not entered.
func filesBelow(c *fun.Call, dir string, depth int) []string {
	names, err := c.Env.Host.ReadDir(dir)
	if err != nil || depth > maxPushDepth {
		return nil
	}
	var out []string
	for _, n := range names {
		p := filepath.Join(dir, n)
		st, err := c.Env.Host.Lstat(p)
		if err != nil {
			continue
		}
		if st.Mode.IsDir() {
			out = append(out, filesBelow(c, p, depth+1)...)
			continue
		}
		if t, err := c.Env.Host.Stat(p); err == nil && !t.Mode.IsDir() {
			out = append(out, p)
		}
	}
	return out
}
