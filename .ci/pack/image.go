package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// image makes a container image for all Linux platforms: an archive of an OCI layout,
// whose root has brine and nothing else that runs.
func (r *release) image() error {
	tmp, err := os.MkdirTemp("", "pack-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range r.bins {
		if b.os != "linux" {
			continue
		}
		img, err := r.imageOf(b)
		if err != nil {
			return err
		}
		p := &v1.Platform{OS: b.os, Architecture: b.arch}
		if b.arm != "" {
			p.Variant = "v" + b.arm
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: p}})
	}
	at, err := layout.Write(tmp, empty.Index)
	if err != nil {
		return err
	}
	if err := at.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version})); err != nil {
		return err
	}
	return r.create("brine-"+r.version+"-oci.tar.gz", func(w io.Writer) error {
		t := newArchive(w, r.date)
		t.tree("brine-oci", tmp)
		return t.close()
	})
}

// imageOf makes the image of one platform.
func (r *release) imageOf(b binary) (v1.Image, error) {
	var root bytes.Buffer
	t := newArchive(&root, r.date)
	t.file("usr/bin/brine", b.path, 0o755)
	t.bytes("etc/passwd", []byte("root:x:0:0:root:/root:/\n"), 0o644)
	t.bytes("etc/group", []byte("root:x:0:\n"), 0o644)
	for _, d := range []string{"root", "tmp", "srv", "var/cache/brine"} {
		t.dir(d)
	}
	t.tree("usr/share/brine/agents", filepath.Join(r.dir, "agents"))
	if err := t.close(); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(root.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img, err := mutate.Append(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.date}, CreatedBy: "pack"}})
	if err != nil {
		return nil, err
	}
	c, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	c = c.DeepCopy()
	c.OS, c.Architecture, c.Created = b.os, b.arch, v1.Time{Time: r.date}
	if b.arm != "" {
		c.Variant = "v" + b.arm
	}
	c.Config = v1.Config{
		Entrypoint: []string{"/usr/bin/brine"}, WorkingDir: "/srv", Env: []string{"HOME=/root", "PATH=/usr/bin"},
		Labels: map[string]string{
			"org.opencontainers.image.title": "brine", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": r.url,
		},
	}
	return mutate.ConfigFile(img, c)
}
