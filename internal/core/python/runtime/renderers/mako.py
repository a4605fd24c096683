"""The renderer mako, by the Python package of that name."""
import os
import re

from salt.exceptions import SaltRenderError


class Missing(SaltRenderError):
    """There is no package mako here."""


def lookup_class(base, lookup):
    class Lookup(base):
        """Finds the templates that one includes: of the tree, or file:// on this machine."""

        def __init__(self, saltenv):
            self.saltenv = saltenv
            self.names = lookup(directories=["/"])
            self.found = {}

        def adjust_uri(self, uri, filename):
            scheme, colon, _ = uri.partition("://")
            if colon and scheme not in ("salt", "file"):
                raise ValueError("Unsupported URL scheme({}) in {}".format(scheme, uri))
            return uri if colon else self.names.adjust_uri(uri, filename)

        def get_template(self, uri, relativeto=None):
            if uri not in self.found:
                self.found[uri] = self._load(uri)
            return self.found[uri]

        def _load(self, uri):
            from mako.template import Template

            if uri.startswith("file://"):
                path = uri[len("file://"):]
            else:
                name = uri[len("salt://"):] if uri.startswith("salt://") else uri
                path = __salt__["cp.cache_file"]("salt://" + name.lstrip("/"), saltenv=self.saltenv)
                if not path:
                    raise ValueError("salt://{} is not in the tree".format(name.lstrip("/")))
            with open(path, encoding="utf-8") as file:
                return Template(file.read(), uri=uri, lookup=self, strict_undefined=True)

    return Lookup


def render(template, saltenv="base", sls="", tmplpath=None, context=None, **kwargs):
    try:
        from mako.exceptions import RichTraceback
        from mako.lookup import TemplateCollection, TemplateLookup
        from mako.template import Template
    except ImportError:
        raise Missing("the Python package mako is not installed on this machine")
    text = template.read() if hasattr(template, "read") else template
    if saltenv:
        lookup = lookup_class(TemplateCollection, TemplateLookup)(saltenv)
    else:
        lookup = TemplateLookup(directories=[os.path.dirname(tmplpath or "/")])
    variables = dict(saltenv=saltenv, sls=sls, tmplpath=tmplpath)
    variables.update(context or {})
    variables.update(salt=__salt__, grains=__grains__, opts=__opts__, pillar=__pillar__)
    try:
        return Template(text, strict_undefined=True, uri=sls.replace(".", "/") if sls else None, lookup=lookup).render(**variables)
    except Exception as error:
        line = getattr(error, "lineno", None) or place(RichTraceback(error=error).records, error, text)
        if line:
            error.brine_place = "{}:{}".format(tmplpath or sls, line)
        raise


def place(records, error, text):
    """Returns the line of the template at which an exception was raised; 0 if that is unknown.

    The lines of the exception are those of what mako makes of the template.
    """
    for record in reversed(records):
        if record[4] is not None and record[5]:
            return record[5]
    name = isinstance(error, NameError) and re.match("'(.*)' is not defined", str(error))
    if name:  # it is looked up before the first line
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(r"\b{}\b".format(re.escape(name.group(1))), line):
                return number
    return 0
