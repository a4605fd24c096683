package jinja

import "brine/internal/value"

func saltFilter(name string) Func                { return nil }
func saltTest(name string) Func                  { return nil }
func saltGlobal(name string) (value.Value, bool) { return nil, false }
