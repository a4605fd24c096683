// Package report writes returns of states and functions as reports for other
// programs and for people who were not there: JUnit XML, one HTML page,
// Markdown, NDJSON, metrics for Prometheus.
//
// [Build] reads the data that outputters print into a [Run], which each format
// writes. All that targets, trees and users wrote is text to it: nothing of it
// becomes markup.
package report

import (
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/graph"
	"brine/internal/view/sarif"
)

// Info is what a report says of a run beside its results.
type Info struct {
	JID     string
	Fun     string   // function, such as "state.apply"
	Args    []string // as on the command line, masked
	Tgt     string   // target expression; "" for this machine
	Start   time.Time
	End     time.Time // zero where the run did not end
	Retcode int
	// First is the start_time of the first state, where the report is written in
	// parts: what begins later is counted from it. "" counts from the first of the
	// data.
	First string
	// Failed has the hosts that failed and why, as far as their returns do not
	// say so themselves.
	Failed map[string]string
	// Ended says that Retcode and Failed tell the end of the run: what failed in a host
	// or a step that succeeded was tolerated.
	Ended bool
	// StepFailed reports whether the job of a step failed on a host, as it is recorded.
	// nil: it did on none.
	StepFailed func(jid, host string) bool
	// Took returns how long a host took in the job of a step, or in that of the run; false
	// where that is not known. nil: it never is.
	Took func(jid, host string) (time.Duration, bool)
	// Faults are the faults of SLS files and templates that the run has shown.
	Faults []Fault
	// Graph has the states of this machine, or the steps of an orchestration, with
	// their requisites; nil: they are not known.
	Graph   *graph.Graph
	Version string // of brine
}

// A Fault is a fault in a file of the tree.
type Fault struct {
	Host  string // that found it
	Rule  sarif.Rule
	Error *source.Error // its files as the user knows them
}

// A Format writes a run.
type Format struct {
	Name string   // as --out has it
	Ends []string // how names of files end that are written so
	Doc  string
	Fn   func(w io.Writer, r *Run) error
}

// Formats returns all formats, by name.
func Formats() []Format {
	return []Format{
		{Name: "html", Ends: []string{".html", ".htm"}, Doc: "one self-contained page", Fn: HTML},
		{Name: "junit", Ends: []string{".xml"}, Doc: "JUnit XML for CI systems", Fn: JUnit},
		{Name: "markdown", Ends: []string{".md", ".markdown"}, Doc: "Markdown for the summary of a CI job", Fn: Markdown},
		{Name: "ndjson", Ends: []string{".ndjson", ".jsonl"}, Doc: "a line of JSON for each result", Fn: NDJSON},
		{Name: "prometheus", Ends: []string{".prom"}, Doc: "metrics for node_exporter's textfile collector", Fn: Prometheus},
		{Name: "sarif", Ends: []string{".sarif"}, Doc: "faults of SLS files and templates for code hosts and editors", Fn: SARIF},
	}
}

// Lookup returns the format of a name.
func Lookup(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Names returns the names of all formats, sorted.
func Names() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	sort.Strings(names)
	return names
}

// ForFile returns the format in which a file of that name is written.
func ForFile(path string) (Format, error) {
	ext := strings.ToLower(filepath.Ext(path))
	var known []string
	for _, f := range Formats() {
		for _, end := range f.Ends {
			if ext == end {
				return f, nil
			}
			known = append(known, end)
		}
	}
	if ext == "" {
		return Format{}, fmt.Errorf("%s: the end of the name decides the format of a report: one of %s", path, strings.Join(known, ", "))
	}
	return Format{}, fmt.Errorf("%s: no report has the suffix %q%s; known suffixes are %s", path, ext, source.DidYouMean(ext, known), strings.Join(known, ", "))
}

// Write writes data in a format; see [Build].
func (f Format) Write(w io.Writer, data value.Value, info Info) error {
	return f.Fn(w, Build(data, info))
}
