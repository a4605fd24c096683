# What the RFC's chain applies: packages with versions from the pillar.
{% for name, version in pillar['param_pkgs'].items() %}
{{ name }}:
  pkg.installed:
    - version: {{ version }}
{% endfor %}
