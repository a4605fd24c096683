package yamlsalt

import (
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// LoadOptions say how a text is loaded. The zero value loads as Salt's
// salt.utils.yaml.safe_load.
type LoadOptions struct {
	// Name is the file as the user knows it.
	Name string
	// Pos returns the place where a line (from 1) of the text comes from. Nil
	// is the same line in Name. Where its Col is 0, the column of the text is
	// taken.
	Pos func(line int) source.Pos
	// Ordered loads mappings as OrderedDict, as the SLS renderer does.
	Ordered bool
	// Extended loads yamlex: the tags !aggregate and !reset, and keys that come
	// twice, of which the later one holds.
	Extended bool
	// Tag makes the value of a scalar with a tag that is not YAML's; ok is false
	// of one that it does not know, which is an error. nil knows none.
	Tag func(tag, text string) (v value.Value, ok bool)
}

// Bounds of what a document may become when its aliases are written out.
const (
	maxNodes      = 4_000_000
	maxAliasDepth = 10_000
)

// Load returns the one document in text, or nil where there is none.
//
// Scalars follow YAML 1.1 as Salt's loader has it: yes, no, on and off are
// bool; 0600 is 600; 1:30 is 90; 0o600, 1e3 and dates are text. Maps know the
// places of their keys and lists those of their items. An alias is the same
// object as its anchor.
//
// A fault is a *[source.Error] around a *[SyntaxError], with what Salt's renderer says
// in Salt. The first one ends the loading, as in Salt. A document that contains
// itself, or explodes by its aliases, is refused too.
// Salt: salt/utils/yamlloader.py.
func Load(o LoadOptions, text []byte) (value.Value, error) {
	return o.load(string(text))
}

// LoadText is [Load] of a string.
func LoadText(o LoadOptions, text string) (value.Value, error) { return o.load(text) }

// LoadString is [Load] with its defaults, for values of the command line and
// the like.
func LoadString(s string) (value.Value, error) {
	var o LoadOptions
	return o.load(s)
}

func (o *LoadOptions) load(text string) (value.Value, error) {
	root, aliased, f := parse(text)
	if f == nil && aliased {
		f = checkAliases(root)
	}
	if f != nil {
		return nil, o.placed(f)
	}
	if root == nil {
		return nil, nil
	}
	b := newBuilder(o, aliased)
	var v value.Value
	if o.Extended {
		v, f = b.extendedDocument(root)
	} else {
		v, f = b.document(root)
	}
	if f != nil {
		return nil, o.placed(f)
	}
	return v, nil
}

// checkAliases refuses a document that contains itself, or that has too many
// nodes with its aliases written out.
func checkAliases(root *node) *SyntaxError {
	c := aliasChecker{total: map[*node]int{}}
	_, f := c.count(root, 0)
	return f
}

type aliasChecker struct {
	total map[*node]int // of containers: nodes below; -1 while being counted
}

func (c *aliasChecker) count(n *node, depth int) (int, *SyntaxError) {
	if n.kind == scalarNode {
		return 1, nil
	}
	fault := func(problem string) *SyntaxError {
		return &SyntaxError{Class: "ComposerError", Problem: problem, Line: int(n.line) + 1, Col: int(n.col) + 1}
	}
	t, seen := c.total[n]
	if t < 0 {
		return 0, fault("found a collection that contains itself")
	}
	if seen {
		return t, nil
	}
	if depth > maxAliasDepth {
		return 0, fault("found aliases nested too deep")
	}
	c.total[n] = -1
	t = 1
	for _, x := range n.items {
		m, f := c.count(x, depth+1)
		if f != nil {
			return 0, f
		}
		if t += m; t > maxNodes {
			return 0, fault("found aliases that stand for too much: more than 4000000 values")
		}
	}
	c.total[n] = t
	return t, nil
}
