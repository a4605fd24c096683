package jinja

import (
	"brine/internal/py/value"
)

// A pos is a place in a template: off in bytes, and the line that Jinja2 gives
// the node, which for some operators is not the line of off.
type pos struct{ off, line int32 }

func (p pos) at() pos { return p }

// A node is a part of the tree.
type node interface{ at() pos }

// nameCtx says what a name is for.
type nameCtx uint8

const (
	load nameCtx = iota
	store
	param
)

// Expressions.
type (
	nName struct {
		pos
		name string
		ctx  nameCtx
	}
	nNSRef struct { // a namespace's attribute as a target
		pos
		name, attr string
	}
	nConst struct {
		pos
		val value.Value
	}
	nTuple struct {
		pos
		items []node
	}
	nList struct {
		pos
		items []node
	}
	nDict struct {
		pos
		keys, vals []node
	}
	nCond struct {
		pos
		test, yes, no node // no may be nil
	}
	nBin struct { // + - * / // % **
		pos
		op   tokKind
		l, r node
	}
	nLogic struct { // and, or
		pos
		or   bool
		l, r node
	}
	nUnary struct { // - +
		pos
		neg bool
		x   node
	}
	nNot struct {
		pos
		x node
	}
	nConcat struct {
		pos
		items []node
	}
	nCompare struct {
		pos
		x   node
		ops []operand
	}
	nGetattr struct {
		pos
		x    node
		name string
	}
	nGetitem struct {
		pos
		x, arg node
	}
	nSlice struct {
		pos
		lo, hi, step node // each may be nil
	}
	nCall struct {
		pos
		fn node
		args
	}
	nFilter struct {
		pos
		x    node // nil: the body of a block
		name string
		args
	}
	nTest struct {
		pos
		x    node
		name string
		args
	}
)

type operand struct {
	op string // == != < <= > >= in, not in
	x  node
}

// args are the arguments of a call.
type args struct {
	pos   []node
	kw    []keyword
	dyn   node // *args
	dynKw node // **kwargs
}

type keyword struct {
	name string
	x    node
}

// Statements.
type (
	sData struct { // within an sOutput
		pos
		text string
	}
	sOutput struct {
		pos
		nodes []node // sData and expressions
	}
	sFor struct {
		pos
		target, iter node
		body, els    []node
		test         node // may be nil
		recursive    bool
	}
	sIf struct {
		pos
		test  node
		body  []node
		elifs []*sIf
		els   []node
		elsAt pos
	}
	sMacro struct {
		pos
		name string
		signature
		body []node
	}
	sCallBlock struct {
		pos
		call *nCall
		signature
		body []node
	}
	sFilterBlock struct {
		pos
		filter *nFilter
		body   []node
	}
	sWith struct {
		pos
		targets, values []node
		body            []node
	}
	sAutoescape struct {
		pos
		x    node
		body []node
	}
	sBlock struct {
		pos
		name             string
		scoped, required bool
		body             []node
	}
	sExtends struct {
		pos
		x node
	}
	sInclude struct {
		pos
		x             node
		ignoreMissing bool
		withContext   bool
	}
	sImport struct {
		pos
		x           node
		target      string
		withContext bool
	}
	sFromImport struct {
		pos
		x           node
		names       []importName
		withContext bool
	}
	sDo struct {
		pos
		x node
	}
	sAssign struct {
		pos
		target, x node
	}
	sAssignBlock struct {
		pos
		target node
		filter *nFilter // may be nil
		body   []node
	}
	sBreak    struct{ pos }
	sContinue struct{ pos }
	sDebug    struct{ pos }
	sProfile  struct { // measures body, which is not a scope
		pos
		label  node
		source string
		body   []node
	}
)

type signature struct {
	params   []*nName
	defaults []node // of the last params
}

type importName struct{ name, as string }

// children calls f for the parts of n in the order in which Jinja2 walks them.
func children(n node, f func(node)) {
	one := func(n node) {
		if n != nil {
			f(n)
		}
	}
	all := func(ns []node) {
		for _, n := range ns {
			f(n)
		}
	}
	arguments := func(a *args) {
		all(a.pos)
		for _, k := range a.kw {
			f(k.x)
		}
		one(a.dyn)
		one(a.dynKw)
	}
	params := func(s *signature) {
		for _, p := range s.params {
			f(p)
		}
		all(s.defaults)
	}
	switch n := n.(type) {
	case *nTuple:
		all(n.items)
	case *nList:
		all(n.items)
	case *nDict:
		for i := range n.keys {
			f(n.keys[i])
			f(n.vals[i])
		}
	case *nCond:
		f(n.test)
		f(n.yes)
		one(n.no)
	case *nBin:
		f(n.l)
		f(n.r)
	case *nLogic:
		f(n.l)
		f(n.r)
	case *nUnary:
		f(n.x)
	case *nNot:
		f(n.x)
	case *nConcat:
		all(n.items)
	case *nCompare:
		f(n.x)
		for _, o := range n.ops {
			f(o.x)
		}
	case *nGetattr:
		f(n.x)
	case *nGetitem:
		f(n.x)
		f(n.arg)
	case *nSlice:
		one(n.lo)
		one(n.hi)
		one(n.step)
	case *nCall:
		f(n.fn)
		arguments(&n.args)
	case *nFilter:
		one(n.x)
		arguments(&n.args)
	case *nTest:
		f(n.x)
		arguments(&n.args)
	case *sOutput:
		all(n.nodes)
	case *sFor:
		f(n.target)
		f(n.iter)
		all(n.body)
		all(n.els)
		one(n.test)
	case *sIf:
		f(n.test)
		all(n.body)
		for _, e := range n.elifs {
			f(e)
		}
		all(n.els)
	case *sMacro:
		params(&n.signature)
		all(n.body)
	case *sCallBlock:
		f(n.call)
		params(&n.signature)
		all(n.body)
	case *sFilterBlock:
		all(n.body)
		f(n.filter)
	case *sWith:
		all(n.targets)
		all(n.values)
		all(n.body)
	case *sAutoescape:
		f(n.x)
		all(n.body)
	case *sBlock:
		all(n.body)
	case *sExtends:
		f(n.x)
	case *sInclude:
		f(n.x)
	case *sImport:
		f(n.x)
	case *sFromImport:
		f(n.x)
	case *sDo:
		f(n.x)
	case *sAssign:
		f(n.target)
		f(n.x)
	case *sAssignBlock:
		f(n.target)
		if n.filter != nil {
			f(n.filter)
		}
		all(n.body)
	case *sProfile:
		f(n.label)
		all(n.body)
	}
}

// className is the name of n's class in Jinja2, in lower case.
func className(n node) string {
	switch n := n.(type) {
	case *nName:
		return "name"
	case *nNSRef:
		return "nsref"
	case *nConst:
		return "const"
	case *nTuple:
		return "tuple"
	case *nList:
		return "list"
	case *nDict:
		return "dict"
	case *nCond:
		return "condexpr"
	case *nBin:
		return map[tokKind]string{tAdd: "add", tSub: "sub", tMul: "mul", tDiv: "div", tFloorDiv: "floordiv", tMod: "mod", tPow: "pow"}[n.op]
	case *nLogic:
		if n.or {
			return "or"
		}
		return "and"
	case *nUnary:
		if n.neg {
			return "neg"
		}
		return "pos"
	case *nNot:
		return "not"
	case *nConcat:
		return "concat"
	case *nCompare:
		return "compare"
	case *nGetattr:
		return "getattr"
	case *nGetitem:
		return "getitem"
	case *nCall:
		return "call"
	case *nFilter:
		return "filter"
	case *nTest:
		return "test"
	}
	return "node"
}
