package undo

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// lines brings back the lines of a file of accounts that the run changed; others keep what
// became of them since.
func (r *restorer) lines(it *Item) {
	p := it.path
	fault := func(err error) { it.Verdict, it.Comment = Fault, err.Error() }
	if p.Why != "" || !p.Looked {
		it.Verdict, it.Comment = Cannot, "it could not be kept: "+p.Why
		if !p.Looked {
			it.Comment = killed
		}
		return
	}
	if p.Was == nil || p.Now == nil {
		if same(p.Was, p.Now) {
			it.Verdict, it.Comment = Already, "it is as it was before the run"
			return
		}
		it.Verdict, it.Comment = Cannot, "the run made or removed it as a whole"
		return
	}
	was, err := r.kept(p.Was.Sum)
	if err != nil {
		fault(err)
		return
	}
	left, err := r.kept(p.Now.Sum)
	if err != nil {
		fault(err)
		return
	}
	cur, err := r.env.Host.ReadFile(p.Name)
	if err != nil {
		fault(err)
		return
	}
	next, back, since := mergeLines(was, left, cur)
	switch {
	case len(since) > 0:
		it.Verdict, it.Comment = Since, "changed since the run: "+list(since, 5)
		return
	case len(back) == 0:
		it.Verdict, it.Comment = Already, "its lines are as before the run"
		return
	}
	it.Verdict, it.Comment = Back, "as before the run: "+list(back, 5)
	it.Changes = value.MapOf("lines", value.Strings(back...))
	r.acted = true
	if r.o.Test {
		return
	}
	st, err := r.env.Host.Lstat(p.Name)
	if err != nil {
		fault(err)
		return
	}
	mode := host.FileMode(st.Perm())
	if err := r.env.Host.WriteFile(p.Name, bytes.NewReader(next), host.WriteOptions{Mode: &mode, UID: &st.UID, GID: &st.GID, Sync: true}); err != nil {
		fault(err)
		return
	}
	if cur, err = r.env.Host.ReadFile(p.Name); err != nil || !bytes.Equal(cur, next) {
		fault(errors.New("it was written, and has something else now"))
		return
	}
	if bytes.Equal(next, was) {
		if err := r.env.Host.Chtimes(p.Name, r.env.Host.Now(), p.Was.Mtime); err != nil {
			fault(err)
		}
	}
}

// maxLines is how many bytes a file of accounts may have.
const maxLines = 64 << 20

func (r *restorer) kept(sum string) ([]byte, error) {
	f, err := r.rec.content(sum)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxLines))
}

// mergeLines returns cur with the lines of was by their first fields, if they differ in
// left: what a run changed goes back, what others changed stays. since names those that are
// neither as the run left them nor as they were.
func mergeLines(was, left, cur []byte) (next []byte, back, since []string) {
	w, l, c := byName(was), byName(left), byName(cur)
	names := map[string]bool{}
	for n := range w {
		names[n] = true
	}
	for n := range l {
		names[n] = true
	}
	todo := map[string]bool{}
	for n := range names {
		switch {
		case w[n] == l[n] || c[n] == w[n]:
		case c[n] == l[n]:
			todo[n] = true
			back = append(back, n)
		default:
			since = append(since, n)
		}
	}
	slices.Sort(back)
	slices.Sort(since)
	var out bytes.Buffer
	put := map[string]bool{}
	for line := range strings.Lines(string(cur)) {
		n, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		switch {
		case !todo[n]:
			out.WriteString(line)
		case !put[n]: // a name may have several lines, which go back as one
			put[n] = true
			out.WriteString(w[n])
		}
	}
	for _, n := range back {
		if !put[n] && w[n] != "" {
			if b := out.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
				out.WriteByte('\n')
			}
			out.WriteString(w[n])
		}
	}
	return out.Bytes(), back, since
}

// byName returns the lines of a file by their first fields.
func byName(text []byte) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		n, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		out[n] += line
	}
	return out
}
