package sshconf

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"brine/internal/py/source"
)

// An asked is what ssh said.
type asked struct {
	once sync.Once
	out  map[string][]string
	err  error
}

// ask asks ssh -G what the files say. What it says for a host of which they say
// nothing is ssh's default and is left out: brine has its own.
func (r *Reader) ask(ctx context.Context, q Query) (*Result, error) {
	var text strings.Builder
	for _, f := range r.files {
		fmt.Fprintf(&text, "Include %s\n", quoted(f.Path))
	}
	got, err := r.askSSH(ctx, text.String(), q)
	if err != nil {
		return nil, err
	}
	def, err := r.askSSH(ctx, "", Query{Host: q.Host})
	if err != nil {
		return nil, err
	}
	res := &Result{Host: q.Host, expanded: true, values: map[string][]string{}, from: map[string]source.Pos{}}
	if h := got["hostname"]; len(h) > 0 {
		res.Host = h[0]
	}
	for k, v := range got {
		if !slices.Equal(v, def[k]) {
			res.values[k] = v
		}
	}
	if u := got["user"]; q.User != "" {
		res.values["user"] = []string{q.User}
	} else if len(u) == 1 && slices.Equal(u, def["user"]) {
		// The files name the person's own account, or none.
		text.WriteString("Match all\n  User brine-unset\n")
		again, err := r.askSSH(ctx, text.String(), q)
		if err != nil {
			return nil, err
		}
		if slices.Equal(again["user"], u) {
			res.values["user"] = u
		}
	}
	p := &pass{Reader: r, orig: q.Host, host: q.Host, res: &Result{values: map[string][]string{}, from: map[string]source.Pos{}}}
	for _, o := range q.Options {
		if err := p.option(o); err != nil {
			return nil, &OptionError{o, err}
		}
	}
	for k, at := range p.res.from {
		res.from[k] = at
		res.values[k] = p.res.values[k]
	}
	return res, nil
}

// quoted returns a path as one word of a configuration, and as a pattern that
// means nothing but it.
func quoted(p string) string {
	return `"` + strings.NewReplacer(`\`, `\\\\`, `"`, `\"`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(p) + `"`
}

// askSSH runs ssh -G over a configuration, once for each question.
func (r *Reader) askSSH(ctx context.Context, config string, q Query) (map[string][]string, error) {
	var args []string
	if q.User != "" {
		args = append(args, "-l", q.User)
	}
	if q.Port != 0 {
		args = append(args, "-p", strconv.Itoa(q.Port))
	}
	for _, o := range q.Options {
		args = append(args, "-o", strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(o), "-o")))
	}
	args = append(args, "--", q.Host)
	key := strings.Join(append([]string{config}, args...), "\x00")
	r.mu.Lock()
	a := r.answers[key]
	if a == nil {
		a = &asked{}
		r.answers[key] = a
	}
	r.mu.Unlock()
	a.once.Do(func() {
		file, remove, err := r.m.Config(config)
		if err != nil {
			a.err = err
			return
		}
		defer remove()
		out, err := r.m.SSH(ctx, append([]string{"-F", file}, args...)...)
		if err != nil {
			a.err = err
			return
		}
		a.out = ParseG(out)
	})
	return a.out, a.err
}

// ParseG reads the output of ssh -G: keywords in lower case and their values.
func ParseG(out []byte) map[string][]string {
	got := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		k, v, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if !ok {
			continue
		}
		k = strings.ToLower(k)
		if options[k] == kindWords {
			got[k] = append(got[k], strings.Fields(v)...)
			continue
		}
		if is, ok := plainValues[k+" "+v]; ok {
			v = is
		}
		got[k] = append(got[k], v)
	}
	return got
}

// plainValues are how ssh -G words some values.
var plainValues = map[string]string{
	"canonicalizehostname true": "yes", "canonicalizehostname false": "no",
	"pubkeyauthentication true": "yes", "pubkeyauthentication false": "no",
	"stricthostkeychecking true": "yes", "stricthostkeychecking false": "no",
}
