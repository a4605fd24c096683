package star

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// MaxChecked bounds the text of a module that [Check] reads, in bytes: what a parser
// takes of the stack depends on how deep a text is nested.
const MaxChecked = 64 << 10

// Facts are what the text of a module says of it.
type Facts struct {
	Functions []Function // that the module has for others, by name
	// Open says that it may have further functions, which only running it could tell.
	Open   bool
	Faults []Fault
}

// A Function is a function of a module, with its docstring.
type Function struct{ Name, Doc string }

// A Fault is a syntax error, or a name that nothing defines. Line and Col count from
// 1, Col in characters.
type Fault struct {
	Line, Col int
	Message   string
}

// predeclared are the names that modules have without a definition.
var predeclared = sync.OnceValue(func() starlark.StringDict {
	c := &child{}
	c.prepare(1)
	return c.names
})

// Check reads the text of a module without running it. A text that is too large is
// not read: its Facts are open.
func Check(name string, text []byte) Facts {
	if len(text) > MaxChecked {
		return Facts{Open: true}
	}
	f, err := fileOptions().Parse(name, text, 0)
	if err != nil {
		return Facts{Open: true, Faults: faultsOf(err)}
	}
	facts := Facts{}
	if err := resolve.File(f, predeclared().Has, starlark.Universe.Has); err != nil {
		facts.Faults = faultsOf(err)
	}
	facts.functions(f)
	return facts
}

// faultsOf returns the faults that reading a text ended with.
func faultsOf(err error) []Fault {
	at := func(p syntax.Position, msg string) Fault { return Fault{int(p.Line), int(p.Col), msg} }
	if list, ok := errors.AsType[resolve.ErrorList](err); ok {
		out := make([]Fault, len(list))
		for i, e := range list {
			out[i] = at(e.Pos, e.Msg)
		}
		return out
	}
	if se, ok := errors.AsType[syntax.Error](err); ok {
		return []Fault{at(se.Pos, se.Msg)}
	}
	return []Fault{{1, 1, fmt.Sprint(err)}}
}

// functions finds the functions that a module has for others.
func (facts *Facts) functions(f *syntax.File) {
	docs, alias := map[string]string{}, map[string]string{}
	var listed []string // by __load__
	for _, stmt := range f.Stmts {
		switch s := stmt.(type) {
		case *syntax.DefStmt:
			docs[s.Name.Name] = docOfBody(s.Body)
		case *syntax.AssignStmt:
			id, ok := s.LHS.(*syntax.Ident)
			switch {
			case !ok:
				facts.Open = true
			case id.Name == "__load__":
				var whole bool
				listed, whole = stringsOf(s.RHS)
				facts.Open = facts.Open || !whole
			case id.Name == "__func_alias__":
				var whole bool
				alias, whole = pairsOf(s.RHS)
				facts.Open = facts.Open || !whole
			default:
				facts.assigned(id.Name, s.RHS, docs)
			}
		case *syntax.IfStmt, *syntax.ForStmt, *syntax.WhileStmt:
			facts.Open = true
		}
	}
	for name, doc := range docs {
		if strings.HasPrefix(name, "_") || listed != nil && !slices.Contains(listed, name) {
			continue
		}
		if other := alias[name]; other != "" {
			name = other
		}
		facts.Functions = append(facts.Functions, Function{name, doc})
	}
	slices.SortFunc(facts.Functions, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
}

// assigned notes what a name of the module stands for: docs has the functions.
func (facts *Facts) assigned(name string, to syntax.Expr, docs map[string]string) {
	switch v := to.(type) {
	case *syntax.LambdaExpr:
		docs[name] = ""
	case *syntax.Ident:
		if doc, ok := docs[v.Name]; ok {
			docs[name] = doc
		} else if v.Name != "None" && v.Name != "True" && v.Name != "False" {
			facts.Open = true // such as a function of another file
		}
	case *syntax.Literal, *syntax.ListExpr, *syntax.DictExpr, *syntax.TupleExpr, *syntax.Comprehension, *syntax.BinaryExpr, *syntax.UnaryExpr:
		delete(docs, name) // data
	default:
		facts.Open = true
	}
}

// docOfBody is the docstring of a function.
func docOfBody(body []syntax.Stmt) string { return docOf(&syntax.File{Stmts: body}) }

// literal returns the text of a string; false for anything else.
func literal(e syntax.Expr) (string, bool) {
	lit, ok := e.(*syntax.Literal)
	if !ok || lit.Token != syntax.STRING {
		return "", false
	}
	s, ok := lit.Value.(string)
	return s, ok
}

// stringsOf returns the strings of a list, and whether it has nothing else.
func stringsOf(e syntax.Expr) (out []string, whole bool) {
	var items []syntax.Expr
	switch v := e.(type) {
	case *syntax.ListExpr:
		items = v.List
	case *syntax.TupleExpr:
		items = v.List
	case *syntax.ParenExpr:
		return stringsOf(v.X)
	default:
		return nil, false
	}
	out = []string{}
	for _, x := range items {
		s, ok := literal(x)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// pairsOf returns the strings of a dict, and whether it has nothing else.
func pairsOf(e syntax.Expr) (out map[string]string, whole bool) {
	d, ok := e.(*syntax.DictExpr)
	if !ok {
		return nil, false
	}
	out = map[string]string{}
	for _, x := range d.List {
		entry, ok := x.(*syntax.DictEntry)
		if !ok {
			return nil, false
		}
		k, isText := literal(entry.Key)
		v, alsoText := literal(entry.Value)
		if !isText || !alsoText {
			return nil, false
		}
		out[k] = v
	}
	return out, true
}
