"""Templates."""
import salt.loader
import salt.output
import salt.template
import salt.utils.templates
import salt.utils.yaml


def text(who):
    """Return a text by a template."""
    return salt.utils.templates.render_jinja_tmpl("Hello {{ who }}, {{ grains['id'] }}", {"who": who}).strip()


def data(name):
    """Return the data of a file of the tree."""
    renderers = salt.loader.render(__opts__, __salt__)
    return salt.template.compile_template(":string:", renderers, "jinja|yaml", None, None, input_data="{% set x = 4 %}" + name + ": [{{ x }}, {{ x * 2 }}]")


def shown(value):
    return salt.output.string_format(value, "yaml").strip()


def dumped(value):
    return salt.utils.yaml.safe_dump(value, default_flow_style=False)
