package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A statement says how the files of a release were built: an in-toto statement with
// the predicate SLSA Provenance 1.0. It says nothing about the machine and the time,
// so that who builds the same commit gets the same bytes.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []artifact `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     predicate  `json:"predicate"`
}

// An artifact is a file that was made, or something that it was made from.
type artifact struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

type predicate struct {
	BuildDefinition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]any    `json:"externalParameters"`
		InternalParameters   map[string]string `json:"internalParameters"`
		ResolvedDependencies []artifact        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// provenance writes the provenance of all that was made: the commit, the platforms,
// Go and the modules with their hashes.
func (r *release) provenance() error {
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	slices.Sort(r.made)
	for _, name := range r.made {
		sum, err := r.sum(name)
		if err != nil {
			return err
		}
		s.Subject = append(s.Subject, artifact{Name: name, Digest: map[string]string{"sha256": sum}})
	}
	source := artifact{URI: "git+" + r.url}
	if r.commit != "" {
		source.Digest = map[string]string{"gitCommit": r.commit}
	}
	var hosts []string
	for _, b := range r.bins {
		hosts = append(hosts, b.name())
	}
	d := &s.Predicate.BuildDefinition
	d.BuildType = r.url + "#make-release"
	d.ExternalParameters = map[string]any{"source": source, "version": r.version, "hosts": hosts}
	d.InternalParameters = map[string]string{"CGO_ENABLED": "0", "SOURCE_DATE_EPOCH": strconv.FormatInt(r.date.Unix(), 10)}
	modules, err := r.modules()
	if err != nil {
		return err
	}
	d.ResolvedDependencies = append([]artifact{source}, modules...)
	s.Predicate.RunDetails.Builder.ID = r.url + "#.ci/release"
	return r.create("brine-"+r.version+".provenance.json", func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(s)
	})
}

// modules lists Go and the modules of all binaries, each once, in the order of their
// names. A hash of go.sum is in hexadecimal digits here, as in-toto has it.
func (r *release) modules() ([]artifact, error) {
	found := map[string]artifact{}
	for _, b := range r.bins {
		info, err := buildinfo.ReadFile(b.path)
		if err != nil {
			return nil, err
		}
		std := "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")
		found[std] = artifact{URI: std}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			a := artifact{URI: "pkg:golang/" + m.Path + "@" + m.Version}
			if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
				a.Digest = map[string]string{"dirHash": hex.EncodeToString(sum)}
			}
			found[a.URI] = a
		}
	}
	all := make([]artifact, 0, len(found))
	for _, a := range found {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b artifact) int { return strings.Compare(a.URI, b.URI) })
	return all, nil
}
