package render

import (
	"strings"

	"brine/internal/py/value"
)

// vars returns the variables that a template sees: Salt's objects, then what
// the caller adds, then the names and paths of the SLS. A lazy pillar is loaded
// when the template names it.
//
// Salt: salt/utils/templates.py wrap_tmpl_func, generate_sls_context.
func (e *Engine) vars(in *Input) *value.Map {
	m := value.NewMap(24)
	m.Set("salt", e.salt)
	m.Set("grains", mapping(e.env.SubjectGrains()))
	m.Set("opts", e.env.Opts)
	pillar := in.Pillar
	if pillar == nil {
		pillar = e.env.Pillar
	}
	m.Set("pillar", mapping(pillar))
	m.Set("proxy", value.NewMap(0))
	m.Set("saltenv", in.saltenv())
	if !in.file {
		m.Set("sls", in.SLS)
	}
	m.Update(in.Vars)
	if v := m.At("sls"); m.Has("sls") {
		// A template of file.managed has none of these names, unless its
		// context brings a name of an SLS.
		sls, _ := v.(string)
		slsContext(m, in, sls)
	}
	return m
}

// mapping returns m for a template; nil is an empty dict.
func mapping(m value.Mapping) value.Value {
	if m == nil {
		return value.NewMap(0)
	}
	return m
}

// slsContext sets the names and paths of a template. A template that is not an
// SLS counts as the last part of one.
func slsContext(m *value.Map, in *Input, sls string) {
	slspath := strings.TrimRight(strings.ReplaceAll(sls, ".", "/"), "/")
	tplpath := in.Abs
	if tplpath == "" {
		tplpath = in.Path
	}
	if tplpath != "" && !in.file {
		template := in.Path
		switch {
		case sls == "":
			template = template[strings.LastIndex(template, "/")+1:]
		case strings.HasSuffix(tplpath, slspath+".sls"):
			template = slspath + ".sls"
		case strings.HasSuffix(tplpath, slspath+"/init.sls"):
			template = slspath + "/init.sls"
		}
		slspath = dirOf(template)
		m.Set("tplpath", tplpath)
		m.Set("tplfile", template)
		m.Set("tpldir", slspath)
		if slspath == "" {
			m.Set("tpldir", ".")
		}
		m.Set("tpldot", strings.ReplaceAll(slspath, "/", "."))
	}
	m.Set("slspath", slspath)
	m.Set("slsdotpath", strings.ReplaceAll(slspath, "/", "."))
	m.Set("slscolonpath", strings.ReplaceAll(slspath, "/", ":"))
	m.Set("sls_path", strings.ReplaceAll(slspath, "/", "_"))
}
