package file

import (
	"bytes"
	"fmt"

	"brine/internal/py/value"
)

// maxPreview bounds the content of a new file that a preview shows, in bytes.
const maxPreview = 64 << 10

// Preview returns what a plan shows of the content that ManageFile would write: its
// hash and size, and where there is no such file yet and changes are shown, the diff
// from an empty file, which is cut where the content is large. It is nil where no
// content is written.
func (f *FS) Preview(p Plan) (*value.Map, error) {
	want := p.content()
	if want == nil {
		return nil, nil
	}
	sum, err := want.Sum("sha256")
	if err != nil {
		return nil, err
	}
	out := value.MapOf("sha256", sum)
	name := f.Expand(p.Name)
	if f.lexists(name) || p.HideDiff || value.Truth(f.Env.Opts.At("obfuscate_templates")) {
		return out, nil
	}
	text, err := want.IsText()
	if err != nil {
		return nil, err
	}
	all, err := want.Bytes()
	if err != nil {
		return nil, err
	}
	out.Set("size", int64(len(all)))
	if !text || len(all) == 0 {
		return out, nil
	}
	shown := all
	if len(all) > maxPreview {
		shown = all[:maxPreview]
		if i := bytes.LastIndexByte(shown, '\n'); i >= 0 {
			shown = shown[:i+1]
		}
	}
	diff, err := Diff(Text(nil), Text(shown), "/dev/null", name)
	if err != nil {
		return nil, err
	}
	if n := len(all) - len(shown); n > 0 {
		diff += fmt.Sprintf("\\ %d more bytes are not shown\n", n)
	}
	out.Set("diff", diff)
	return out, nil
}

func (f *FS) lexists(name string) bool {
	_, err := f.Lstat(name)
	return err == nil
}
