package trial

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"brine/internal/fleet/machine"
	"brine/internal/py/source"
	"brine/internal/view/casefile"
)

// packagesDir has the packages of a case, below its directory.
const packagesDir = "packages"

// writePackages writes the repository of a case: its empty packages, and those of its
// directories.
func (p *plan) writePackages() error {
	m := &p.job.Case.Machine
	if !p.hasPackages() {
		return nil
	}
	r, err := machine.NewRepository(p.Host, filepath.Join(p.ws.dir, packagesDir))
	if err != nil {
		return err
	}
	for _, s := range p.stubs() {
		stub := machine.Stub{
			Name: s.Name, Version: s.Version, Services: s.Services, Users: s.Users,
			Depends: s.Depends, Conflicts: s.Conflicts, Provides: s.Provides, Replaces: s.Replaces,
		}
		for _, f := range s.Files {
			stub.Files = append(stub.Files, machine.StubFile(f))
		}
		if err := r.AddStub(stub); err != nil {
			return &source.Error{Pos: s.Pos, Err: err}
		}
	}
	for _, d := range m.PackageDirs {
		n, err := r.AddDir(d.Path)
		if err == nil && n == 0 {
			err = errors.New("there is no file *.deb in it")
		}
		if err != nil {
			return &source.Error{Pos: d.Pos, Err: fmt.Errorf("package_dirs: %s: %w", p.Name(d.Path), err)}
		}
	}
	return r.Close()
}

// hasPackages reports whether the machine gets packages. The controller of an
// orchestration does not.
func (p *plan) hasPackages() bool {
	return len(p.nodes) == 0 && p.name != casefile.Controller && len(p.job.Case.Machine.PackageDirs)+len(p.stubs()) > 0
}

// stubs are the empty packages of the case, and those that the command line names.
func (p *plan) stubs() []casefile.Package {
	all := p.job.Case.Machine.Packages
	for _, name := range p.Stubs {
		if !slices.ContainsFunc(all, func(p casefile.Package) bool { return p.Name == name }) {
			all = append(slices.Clip(all), casefile.NewPackage(p.job.Case.Pos, name))
		}
	}
	return all
}

// offer lets the machines install the packages of the case; false if one cannot.
func (p *plan) offer(ctx context.Context) bool {
	began := time.Now()
	for _, q := range p.all() {
		if !q.hasPackages() {
			continue
		}
		if err := q.m.Offer(ctx, inside+"/case/"+packagesDir); err != nil {
			q.fail("packages", began, "the packages of the case cannot be installed: "+err.Error())
		}
	}
	return !p.r.Failed()
}
