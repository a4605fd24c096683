package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // packagers
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// formats are the kinds of packages.
var formats = []string{"deb", "rpm", "apk"}

// salt are the programs that brine-salt-compat stands in for, and the packages that
// have them.
var (
	saltPrograms = []string{"salt", "salt-call", "salt-run", "salt-ssh"}
	saltPackages = []string{"salt", "salt-common", "salt-master", "salt-minion", "salt-ssh"}
)

// packages makes brine for each Linux platform, and brine-agents and brine-salt-compat
// for all.
func (r *release) packages() error {
	tmp, err := os.MkdirTemp("", "pack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	shared, err := r.shared(tmp)
	if err != nil {
		return err
	}
	for _, b := range r.bins {
		if b.os != "linux" {
			continue
		}
		arch := b.arch
		if arch == "arm" {
			arch += b.arm // arm6 and arm7, as nfpm names them
		}
		program := &files.Content{Source: b.path, Destination: "/usr/bin/brine", FileInfo: &files.ContentFileInfo{Mode: 0o755}}
		err := r.pack(&nfpm.Info{
			Name: "brine", Arch: arch,
			Description: "Run Salt states and orchestrations without Salt\nbrine reads SLS trees, renders and compiles them as Salt does, and runs them on\nthis machine or orchestrates many over SSH. There is no master and no daemon.",
			Overridables: nfpm.Overridables{
				Suggests: []string{"brine-agents"},
				Contents: append(files.Contents{program}, shared...),
			},
		})
		if err != nil {
			return err
		}
	}
	agents := filepath.Join(r.dir, "agents")
	if entries, _ := os.ReadDir(agents); len(entries) > 0 {
		// Named one by one: a tree would have the modes and times of this machine.
		const to = "/usr/share/brine/agents"
		contents := files.Contents{{Destination: to, Type: files.TypeDir, FileInfo: &files.ContentFileInfo{Mode: 0o755}}}
		for _, e := range entries {
			contents = append(contents, &files.Content{
				Source: filepath.Join(agents, e.Name()), Destination: to + "/" + e.Name(), FileInfo: &files.ContentFileInfo{Mode: 0o644},
			})
		}
		err := r.pack(&nfpm.Info{
			Name: "brine-agents", Arch: "all", Description: "Agents of brine for machines of other platforms",
			Overridables: nfpm.Overridables{
				Depends:  []string{"brine"},
				Contents: contents,
			},
		})
		if err != nil {
			return err
		}
	}
	var links files.Contents
	for _, p := range saltPrograms {
		links = append(links, &files.Content{Source: "brine", Destination: "/usr/bin/" + p, Type: files.TypeSymlink, FileInfo: &files.ContentFileInfo{Mode: 0o777}})
	}
	return r.pack(&nfpm.Info{
		Name: "brine-salt-compat", Arch: "all", Description: "The commands of Salt, run by brine",
		Overridables: nfpm.Overridables{Depends: []string{"brine"}, Conflicts: saltPackages, Contents: links},
	})
}

// shared returns what each package of brine has beside the program.
func (r *release) shared(tmp string) (files.Contents, error) {
	doc := filepath.Join(r.dir, "doc")
	out := files.Contents{
		{Destination: "/etc/brine", Type: files.TypeDir, FileInfo: &files.ContentFileInfo{Mode: 0o755}},
		{Source: filepath.Join(doc, "brine-schedule.service"), Destination: "/usr/lib/systemd/system/brine-schedule.service"},
		{Source: filepath.Join(doc, "completion", "brine.bash"), Destination: "/usr/share/bash-completion/completions/brine"},
		{Source: filepath.Join(doc, "completion", "_brine"), Destination: "/usr/share/zsh/vendor-completions/_brine", Packager: "deb"},
		{Source: filepath.Join(doc, "completion", "_brine"), Destination: "/usr/share/zsh/site-functions/_brine", Packager: "rpm"},
		{Source: filepath.Join(doc, "completion", "_brine"), Destination: "/usr/share/zsh/site-functions/_brine", Packager: "apk"},
		{Source: filepath.Join(doc, "completion", "brine.fish"), Destination: "/usr/share/fish/vendor_completions.d/brine.fish"},
		{Source: filepath.Join(doc, "LICENSE"), Destination: "/usr/share/doc/brine/copyright"},
	}
	for _, name := range texts[:2] {
		out = append(out, &files.Content{Source: filepath.Join(doc, name), Destination: "/usr/share/doc/brine/" + name})
	}
	for _, name := range []string{"NOTICE", "LICENSES.txt"} {
		out = append(out, &files.Content{Source: filepath.Join(doc, name), Destination: "/usr/share/doc/brine/" + name})
	}
	// Not the files themselves: as soon as there is a minion or master, /etc/salt is not
	// read.
	examples, err := filepath.Glob(filepath.Join(doc, "etc", "*.example"))
	if err != nil {
		return nil, err
	}
	if len(examples) == 0 {
		return nil, fmt.Errorf("there are no examples in %s", filepath.Join(doc, "etc"))
	}
	for _, name := range examples {
		out = append(out, &files.Content{Source: name, Destination: "/etc/brine/" + filepath.Base(name), Type: files.TypeConfigNoReplace})
	}
	pages, err := filepath.Glob(filepath.Join(doc, "man", "*.1"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		var z bytes.Buffer
		w, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(b); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		name := filepath.Join(tmp, filepath.Base(page)+".gz")
		if err := os.WriteFile(name, z.Bytes(), 0o644); err != nil {
			return nil, err
		}
		out = append(out, &files.Content{Source: name, Destination: "/usr/share/man/man1/" + filepath.Base(name)})
	}
	for _, c := range out {
		if c.FileInfo == nil {
			c.FileInfo = &files.ContentFileInfo{Mode: 0o644}
		}
	}
	return out, nil
}

// pack makes a package in all formats.
func (r *release) pack(info *nfpm.Info) error {
	for _, format := range formats {
		p, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		x := *info
		x.Platform, x.Version, x.Section, x.Priority = "linux", r.version, "admin", "optional"
		x.Maintainer, x.Homepage, x.License, x.MTime = "the authors of brine <"+home("mail")+">", r.url, "Apache-2.0", r.date
		x.RPM.BuildHost = "localhost"
		x.Contents = nil
		for _, c := range info.Contents {
			c := *c
			fi := files.ContentFileInfo{}
			if c.FileInfo != nil {
				fi = *c.FileInfo
			}
			fi.MTime, fi.Owner, fi.Group = r.date, "root", "root"
			c.FileInfo = &fi
			x.Contents = append(x.Contents, &c)
		}
		y := nfpm.WithDefaults(&x)
		if err := nfpm.PrepareForPackager(y, format); err != nil {
			return err
		}
		name := p.ConventionalFileName(y)
		if err := r.create(strings.ReplaceAll(name, "~", "_"), func(w io.Writer) error { return p.Package(y, w) }); err != nil {
			return err
		}
	}
	return nil
}
