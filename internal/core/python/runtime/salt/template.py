"""Templates, rendered by brine."""
from salt import _brine


def compile_template(template, renderers=None, default="jinja|yaml", blacklist=None, whitelist=None, saltenv="base", sls="", input_data="", **kwargs):
    """Renders a file, or the text input_data where the template is ":string:"."""
    kwargs.pop("context", None)
    if template == ":string:":
        return _brine.call("slsutil.renderer", string=input_data, default_renderer=default, saltenv=saltenv, **kwargs)
    return _brine.call("slsutil.renderer", template, default_renderer=default, saltenv=saltenv, **kwargs)


def compile_template_str(template, renderers=None, default="jinja|yaml", blacklist=None, whitelist=None):
    return compile_template(":string:", renderers, default, input_data=template)


def check_render_pipe_str(pipestr, renderers=None, blacklist=None, whitelist=None):
    """Splits the names of renderers: [(name, arguments)...]."""
    pipe = []
    for part in pipestr.split("|"):
        name, _, line = part.strip().partition(" ")
        if whitelist and name not in whitelist or blacklist and name in blacklist:
            continue
        pipe.append((name, line.strip()))
    return pipe


def template_shebang(template, renderers=None, default="jinja|yaml", blacklist=None, whitelist=None, input_data=None):
    """Returns the renderers of a file's first line, else the default ones."""
    if template == ":string:":
        first = (input_data or "").split("\n", 1)[0]
    else:
        with open(template, encoding="utf-8") as handle:
            first = handle.readline()
    return check_render_pipe_str(first[2:].strip() if first.startswith("#!") and not first.startswith("#!/") else default, renderers, blacklist, whitelist)
