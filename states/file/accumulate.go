package file

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// accumulators are the collections of a run: by file, then by name.
type accumulators struct {
	mu    sync.Mutex
	texts map[string]*value.Map          // file → name → list
	users map[string]map[string][]string // file → name → states that require it
}

type accumulatorsKey struct{}

func (c *call) accumulators() *accumulators {
	return c.Env.Memo.Once(accumulatorsKey{}, func() any {
		return &accumulators{texts: map[string]*value.Map{}, users: map[string]map[string][]string{}}
	}).(*accumulators)
}

type accumulatedArgs struct {
	_        string      `arg:"name,required" doc:"name of the accumulator"`
	Filename string      `arg:"filename,required" doc:"name of the state that uses it"`
	Text     value.Value `arg:"text,required" doc:"text, or a list of texts"`
	_        fun.Kwargs
}

// accumulated collects text. It needs require_in or watch_in a file state.
// Salt: states/file.py accumulated.
func accumulated(ctx context.Context, fc *fun.Call, a *accumulatedArgs) fun.Ret {
	c := begin(fc)
	c.ret.Name = c.Name
	if c.Name == "" {
		return c.fail("Must provide name to file.accumulated")
	}
	if a.Text == nil {
		return c.fail("No text supplied for accumulator")
	}
	var users []string
	fileUser := false
	for _, key := range []string{"require_in", "watch_in"} {
		if c.Low == nil {
			break
		}
		l := c.Low.Low.List(key)
		for i := range l.Len() {
			switch d := l.Items[i].(type) {
			case *value.Map:
				for k, v := range d.All() {
					fileUser = fileUser || k == "file"
					users = append(users, value.Str(v))
				}
			case string:
				fileUser = fileUser || strings.Contains(d, "file")
				users = append(users, d)
			}
		}
	}
	if !fileUser {
		sls, id := "", ""
		if c.Low != nil {
			sls, id = c.Low.SLS, c.Low.ID
		}
		return c.fail("Orphaned accumulator %s in %s:%s", c.Name, sls, id)
	}
	file := a.Filename
	all := c.accumulators()
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.texts[file] == nil {
		all.texts[file], all.users[file] = value.NewMap(1), map[string][]string{}
	}
	all.users[file][c.Name] = append(all.users[file][c.Name], users...)
	list := all.texts[file].List(c.Name)
	if list == nil {
		list = &value.List{}
		all.texts[file].Set(c.Name, list)
	}
	items := []value.Value{a.Text}
	if l, ok := a.Text.(*value.List); ok {
		items = l.Items
	}
	for _, t := range items {
		if !hasItem(list, t) {
			list.Append(t)
			c.ret.Comment = fmt.Sprintf("Accumulator %s for file %s was charged by text", c.Name, file)
		}
	}
	return c.ret.Ret()
}

func hasItem(l *value.List, x value.Value) bool {
	for _, it := range l.Items {
		if value.Equal(it, x) {
			return true
		}
	}
	return false
}

// accumulated returns the collections for a file, nil where there are none.
func (c *call) accumulated(file string) *value.Map {
	a := c.accumulators()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.texts[file] == nil {
		return nil
	}
	return value.Clone(a.texts[file]).(*value.Map)
}

// withAccumulated returns content followed by what was collected for this
// state: of several collections those that name it, else all.
func (c *call) withAccumulated(content string) string {
	texts := c.accumulated(c.path())
	if texts == nil {
		return content
	}
	a := c.accumulators()
	a.mu.Lock()
	defer a.mu.Unlock()
	var names []string
	for k := range texts.All() {
		for _, u := range a.users[c.path()][value.Str(k)] {
			if c.Low != nil && u == c.Low.ID {
				names = append(names, value.Str(k))
				break
			}
		}
	}
	if len(names) == 0 {
		for k := range texts.All() {
			names = append(names, value.Str(k))
		}
	}
	for _, n := range names {
		for _, t := range texts.List(n).Items {
			if content != "" {
				content += "\n"
			}
			content += value.Str(t)
		}
	}
	return content
}
