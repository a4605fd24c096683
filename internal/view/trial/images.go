package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/fleet/machine"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/casefile"
)

// A Lock has the images that tests may use, by system and kind of identity.
type Lock struct {
	Path string // of its file
	of   *value.Map
	// Update writes what the images are, instead of comparing.
	Update bool
	known  map[string]machine.Identity // by driver and image
}

// ReadLock reads the lock of a tree. It is empty where there is no file, and then nothing is
// compared.
func (w *World) ReadLock() (*Lock, error) {
	l := &Lock{Path: filepath.Join(w.Tree, casefile.Lock), known: map[string]machine.Identity{}}
	text, err := w.Host.ReadFile(l.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	name := w.Name(l.Path)
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: name}, text)
	if err != nil {
		return nil, err
	}
	bad := &source.Error{Pos: source.Pos{File: name, Line: 1, Col: 1}, Err: errors.New("it must be a mapping of systems, as --update-images writes it")}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, bad
	}
	for system, kinds := range m.All() {
		of, ok := kinds.(*value.Map)
		if !ok {
			bad.Pos = m.Pos(system)
			return nil, bad
		}
		for _, text := range of.All() {
			if _, ok := text.(string); !ok {
				bad.Pos = m.Pos(system)
				return nil, bad
			}
		}
	}
	l.of = m
	return l, nil
}

// text is what the lock has of a system.
func (l *Lock) text(system, kind string) string { return l.of.Map(system).Str(kind) }

// findImage returns the image of a job: one that the lock has, if there is a lock.
func (p *plan) findImage(ctx context.Context, path string) (string, error) {
	system := p.job.System
	if p.driver.TakesReferences() {
		return p.container(ctx, path)
	}
	image, err := p.Images.Of(ctx, system, path, p.release(system))
	if err == nil {
		err = p.locked(ctx, path, image)
	}
	return image, err
}

// release is what is known of a system that an image is to be made of.
func (p *plan) release(system string) machine.Release {
	grains, err := p.Grains(system)
	if err != nil {
		return machine.Release{}
	}
	return machine.Release{OS: grains.Str("os"), Family: grains.Str("os_family"), Version: value.Str(grains.At("osrelease")), Codename: grains.Str("oscodename")}
}

// container returns the image of a container. That which the lock has is pulled where it is not
// there, and used instead of another one of the same name.
func (p *plan) container(ctx context.Context, path string) (string, error) {
	system, l := p.job.System, p.Lock
	ref, isRef := strings.CutPrefix(path, machine.ReferencePrefix)
	pinned := ""
	if l != nil && !l.Update {
		pinned = l.text(system, machine.ByDigest)
	}
	if name, _, _ := strings.Cut(pinned, "@"); isRef && pinned != "" && (ref == name || ref == pinned) {
		return p.Images.Pinned(ctx, p.driver, system, pinned)
	}
	if l != nil && l.Update && isRef && ref != "" && !strings.HasPrefix(ref, "-") {
		if err := p.Images.Pull(ctx, p.driver, system, ref); err != nil {
			p.Images.Note("%s: %v; what %s has is used", ref, err, p.driver.Name)
		}
	}
	image, err := p.Images.Reference(ctx, p.driver, system, path)
	if err == nil {
		err = p.locked(ctx, path, image)
	}
	return image, err
}

// locked compares an image with the lock, or writes it there.
func (p *plan) locked(ctx context.Context, path, image string) error {
	l, system := p.Lock, p.job.System
	if l == nil || !l.Update && l.of == nil {
		return nil
	}
	key := p.driver.Name + "\x00" + image
	id, ok := l.known[key]
	if !ok {
		var err error
		if id, err = p.Images.Identify(ctx, p.driver, path, image); err != nil {
			return fmt.Errorf("look which image of %s this is: %w", system, err)
		}
		l.known[key] = id
	}
	if l.Update {
		l.set(system, id)
		return nil
	}
	want, hint := l.text(system, id.Kind), "if it is meant, write it with --update-images"
	switch want {
	case id.Text:
		return nil
	case "":
		return &machine.NoImageError{System: system, Why: fmt.Sprintf("%s does not have %s %s", p.Name(l.Path), id.Kind, id.Text), Hint: hint}
	}
	return &machine.NoImageError{System: system, Why: fmt.Sprintf("%s has another one: %s %s, and this one is %s", p.Name(l.Path), id.Kind, want, id.Text), Hint: hint}
}

func (l *Lock) set(system string, id machine.Identity) {
	if l.of == nil {
		l.of = value.NewMap(0)
	}
	if !l.of.Has(system) {
		l.of.Set(system, value.NewMap(0))
	}
	l.of.Map(system).Set(id.Kind, id.Text)
}

// UpdateImages writes the images of jobs into the lock, and returns it as it is then. Those of
// other systems stay.
func UpdateImages(ctx context.Context, l *Lab, jobs []Job) (string, error) {
	l.Lock.Update = true
	for _, j := range jobs {
		nodes := []Job{j}
		for _, n := range j.Case.Nodes {
			nodes = append(nodes, Job{j.Case, n.SystemOf(j.System)})
		}
		for _, j := range nodes {
			d, err := l.driver(ctx, j.Case.Machine.Driver)
			if err != nil {
				return "", err
			}
			if d.TakesHosts() {
				continue
			}
			p := &plan{Lab: l, job: j, driver: d}
			if _, err := p.findImage(ctx, cmp.Or(l.Given[j.System], j.Case.Machine.Images[j.System])); err != nil {
				return "", err
			}
		}
	}
	if l.Lock.of.Len() == 0 {
		return "", errors.New("no test that is selected has an image: hosts over SSH have none")
	}
	sorted := value.NewMap(0)
	var systems []string
	for k := range l.Lock.of.All() {
		systems = append(systems, value.Str(k))
	}
	slices.Sort(systems)
	for _, s := range systems {
		sorted.Set(s, l.Lock.of.At(s))
	}
	text, err := yamlsalt.Dump(sorted, yamlsalt.DumpOptions{AllowUnicode: true, FlowStyle: yamlsalt.FlowNever, Width: -1})
	return "# Written by brine test --update-images\n" + text, err
}

// isOfSystem checks that machines are of the systems that their tests are for: else the tests say
// nothing of those. Of a system without a release, any release will do.
func (p *plan) isOfSystem(ctx context.Context) bool {
	for _, q := range p.all() {
		began, system := time.Now(), q.job.System
		want, err := p.Grains(system)
		if err != nil {
			continue // nothing is known of it
		}
		v, _, err := q.call(ctx, "grains.item", "os", "osmajorrelease")
		if err != nil {
			q.fail("machine", began, err.Error())
			continue
		}
		got, _ := v.(*value.Map)
		keys := []string{"os"}
		if strings.ContainsAny(system, "0123456789") {
			keys = append(keys, "osmajorrelease")
		}
		for _, key := range keys {
			// What the case sets is not that of the machine.
			if q.grains().Has(key) || !want.Has(key) || value.Str(want.At(key)) == value.Str(got.At(key)) {
				continue
			}
			text := func(m *value.Map) string { return value.Str(m.At("os")) + " " + value.Str(m.At("osmajorrelease")) }
			q.fail("machine", began, fmt.Sprintf("it is %s, and the system %s is %s: the test would say nothing of it", text(got), system, text(want)))
			break
		}
	}
	return !p.r.Failed()
}
