// Package yamlsalt reads and writes YAML as Salt 3006 does: PyYAML 6.0 over
// libyaml 0.2.5, with the constructors of Salt's own loader and the
// representers of Salt's own dumper.
//
// Start at [Load] and [Dump].
package yamlsalt

// Why there is a reader of our own and no library under it: Salt's trees are
// YAML 1.1, and what users see of a fault is libyaml's words with the line and
// column of both the construct and the fault, in the order in which PyYAML
// finds faults. gopkg.in/yaml.v3 is a port of an older libyaml for YAML 1.2; its
// errors carry a line at most, and the set of documents it takes differs. The
// tests compare with recordings of PyYAML, and with yaml.v3 where both agree on
// what a document is.
//
// A document goes through four passes, each in its own files:
//
//	scan.go, scanscalar.go   text → tokens (indentation, simple keys)
//	parse.go                 tokens → tree of nodes (anchors, tags)
//	resolve.go               plain scalars → tags, by YAML 1.1
//	construct.go             nodes → values (merge keys, duplicate keys)
//
// Writing is the same way back: represent.go, analyze.go, emit.go.
