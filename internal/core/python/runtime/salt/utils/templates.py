"""Templates, rendered by brine."""
import os

from salt import _brine


def _render(renderer):
    def render(tmplstr, context=None, tmplpath=None):
        text = tmplstr.read() if hasattr(tmplstr, "read") else tmplstr
        known = {key: value for key, value in (context or {}).items() if not callable(value) and key not in ("salt", "opts", "grains", "pillar")}
        return _brine.call("slsutil.renderer", string=text, default_renderer=renderer, **known)

    return render


render_jinja_tmpl = _render("jinja")
TEMPLATE_REGISTRY = {"jinja": render_jinja_tmpl, "mako": _render("mako")}


def generate_sls_context(tmplpath, sls):
    """Returns the names of an SLS and of its file that templates know."""
    out = {"tplpath": tmplpath, "slspath": sls.replace(".", "/"), "sls_path": sls.replace(".", "_"), "slsdotpath": sls, "slscolonpath": sls.replace(".", ":")}
    if tmplpath:
        out["tplfile"] = "/".join(tmplpath.split(os.sep)[-(sls.count(".") + (2 if tmplpath.endswith("init.sls") else 1)):])
        out["tpldir"] = os.path.dirname(out["tplfile"])
        out["tpldot"] = out["tpldir"].replace("/", ".")
        out["tplroot"] = out["tplfile"].split("/")[0]
    return out
