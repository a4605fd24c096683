package render

import (
	"strings"

	"brine/internal/value"
)

// vars returns the variables that a template sees: Salt's objects, then what
// the caller adds, then the names and paths of the SLS.
//
// Salt: salt/utils/templates.py wrap_tmpl_func, generate_sls_context.
func (e *Engine) vars(in *Input, text string) *value.Map {
	m := value.NewMap(24)
	m.Set("salt", e.salt)
	m.Set("grains", mapping(e.env.SubjectGrains()))
	m.Set("opts", e.env.Opts)
	pillar := in.Pillar
	if pillar == nil {
		pillar = e.env.Pillar
	}
	m.Set("pillar", mapping(pillar))
	if lazy, ok := pillar.(*value.LazyMap); ok && strings.Contains(text, "pillar") {
		// A template may change the dict, and others then see that; one that
		// does not name it leaves it unloaded.
		m.Set("pillar", lazy.Map())
	}
	m.Set("proxy", value.NewMap(0))
	m.Set("saltenv", in.saltenv())
	m.Set("env", in.saltenv())
	m.Set("sls", in.SLS)
	tmplpath := in.Abs
	if tmplpath == "" {
		tmplpath = in.Path
	}
	m.Set("tmplpath", tmplpath)
	if in.Vars != nil {
		m.Update(in.Vars)
	}
	sls, _ := m.At("sls").(string)
	slsContext(m, tmplpath, in.Path, sls)
	return m
}

// mapping returns m for a template; nil is an empty dict.
func mapping(m value.Mapping) value.Value {
	if m == nil {
		return value.NewMap(0)
	}
	return m
}

// slsContext sets the names and paths of a template. A template that is no SLS
// is taken as its last part.
func slsContext(m *value.Map, tmplpath, rel, sls string) {
	slspath := strings.ReplaceAll(sls, ".", "/")
	if tmplpath != "" {
		template := tmplpath
		switch {
		case sls == "":
			template = rel[strings.LastIndex(rel, "/")+1:]
		case strings.HasSuffix(template, slspath+"/init.sls"):
			template = slspath + "/init.sls"
		case strings.HasSuffix(template, slspath+".sls"):
			template = slspath + ".sls"
		default:
			template = rel
		}
		slspath = dirOf(template)
		m.Set("tplpath", tmplpath)
		m.Set("tplfile", template)
		m.Set("tpldir", slspath)
		if slspath == "" {
			m.Set("tpldir", ".")
		}
		m.Set("tpldot", strings.ReplaceAll(slspath, "/", "."))
		root, _, _ := strings.Cut(slspath, "/")
		m.Set("tplroot", root)
		if root == "" {
			m.Set("tplroot", ".")
		}
	}
	m.Set("slspath", slspath)
	m.Set("slsdotpath", strings.ReplaceAll(slspath, "/", "."))
	m.Set("slscolonpath", strings.ReplaceAll(slspath, "/", ":"))
	m.Set("sls_path", strings.ReplaceAll(slspath, "/", "_"))
}
