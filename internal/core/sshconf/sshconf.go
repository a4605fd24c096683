// Package sshconf reads ssh_config(5) as OpenSSH does: the same words of a line,
// the same order of files, Match blocks, canonical names and second pass.
//
// Start at [Reader]. It reads each file once; [Reader.Lookup] returns what the
// files say of one host. What they say is compared with "ssh -G" by a test.
package sshconf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"brine/internal/py/source"
)

// A File is a configuration file.
type File struct {
	Path string
	// System is a file of the machine: includes of it start in /etc/ssh, and it
	// cannot name home directories.
	System bool
	// Check refuses a file that others than its owner can write, as ssh does
	// with ~/.ssh/config. Included files are always checked.
	Check bool
}

// A Machine is what a Reader needs to know of where it runs. Each func may be
// nil: then there is nothing to know.
type Machine struct {
	ReadFile func(path string) ([]byte, error)
	ReadDir  func(path string) ([]string, error) // names
	// Unsafe says why a file cannot be relied on; "" where it can.
	Unsafe func(path string) string
	Getenv func(key string) (string, bool)
	// HomeOf returns the home directory of an account.
	HomeOf func(user string) (string, bool)
	// Exec runs a command of "Match exec" and reports whether it succeeded.
	Exec func(ctx context.Context, command string) (bool, error)
	// Resolve returns the canonical name of a host; false where it has no address.
	Resolve func(ctx context.Context, host string) (cname string, ok bool)
	// SSH runs "ssh -G" with arguments and returns its output. nil: there is no
	// ssh.
	SSH func(ctx context.Context, args ...string) ([]byte, error)
	// Config makes a configuration file for SSH to read, and removes it.
	Config func(text string) (path string, remove func(), err error)

	Home string // of the person
	User string // account of the person
	UID  int
	Name string // of the machine
}

// A Reader answers what files say of hosts. It is safe for concurrent use.
type Reader struct {
	m     Machine
	files []File

	mu      sync.Mutex
	parsed  map[string]*parsed  // by path
	globs   map[string][]string // by pattern
	execs   map[string]*answer  // by command
	answers map[string]*asked   // by what ssh was asked
}

// New returns a Reader of files, the first of which has the first word.
func New(m Machine, files ...File) *Reader {
	return &Reader{
		m: m, files: files,
		parsed: map[string]*parsed{}, globs: map[string][]string{}, execs: map[string]*answer{}, answers: map[string]*asked{},
	}
}

// A Query is a host and what is said of it outside of the files.
type Query struct {
	Host    string
	User    string   // "": as the files say
	Port    int      // 0: as the files say
	Options []string // as for ssh -o; they come before the files
}

// A Result is what holds for a host.
type Result struct {
	Host string // name or address to connect to

	name     string // as it was asked for
	values   map[string][]string
	from     map[string]source.Pos
	expanded bool // ssh has filled in the tokens of some values, see Expanded
}

// Get returns the first value of a keyword in lower case, "" where it is unset.
func (r *Result) Get(key string) string {
	if v := r.values[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// All returns the values of a keyword in lower case.
func (r *Result) All(key string) []string { return r.values[key] }

// Expanded reports whether tokens of a value are filled in already.
func (r *Result) Expanded(key string) bool {
	return r.expanded && (key == "userknownhostsfile" || key == "identityagent" || key == "controlpath")
}

// Keys returns the keywords that are set, sorted.
func (r *Result) Keys() []string { return slices.Sorted(maps.Keys(r.values)) }

// From returns where a keyword was set: the zero Pos where it was not, or not in
// a file.
func (r *Result) From(key string) source.Pos { return r.from[key] }

// SetByOption reports whether a keyword was set by an option of the query.
func (r *Result) SetByOption(key string) bool {
	_, ok := r.values[key]
	return ok && r.from[key] == source.Pos{File: optionFile}
}

// optionFile stands for the options of a query.
const optionFile = "option"

// Lookup returns the settings that apply to a host. If a file cannot be read
// completely, it asks ssh; if there is none, the error has file and line. No
// setting is ignored silently.
func (r *Reader) Lookup(ctx context.Context, q Query) (*Result, error) {
	res, err := r.read(ctx, q)
	if err == nil || ctx.Err() != nil {
		return res, err
	}
	if _, own := errors.AsType[*OptionError](err); own || r.m.SSH == nil || r.m.Config == nil {
		return nil, err
	}
	if res, aerr := r.ask(ctx, q); aerr == nil {
		return res, nil
	}
	return nil, err
}

// An OptionError is a fault of an option of a query.
type OptionError struct {
	Option string
	Err    error
}

// Error names the option.
func (e *OptionError) Error() string {
	if errors.Is(e.Err, errNoOption) {
		return fmt.Sprintf("ssh option %q is %v", e.Option, e.Err)
	}
	return fmt.Sprintf("ssh option %q: %v", e.Option, e.Err)
}

// errNoOption is an option without a value.
var errNoOption = errors.New("not <keyword>=<value>")

func (e *OptionError) Unwrap() error { return e.Err }

// Canonicalize says in what way names are made canonical.
const (
	canonNo     = "no"
	canonAlways = "always"
)

func (r *Reader) read(ctx context.Context, q Query) (*Result, error) {
	p := &pass{
		Reader: r, orig: q.Host, host: q.Host,
		res: &Result{name: q.Host, values: map[string][]string{}, from: map[string]source.Pos{}},
	}
	said := source.Pos{File: optionFile}
	if q.User != "" {
		p.set("user", said, q.User)
	}
	if q.Port != 0 {
		p.set("port", said, strconv.Itoa(q.Port))
	}
	for _, o := range q.Options {
		if err := p.option(o); err != nil {
			return nil, &OptionError{o, err}
		}
	}
	if err := p.readFiles(ctx); err != nil {
		return nil, err
	}
	res := p.res
	host := q.Host
	if h := res.Get("hostname"); h != "" {
		var err error
		if host, err = hostName(h, q.Host); err != nil {
			return nil, &source.Error{Pos: res.From("hostname"), Err: err}
		}
	}
	addr, isAddr := address(host)
	if isAddr {
		host = addr
	} else {
		host = strings.ToLower(host)
		var err error
		if host, err = p.canonical(ctx, host); err != nil {
			return nil, err
		}
	}
	if c := cmpOr(res.Get("canonicalizehostname"), canonNo); c != canonNo {
		p.wantFinal = true
	}
	if p.wantFinal {
		// As ssh: these count from the first pass.
		for _, d := range [][2]string{{"canonicalizehostname", canonNo}, {"canonicalizemaxdots", "1"}, {"canonicalizefallbacklocal", "yes"}} {
			p.set(d[0], source.Pos{}, d[1])
		}
		res.values["hostname"] = []string{host}
		p.host, p.final = host, true
		if err := p.readFiles(ctx); err != nil {
			return nil, err
		}
	}
	res.Host = host
	return res, nil
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// hostName fills in %h in a HostName; it knows no other token.
func hostName(pattern, name string) (string, error) {
	return fill(pattern, func(c byte) (string, bool) { return name, c == 'h' })
}

// canonical returns the canonical name of a host, where the files ask for it.
// See resolve_canonicalize of OpenSSH's ssh.c.
func (p *pass) canonical(ctx context.Context, host string) (string, error) {
	res := p.res
	mode := cmpOr(res.Get("canonicalizehostname"), canonNo)
	direct := noneOr(res.Get("proxycommand")) && noneOr(res.Get("proxyjump"))
	if mode == canonNo || !direct && mode != canonAlways || p.m.Resolve == nil || host == "" {
		return host, nil
	}
	var tries []string
	switch dots, err := strconv.Atoi(cmpOr(res.Get("canonicalizemaxdots"), "1")); {
	case strings.HasSuffix(host, "."):
		tries = []string{host}
	case err != nil || strings.Count(host, ".") > dots:
		return host, nil
	default:
		for _, d := range res.All("canonicaldomains") {
			if strings.EqualFold(d, "none") {
				break
			}
			tries = append(tries, host+"."+d+".")
		}
	}
	for _, full := range tries {
		cname, ok := p.m.Resolve(ctx, full)
		if !ok {
			continue
		}
		return p.followed(strings.TrimSuffix(full, "."), strings.TrimSuffix(cname, ".")), nil
	}
	if res.Get("canonicalizefallbacklocal") == "no" {
		return "", &source.Error{Pos: res.From("canonicalizefallbacklocal"), Err: fmt.Errorf("host %q is in none of the CanonicalDomains", host)}
	}
	return host, nil
}

// followed returns a name, or the one that DNS says it stands for where
// CanonicalizePermittedCNAMEs allows that.
func (p *pass) followed(name, cname string) string {
	if cname == "" {
		return name
	}
	for _, rule := range p.res.All("canonicalizepermittedcnames") {
		if rule == "*" {
			rule = "*:*"
		}
		from, to, ok := strings.Cut(rule, ":")
		if ok && matchList(name, strings.ToLower(from)) && matchList(strings.ToLower(cname), strings.ToLower(to)) {
			return strings.ToLower(cname)
		}
	}
	return name
}

func noneOr(s string) bool { return s == "" || strings.EqualFold(s, "none") }

// A pass is the reading of the files for one host.
type pass struct {
	*Reader
	orig, host string
	final      bool
	wantFinal  bool
	res        *Result
}

// set sets a keyword that is not set.
func (p *pass) set(key string, at source.Pos, values ...string) {
	if _, ok := p.res.values[key]; !ok {
		p.res.values[key] = values
		p.res.from[key] = at
	}
}

func (p *pass) readFiles(ctx context.Context) error {
	for _, f := range p.files {
		if err := p.file(ctx, f, true, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// maxInclude is how deep files may include each other.
const maxInclude = 16

// file applies a file. Where live is false, it is included by a block that does
// not hold: then only its faults count.
func (p *pass) file(ctx context.Context, f File, live bool, depth int) error {
	got := p.parse(f)
	if got.err != nil {
		return got.err
	}
	active := live
	for i := range got.lines {
		l := &got.lines[i]
		at := source.Pos{File: f.Path, Line: l.n}
		switch l.kind {
		case kindHost:
			active = live && hostLine(p.host, l.args)
		case kindMatch:
			if !live {
				// As ssh: that it asks for a second pass counts even here.
				p.wantFinal = p.wantFinal || !p.final && asksFinal(l.match)
				active = false
				continue
			}
			ok, err := p.match(ctx, l.match)
			if err != nil {
				return &source.Error{Pos: at, Err: err}
			}
			active = ok
		case kindInclude:
			if err := p.include(ctx, f, l, active, depth); err != nil {
				return err
			}
		case kindUnknown:
			if !matchList(l.key, strings.ToLower(p.res.Get("ignoreunknown"))) {
				return &source.Error{Pos: at, Err: unknownKeyword(l.word)}
			}
		case kindAgent, kindForward:
			if err := p.checkAgent(l); err != nil {
				return &source.Error{Pos: at, Err: err}
			}
			fallthrough
		default:
			if active {
				p.apply(l, at)
			}
		}
	}
	return nil
}

// include applies the files that an Include names.
func (p *pass) include(ctx context.Context, f File, l *line, active bool, depth int) error {
	files, err := p.includes(f, l, depth)
	if err != nil {
		return err
	}
	for _, sub := range files {
		if err := p.file(ctx, sub, active, depth+1); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// included returns the files that a pattern of an Include means.
func (r *Reader) included(f File, pattern string) ([]string, error) {
	switch {
	case strings.Contains(pattern, "${") || strings.Contains(pattern, "%"):
		// Later versions of ssh expand them, earlier ones do not.
		return nil, fmt.Errorf("cannot read the tokens of Include %s", pattern)
	case strings.HasPrefix(pattern, "~"):
		if f.System {
			return nil, fmt.Errorf("bad include path %s", pattern)
		}
		full, err := r.Tilde(pattern)
		if err != nil {
			return nil, nil // as ssh: such a pattern names no file
		}
		pattern = full
	case !path.IsAbs(pattern) && f.System:
		pattern = path.Join("/etc/ssh", pattern)
	case !path.IsAbs(pattern):
		pattern = path.Join(r.m.Home, ".ssh", pattern)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	names, ok := r.globs[pattern]
	if !ok {
		names = glob(r.m.ReadDir, pattern)
		r.globs[pattern] = names
	}
	return names, nil
}

// A Read is how a file was read.
type Read struct {
	Path    string
	Lines   int
	Problem error // of an existing file
}

// Files returns the files, without those that they include.
func (r *Reader) Files() []Read {
	var out []Read
	for _, f := range r.files {
		got := r.parse(f)
		read := Read{Path: f.Path, Lines: len(got.lines), Problem: got.err}
		if errors.Is(got.err, fs.ErrNotExist) {
			continue
		}
		out = append(out, read)
	}
	return out
}

// Hosts calls each for the names of Host lines, in order and without those that
// are patterns, of all files and of those that they include.
func (r *Reader) Hosts(each func(name string, at source.Pos)) error {
	for _, f := range r.files {
		if err := r.hosts(f, each, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (r *Reader) hosts(f File, each func(string, source.Pos), depth int) error {
	got := r.parse(f)
	if errors.Is(got.err, fs.ErrNotExist) && depth > 0 {
		return nil
	}
	for i := range got.lines {
		l := &got.lines[i]
		if l.kind == kindHost {
			for _, w := range l.args {
				if w != "" && !strings.ContainsAny(w, "*?! \t") && w[0] != '-' {
					each(w, source.Pos{File: f.Path, Line: l.n, Col: strings.Index(l.text, w) + 1})
				}
			}
		}
		if l.kind != kindInclude {
			continue
		}
		files, err := r.includes(f, l, depth)
		if err != nil {
			return err
		}
		for _, sub := range files {
			if err := r.hosts(sub, each, depth+1); err != nil {
				return err
			}
		}
	}
	return got.err
}

// includes returns the files that an Include line means. depth is how many files
// include f.
func (r *Reader) includes(f File, l *line, depth int) ([]File, error) {
	var out []File
	for _, pattern := range l.args {
		names, err := r.included(f, pattern)
		if err == nil && len(names) > 0 && depth+1 > maxInclude {
			err = fmt.Errorf("more than %d files include each other", maxInclude)
		}
		if err != nil {
			return nil, &source.Error{Pos: source.Pos{File: f.Path, Line: l.n}, Err: err}
		}
		for _, n := range names {
			out = append(out, File{Path: n, System: f.System, Check: true})
		}
	}
	return out, nil
}
