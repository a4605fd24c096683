"""Renders the templates of the external pillar makostack."""


def render(template, tmplpath=None, context=None, **kwargs):
    """Returns the text of a template, or None where no directory has it.

    template
        The path of the template. One that begins with "/" is searched for from the root of
        the file system, too.
    tmplpath
        The directory where templates are.
    context
        The variables of the template.
    """
    try:
        from mako.exceptions import TopLevelLookupException
        from mako.lookup import TemplateLookup
    except ImportError:
        raise Exception("the Python package mako is not installed on this machine")
    directories = [tmplpath] + (["/"] if template.startswith("/") else [])
    try:
        found = TemplateLookup(directories=directories).get_template(template)
    except TopLevelLookupException:
        return None
    return found.render(__opts__=__opts__, __salt__=__salt__, __grains__=__grains__, **context)
