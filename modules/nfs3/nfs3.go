// Package nfs3 is Salt's execution module "nfs3": the exports of an NFS server.
package nfs3

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/textfile"
	"brine/modules/tool"
)

// Module returns the execution module "nfs3".
func Module() fun.Module {
	return fun.Module{Name: "nfs3", Kind: fun.Exec, Doc: "Exports of an NFS server.", Specs: specs}
}

type exportsArg struct {
	_       fun.Arguments
	Exports string `arg:"exports,path" default:"/etc/exports" doc:"the file"`
}

type pathArg struct {
	_    fun.Arguments
	Path string `arg:"path,path" doc:"the directory"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "add_export", Doc: "Export a directory to hosts.", Src: "modules/nfs3.py add_export", Do: addExport,
	},
	{Name: "del_export", Doc: "Remove the export of a directory; return those that are left.", Src: "modules/nfs3.py del_export", Do: delExport},
	{Name: "list_exports", Doc: "Return the exports by directory.", Src: "modules/nfs3.py list_exports", Do: listExports},
	{Name: "reload_exports", Doc: "Have the server read its exports again.", Src: "modules/nfs3.py reload_exports", Do: reload},
}

// A client is who may mount a directory, and how.
type client struct {
	hosts   string
	options []string
}

func (c client) String() string { return c.hosts + "(" + strings.Join(c.options, ",") + ")" }

// An entry is a line of exports(5), or several that belong together.
type entry struct {
	raw     string // as it is, with line ends
	paths   []string
	clients []client
}

// words splits a line at blanks, but not within double quotes, which it removes.
func words(line string) []string {
	var out []string
	var b strings.Builder
	quoted, some := false, false
	end := func() {
		if some {
			out = append(out, b.String())
		}
		b.Reset()
		some = false
	}
	for _, r := range line {
		switch {
		case r == '"':
			quoted, some = !quoted, true
		case !quoted && (r == ' ' || r == '\t' || r == '\n' || r == '\r'):
			end()
		default:
			b.WriteRune(r)
			some = true
		}
	}
	end()
	return out
}

// parse reads a file of exports(5): lines of directories and clients, where a line that
// ends with a backslash goes on in the next.
func parse(text string) []entry {
	var out []entry
	raw := ""
	for line := range strings.Lines(text) {
		raw += line
		if strings.HasSuffix(strings.TrimRight(line, "\r\n"), `\`) {
			continue
		}
		out, raw = append(out, one(raw)), ""
	}
	if raw != "" {
		out = append(out, one(raw))
	}
	return out
}

func one(raw string) entry {
	e := entry{raw: raw}
	line := strings.ReplaceAll(strings.ReplaceAll(raw, "\\\r\n", " "), "\\\n", " ")
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return e
	}
	for _, w := range words(line) {
		switch {
		case strings.HasPrefix(w, "#"):
			return e
		case strings.HasPrefix(w, "/"):
			e.paths = append(e.paths, w)
		case len(e.paths) > 0:
			hosts, rest, _ := strings.Cut(w, "(")
			c := client{hosts: hosts}
			if rest = strings.TrimRight(rest, ")"); rest != "" {
				c.options = strings.Split(rest, ",")
			}
			e.clients = append(e.clients, c)
		}
	}
	return e
}

// quote writes a directory as exports(5) reads it.
func quote(path string) string {
	if strings.ContainsAny(path, " \t") {
		return `"` + path + `"`
	}
	return path
}

// write returns a line.
func (e entry) write() string {
	var b strings.Builder
	for i, p := range e.paths {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(quote(p))
	}
	for _, c := range e.clients {
		b.WriteString(" " + c.String())
	}
	return b.String() + "\n"
}

// show returns the exports by directory.
func show(entries []entry) *value.Map {
	m := value.NewMap(len(entries))
	for _, e := range entries {
		for _, p := range e.paths {
			l := m.List(p)
			if l == nil {
				l = value.NewList()
				m.Set(p, l)
			}
			for _, c := range e.clients {
				l.Append(value.MapOf("hosts", c.hosts, "options", value.Strings(c.options...)))
			}
		}
	}
	return m
}

func read(h host.Host, file string) ([]entry, error) {
	b, err := h.ReadFile(file)
	if err != nil {
		return nil, fun.Errorf("%s: %s", file, host.Strerror(err))
	}
	return parse(value.DecodeReplace(b)), nil
}

func listExports(_ context.Context, c *fun.Call, a *exportsArg) (fun.Result, error) {
	entries, err := read(c.Env.Host, a.Exports)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(show(entries))
}

// Check refuses an export that the file cannot have.
func Check(path, hosts string, options []string) error {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "\"\\\r\n") {
		return fun.Errorf("invalid path %s: an absolute path is needed", value.Repr(path))
	}
	if strings.ContainsAny(hosts+strings.Join(options, ""), " \t\r\n()\"#\\") {
		return fun.Errorf("invalid hosts or options for %s", path)
	}
	return nil
}

func save(h host.Host, file string, entries []entry) error {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.raw)
	}
	if err := textfile.Write(h, file, b.String()); err != nil {
		return fun.Errorf("%s: %s", file, host.Strerror(err))
	}
	return nil
}

type delExportArgs struct {
	exportsArg
	pathArg
}

// delExport removes a directory. Salt: salt/modules/nfs3.py del_export. Difference:
// comments and other lines stay as they are.
func delExport(_ context.Context, c *fun.Call, a *delExportArgs) (fun.Result, error) {
	file, path := a.Exports, a.Path
	defer textfile.Lock(c.Env, file)()
	entries, err := read(c.Env.Host, file)
	if err != nil {
		return fun.Result{}, err
	}
	var kept []entry
	found := false
	for _, e := range entries {
		var paths []string
		for _, p := range e.paths {
			if p != path {
				paths = append(paths, p)
			}
		}
		if len(paths) == len(e.paths) {
			kept = append(kept, e)
			continue
		}
		found = true
		if e.paths = paths; len(paths) > 0 {
			e.raw = e.write()
			kept = append(kept, e)
		}
	}
	if !found {
		return fun.Result{}, value.Raise("KeyError", "%s", value.Repr(path))
	}
	return fun.Result{Value: show(kept)}, save(c.Env.Host, file, kept)
}

type addExportArgs struct {
	exportsArg
	pathArg
	Hosts   fun.Opt[string] `arg:"hosts" doc:"the hosts, as exports(5) writes them"`
	Options []string        `arg:"options,comma[str]" doc:"options of the export: rw, no_root_squash ..."`
}

// addExport exports a directory. Salt: salt/modules/nfs3.py add_export. Difference: a
// file that is not there is made.
func addExport(_ context.Context, c *fun.Call, a *addExportArgs) (fun.Result, error) {
	file, path, hosts := a.Exports, a.Path, a.Hosts.V
	if !a.Hosts.Given {
		return fun.Result{}, value.Raise("TypeError", "hosts argument must be a string")
	}
	options := a.Options
	if err := Check(path, hosts, options); err != nil {
		return fun.Result{}, err
	}
	defer textfile.Lock(c.Env, file)()
	text, err := textfile.Read(c.Env.Host, file)
	if err != nil {
		return fun.Result{}, fun.Errorf("%s: %s", file, host.Strerror(err))
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if strings.HasSuffix(text, "\\\n") {
		text += "\n" // or the new line would be part of this one
	}
	entries, added := parse(text), client{hosts, options}
	at := -1
	for i, e := range entries {
		if len(e.paths) == 1 && e.paths[0] == path {
			at = i
		}
	}
	if at < 0 {
		at = len(entries)
		entries = append(entries, entry{paths: []string{path}})
	}
	e := &entries[at]
	e.clients = append(e.clients, added)
	e.raw = e.write()
	return fun.Result{Value: value.MapOf("hosts", hosts, "options", value.Strings(options...))}, save(c.Env.Host, file, entries)
}

// reload runs the tool of the NFS server, whose status says little: what it prints on
// stderr is an error. Salt: salt/modules/nfs3.py reload_exports.
func reload(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	out, err := tool.Run(ctx, c.Env.Host, "exportfs", "-r")
	if err != nil {
		return fun.Result{}, err
	}
	stderr := strings.TrimRight(out.Stderr, "\n")
	return fun.Value(value.MapOf("stdout", out.Text(), "stderr", stderr, "result", stderr == ""))
}
