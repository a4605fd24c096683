package docker

import (
	"archive/tar"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// human is a size as Salt shows it beside the number.
func human(v value.Value) string {
	n, ok := value.AsInt(v)
	if !ok {
		return "unknown"
	}
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	f := float64(n) / 1024
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		if f < 1024 {
			return fmt.Sprintf("%3.1f %s", f, unit)
		}
		f /= 1024
	}
	return fmt.Sprintf("%3.1f TiB", f)
}

func sizes(m *value.Map) {
	for _, k := range []string{"Size", "VirtualSize"} {
		if v, ok := m.Get(k); ok {
			m.Set(k+"_Human", human(v))
		}
	}
}

// InspectImage returns what is known of an image.
func (e *Engine) InspectImage(ctx context.Context, name string) (*value.Map, error) {
	m, err := e.mapping(ctx, "/images/"+name+"/json")
	if err != nil {
		return nil, err
	}
	sizes(m)
	return m, nil
}

// ImageID returns the ID of an image; "" where there is none.
func (e *Engine) ImageID(ctx context.Context, name string) (string, error) {
	m, err := e.InspectImage(ctx, name)
	if Missing(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return m.Str("Id"), nil
}

// Images returns images by ID: those with a tag, or with all every one.
func (e *Engine) Images(ctx context.Context, all bool) (*value.Map, error) {
	list, err := e.list(ctx, "/images/json", url.Values{"all": {strconv.FormatBool(all)}})
	if err != nil {
		return nil, err
	}
	tagged, untagged := value.NewMap(8), value.NewMap(4)
	for _, m := range list {
		id, ok := m.Get("Id")
		if !ok {
			continue
		}
		img := timed(m)
		sizes(img)
		if tags := items(m.At("RepoTags")); len(tags) == 0 || len(tags) == 1 && tags[0] == "<none>:<none>" {
			untagged.Set(id, img)
		} else {
			tagged.Set(id, img)
		}
	}
	if all {
		tagged.Update(untagged)
	}
	return tagged, nil
}

// Tags returns the tags of all images, sorted.
func (e *Engine) Tags(ctx context.Context) ([]string, error) {
	all, err := e.Images(ctx, false)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, v := range all.All() {
		m, _ := v.(*value.Map)
		for _, t := range items(m.At("RepoTags")) {
			out = append(out, value.Str(t))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// ResolveTags returns the tags of an image, its ID where it has none; nothing
// where there is no such image.
func (e *Engine) ResolveTags(ctx context.Context, name string) ([]string, error) {
	m, err := e.InspectImage(ctx, name)
	if Missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range items(m.At("RepoTags")) {
		out = append(out, value.Str(t))
	}
	if len(out) == 0 {
		out = []string{m.Str("Id")}
	}
	return out, nil
}

// splitTag splits an image into repository and tag, "" for none.
func splitTag(image string) (repo, tag string) {
	if repo, digest, ok := strings.Cut(image, "@"); ok {
		return repo, digest
	}
	i := strings.LastIndexByte(image, ':')
	if i < 0 || strings.Contains(image[i:], "/") {
		return image, ""
	}
	return image[:i], image[i+1:]
}

// registry returns the registry of an image, "" for Docker's own.
func registry(image string) string {
	first, _, ok := strings.Cut(image, "/")
	if ok && (strings.ContainsAny(first, ".:") || first == "localhost") {
		return first
	}
	return ""
}

// hub is the name of Docker's own registry in files of credentials.
const hub = "https://index.docker.io/v1/"

// configFile returns the path of the docker client's configuration.
func (e *Engine) configFile() string {
	home := "/root"
	for _, kv := range e.env.Host.Environ() {
		if v, ok := strings.CutPrefix(kv, "DOCKER_CONFIG="); ok {
			return path.Join(v, "config.json")
		}
		if v, ok := strings.CutPrefix(kv, "HOME="); ok {
			home = v
		}
	}
	return path.Join(home, ".docker", "config.json")
}

// credentials returns the header with which the engine logs in to the registry of
// an image, as docker login stored it; "" for none.
func (e *Engine) credentials(image string) string {
	raw, err := e.env.Host.ReadFile(e.configFile())
	if err != nil {
		return ""
	}
	v, err := value.ParseJSON(value.DecodeReplace(raw))
	if err != nil {
		return ""
	}
	m, _ := v.(*value.Map)
	want := registry(image)
	for k, x := range m.Map("auths").All() {
		name := value.Str(k)
		bare, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(name, "https://"), "http://"), "/")
		if want == "" && name != hub || want != "" && bare != want {
			continue
		}
		entry, _ := x.(*value.Map)
		pair, err := base64.StdEncoding.DecodeString(entry.Str("auth"))
		user, pass, ok := strings.Cut(string(pair), ":")
		if err != nil || !ok {
			return ""
		}
		return encodeAuth(user, strings.TrimRight(pass, "\x00"), name)
	}
	return ""
}

func encodeAuth(user, password, server string) string {
	return base64.URLEncoding.EncodeToString(value.EncodeJSON(value.MapOf("username", user, "password", password, "serveraddress", server)))
}

// A progress collects what pull, push, build and import say.
type progress struct {
	ret    *value.Map
	errs   []string
	events *value.List
	known  map[string]bool // images that were there before
}

func (p *progress) layer(kind, id string) {
	layers := p.ret.Map("Layers")
	if layers == nil {
		layers = value.NewMap(2)
		p.ret.Set("Layers", layers)
	}
	l := layers.List(kind)
	if l == nil {
		l = value.NewList()
		layers.Set(kind, l)
	}
	if !slices.ContainsFunc(l.Items, func(v value.Value) bool { return v == id }) {
		l.Append(id)
	}
}

func (p *progress) pulled(m *value.Map) {
	p.note(m)
	status, id := m.Str("status"), m.Str("id")
	switch {
	case status == "Already exists", status == "Download complete" && p.known[id]:
		p.layer("Already_Pulled", id)
	case status == "Pull complete", status == "Download complete":
		p.layer("Pulled", id)
	case strings.HasPrefix(status, "Status: "):
		p.ret.Set("Status", status[8:])
	}
}

func (p *progress) pushed(m *value.Map) {
	p.note(m)
	status, id := strings.ToLower(m.Str("status")), m.Str("id")
	switch {
	case id == "":
	case strings.Contains(status, "already pushed"), strings.Contains(status, "already exists"):
		p.layer("Already_Pushed", id)
	case strings.Contains(status, "successfully pushed"), status == "pushed":
		p.layer("Pushed", id)
	}
}

// built notes an event of a build. Intermediate containers are removed where
// remove says so.
func (p *progress) built(m *value.Map, remove bool) {
	p.pulled(m)
	s := m.Str("stream")
	if id := strings.TrimPrefix(m.Map("aux").Str("ID"), "sha256:"); id != "" && !p.ret.Has("Id") {
		p.ret.Set("Id", id[:min(12, len(id))])
	}
	words := strings.Fields(s)
	switch {
	case len(words) == 0:
	case strings.Contains(s, "Successfully built"):
		p.ret.Set("Id", words[len(words)-1])
	case strings.Contains(s, "Running in") && !remove:
		l := p.ret.List("Intermediate_Containers")
		if l == nil {
			l = value.NewList()
			p.ret.Set("Intermediate_Containers", l)
		}
		l.Append(words[len(words)-1])
	}
}

// note keeps an event, and its error.
func (p *progress) note(m *value.Map) {
	p.events.Append(m)
	d := m.Map("errorDetail")
	if d == nil {
		if s := m.Str("error"); s != "" {
			p.errs = append(p.errs, s)
		}
		return
	}
	msg := d.Str("message")
	if code := d.At("code"); code != nil {
		msg = value.Str(code) + ": " + msg
	}
	p.errs = append(p.errs, msg)
}

// Pull pulls an image. With api the return has the events of the engine. Errors
// of the registry are in the return, under Errors.
func (e *Engine) Pull(ctx context.Context, image string, api bool) (*value.Map, error) {
	repo, tag := splitTag(image)
	if tag == "" {
		tag = "latest"
	}
	known, err := e.Images(ctx, true)
	if err != nil {
		return nil, err
	}
	p := &progress{ret: value.NewMap(4), events: value.NewList(), known: map[string]bool{}}
	for id := range known.All() {
		s := value.Str(id)
		p.known[s[:min(12, len(s))]] = true
	}
	start := e.env.Host.Now()
	err = e.events(ctx, call{method: http.MethodPost, path: "/images/create", query: url.Values{"fromImage": {repo}, "tag": {tag}}, auth: e.credentials(repo), wait: time.Hour}, p.pulled)
	return p.done(e, start, api, err)
}

// done completes the return of pull and push.
func (p *progress) done(e *Engine, start time.Time, api bool, err error) (*value.Map, error) {
	if err != nil {
		return nil, err
	}
	ret := value.MapOf("Time_Elapsed", e.env.Host.Now().Sub(start).Seconds(), "retcode", int64(0))
	ret.Update(p.ret)
	if api {
		ret.Set("API_Response", p.events)
	}
	if len(p.errs) > 0 {
		ret.Set("Errors", value.Strings(p.errs...))
		ret.Set("retcode", int64(1))
	}
	return ret, nil
}

// Push pushes an image.
func (e *Engine) Push(ctx context.Context, image string, api bool) (*value.Map, error) {
	repo, tag := splitTag(image)
	q := url.Values{}
	if tag != "" {
		q.Set("tag", tag)
	}
	auth := e.credentials(repo)
	if auth == "" {
		auth = base64.URLEncoding.EncodeToString([]byte("{}"))
	}
	p := &progress{ret: value.NewMap(4), events: value.NewList()}
	start := e.env.Host.Now()
	err := e.events(ctx, call{method: http.MethodPost, path: "/images/" + repo + "/push", query: q, auth: auth, wait: time.Hour}, p.pushed)
	return p.done(e, start, api, err)
}

// Tag gives an image a tag.
func (e *Engine) Tag(ctx context.Context, name, repo, tag string, force bool) error {
	id, err := e.imageID(ctx, name)
	if err != nil {
		return err
	}
	return e.post(ctx, "/images/"+value.Str(id)+"/tag", url.Values{"repo": {repo}, "tag": {tag}, "force": {strconv.FormatBool(force)}}, nil)
}

// RemoveImages removes images. What the engine refuses is in the return, under
// Errors.
func (e *Engine) RemoveImages(ctx context.Context, names []string, force, prune bool) (*value.Map, error) {
	before, err := e.Images(ctx, true)
	if err != nil {
		return nil, err
	}
	tags, err := e.Tags(ctx)
	if err != nil {
		return nil, err
	}
	var errs []string
	for _, n := range names {
		m, err := e.InspectImage(ctx, n)
		if err != nil {
			return nil, err
		}
		// One of several tags goes by its name: the ID is all of them.
		id := m.Str("Id")
		if slices.Contains(items(m.At("RepoTags")), value.Value(n)) {
			id = n
		}
		q := url.Values{"force": {strconv.FormatBool(force)}, "noprune": {strconv.FormatBool(!prune)}}
		_, err = e.do(ctx, call{method: http.MethodDelete, path: "/images/" + id, query: q})
		more, err := e.unremoved(ctx, n, err)
		if err != nil {
			return nil, err
		}
		errs = append(errs, more...)
	}
	after, err := e.Images(ctx, true)
	if err != nil {
		return nil, err
	}
	now, err := e.Tags(ctx)
	if err != nil {
		return nil, err
	}
	layers := value.NewList()
	for id := range before.All() {
		if !after.Has(id) {
			layers.Append(id)
		}
	}
	ret := value.MapOf("Layers", layers, "Tags", value.Strings(slices.DeleteFunc(tags, func(t string) bool { return slices.Contains(now, t) })...), "retcode", int64(0))
	if len(errs) > 0 {
		ret.Set("Errors", value.Strings(errs...))
		ret.Set("retcode", int64(1))
	}
	return ret, nil
}

// unremoved explains why an image stays.
func (e *Engine) unremoved(ctx context.Context, name string, err error) ([]string, error) {
	api, ok := err.(*APIError) //nolint:errorlint // as the engine answered
	if !ok {
		return nil, err
	}
	if api.Status != http.StatusConflict {
		return []string{api.Error()}, nil
	}
	out := []string{api.Msg}
	containers, images, err := e.Depends(ctx, name)
	if err != nil {
		return out, nil // the engine's own message stays
	}
	var uses []string
	if len(containers) > 0 {
		uses = append(uses, "container(s): "+strings.Join(containers, ", "))
	}
	if len(images) > 0 {
		uses = append(uses, "image(s): "+strings.Join(images, ", "))
	}
	if len(uses) > 0 {
		out = append(out, "Image is in use by "+strings.Join(uses, " and "))
	}
	return out, nil
}

// Depends returns the containers and images that need an image.
func (e *Engine) Depends(ctx context.Context, name string) (containers, images []string, err error) {
	id, err := e.imageID(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	all, err := e.PS(ctx, nil, true)
	if err != nil {
		return nil, nil, err
	}
	for _, v := range all.All() {
		c, _ := v.(*value.Map)
		if c.At("ImageID") == id {
			for _, n := range items(c.At("Names")) {
				containers = append(containers, strings.TrimLeft(value.Str(n), "/"))
			}
		}
	}
	imgs, err := e.Images(ctx, true)
	if err != nil {
		return nil, nil, err
	}
	for k, v := range imgs.All() {
		if m, _ := v.(*value.Map); m.At("ParentId") == id {
			s := value.Str(k)
			images = append(images, s[:min(12, len(s))])
		}
	}
	return containers, images, nil
}

// A Build is what Build builds an image of.
type Build struct {
	Path, Repository, Tag, Dockerfile string
	NoCache, Remove, API              bool
	Args                              value.Mapping
	LogFile                           string
}

// Build builds an image of a directory of this machine, or of a URL.
func (e *Engine) Build(ctx context.Context, b Build) (*value.Map, error) {
	if b.Tag != "" && b.Repository == "" {
		return nil, fun.Errorf("If tagging, both a repository and tag are required")
	}
	q := url.Values{"rm": {strconv.FormatBool(b.Remove)}, "nocache": {strconv.FormatBool(b.NoCache)}, "q": {"false"}}
	full := ""
	if b.Repository != "" && b.Tag != "" {
		full = b.Repository + ":" + b.Tag
		q.Set("t", full)
	}
	if b.Dockerfile != "" {
		q.Set("dockerfile", b.Dockerfile)
	}
	if b.Args != nil && b.Args.Len() > 0 {
		q.Set("buildargs", string(value.EncodeJSON(texted(b.Args))))
	}
	c := call{method: http.MethodPost, path: "/build", query: q, kind: "application/x-tar", wait: 24 * time.Hour}
	if remote(b.Path) {
		q.Set("remote", b.Path)
	} else {
		if st, err := e.env.Host.Stat(b.Path); err != nil || !st.Mode.IsDir() {
			return nil, fun.Errorf("You must specify a directory to build in path")
		}
		r, w := io.Pipe()
		defer func() { _ = r.Close() }()
		go func() { w.CloseWithError(e.pack(w, b.Path)) }()
		c.body = r
	}
	p := &progress{ret: value.NewMap(4), events: value.NewList()}
	start := e.env.Host.Now()
	var log strings.Builder
	err := e.events(ctx, c, func(m *value.Map) {
		log.WriteString(m.Str("stream"))
		p.built(m, b.Remove)
	})
	if err != nil {
		return nil, err
	}
	if b.LogFile != "" {
		if err := e.env.Host.AppendFile(b.LogFile, []byte(log.String()), 0o644); err != nil {
			e.env.Log().Error("docker: unable to write logfile", "path", b.LogFile)
		}
	}
	if !p.ret.Has("Id") {
		msg := "Build failed for " + b.Path
		if len(p.errs) > 0 {
			msg += ". Error(s) follow:\n\n" + strings.Join(p.errs, "\n\n")
		}
		return nil, fun.Errorf("%s", msg)
	}
	ret := value.MapOf("Time_Elapsed", e.env.Host.Now().Sub(start).Seconds())
	ret.Update(p.ret)
	tags, err := e.ResolveTags(ctx, p.ret.Str("Id"))
	if err != nil {
		return nil, err
	}
	if len(tags) > 0 {
		ret.Set("Image", value.Strings(tags...))
	} else {
		ret.Set("Warning", "Failed to tag image as "+full)
	}
	if b.API {
		ret.Set("API_Response", p.events)
	}
	return ret, nil
}

func remote(p string) bool {
	for _, s := range []string{"http://", "https://", "git://", "github.com/", "git@"} {
		if strings.HasPrefix(p, s) {
			return true
		}
	}
	return false
}

// pack writes the files of a directory as a tar archive, without those that its
// .dockerignore names.
func (e *Engine) pack(w io.Writer, dir string) error {
	var ignore []string
	if raw, err := e.env.Host.ReadFile(path.Join(dir, ".dockerignore")); err == nil {
		for line := range strings.Lines(value.DecodeReplace(raw)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				ignore = append(ignore, line)
			}
		}
	}
	t := tar.NewWriter(w)
	if err := e.packDir(t, dir, "", ignore); err != nil {
		return err
	}
	return t.Close()
}

func (e *Engine) packDir(t *tar.Writer, dir, rel string, ignore []string) error {
	names, err := e.env.Host.ReadDir(path.Join(dir, rel))
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, n := range names {
		name := path.Join(rel, n)
		st, err := e.env.Host.Lstat(path.Join(dir, name))
		if err != nil {
			return err
		}
		out := ignored(name, ignore)
		if st.Mode.IsDir() {
			if out && !slices.ContainsFunc(ignore, func(s string) bool { return s[0] == '!' }) {
				continue
			}
			if !out {
				if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: int64(st.Perm()), ModTime: st.Mtime}); err != nil {
					return err
				}
			}
			if err := e.packDir(t, dir, name, ignore); err != nil {
				return err
			}
			continue
		}
		if out && name != "Dockerfile" && name != ".dockerignore" {
			continue
		}
		if err := e.packFile(t, path.Join(dir, name), name, st.Mode, st.Size, int64(st.Perm()), st.Mtime); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) packFile(t *tar.Writer, from, name string, mode fs.FileMode, size, perm int64, mtime time.Time) error {
	h := &tar.Header{Name: name, Mode: perm, ModTime: mtime}
	switch {
	case mode&fs.ModeSymlink != 0:
		link, err := e.env.Host.Readlink(from)
		if err != nil {
			return err
		}
		h.Typeflag, h.Linkname = tar.TypeSymlink, link
		return t.WriteHeader(h)
	case !mode.IsRegular():
		return nil
	}
	h.Typeflag, h.Size = tar.TypeReg, size
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	f, err := e.env.Host.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.CopyN(t, f, size)
	return err
}

// ignored reports whether patterns of .dockerignore leave out a file. The last
// that fits decides; with ! it is taken in.
func ignored(name string, patterns []string) bool {
	out := false
	for _, p := range patterns {
		in := strings.HasPrefix(p, "!")
		if fits(strings.Trim(strings.TrimPrefix(p, "!"), "/"), name) {
			out = !in
		}
	}
	return out
}

// fits reports whether a pattern fits a file or a directory that it is in.
func fits(pattern, name string) bool {
	pattern = path.Clean(pattern)
	parts := strings.Split(name, "/")
	for i := range parts {
		if glob(strings.Split(pattern, "/"), parts[:i+1]) {
			return true
		}
	}
	return false
}

func glob(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if pattern[0] == "**" {
		for i := range len(name) + 1 {
			if glob(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	}
	if len(name) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], name[0])
	return ok && err == nil && glob(pattern[1:], name[1:])
}

// Load loads the images of an archive of this machine, and tags the one it has
// where repo and tag say so.
func (e *Engine) Load(ctx context.Context, file, shown, repo, tag string) (*value.Map, error) {
	if (repo != "" || tag != "") && (repo == "" || tag == "") {
		return nil, fun.Errorf("If tagging, both a repository and tag are required")
	}
	f, err := e.env.Host.Open(file)
	if err != nil {
		return nil, fun.Errorf("Source file %s does not exist", shown)
	}
	defer func() { _ = f.Close() }()
	before, err := e.Images(ctx, true)
	if err != nil {
		return nil, err
	}
	p := &progress{ret: value.NewMap(4), events: value.NewList()}
	start := e.env.Host.Now()
	if err := e.events(ctx, call{method: http.MethodPost, path: "/images/load", body: f, kind: "application/x-tar", wait: time.Hour}, p.note); err != nil {
		return nil, fun.Errorf("Failed to load image(s) from %s: %v", shown, err)
	}
	if len(p.errs) > 0 {
		return nil, fun.Errorf("Failed to load image(s) from %s: %s", shown, strings.Join(p.errs, "; "))
	}
	after, err := e.Images(ctx, true)
	if err != nil {
		return nil, err
	}
	layers, parents := value.NewList(), map[value.Value]bool{}
	var top []string
	for _, v := range after.All() {
		m, _ := v.(*value.Map)
		parents[m.At("ParentId")] = true
	}
	for id := range after.All() {
		if s := value.Str(id); !before.Has(id) {
			layers.Append(s[:min(12, len(s))])
			if !parents[id] {
				top = append(top, s)
			}
		}
	}
	ret := value.MapOf("Time_Elapsed", e.env.Host.Now().Sub(start).Seconds(), "Path", shown, "Layers", layers)
	switch {
	case repo == "":
	case len(top) > 1:
		ret.Set("Warning", "More than one top-level image layer was loaded ("+strings.Join(top, ", ")+"), no image was tagged")
	case len(top) == 0:
		ret.Set("Warning", "No top-level image layers were loaded, no image was tagged")
	default:
		if err := e.Tag(ctx, top[0], repo, tag, false); err != nil {
			ret.Set("Warning", fmt.Sprintf("Failed to tag %s as %s:%s: %v", top[0], repo, tag, err))
		} else {
			ret.Set("Image", repo+":"+tag)
		}
	}
	return ret, nil
}
