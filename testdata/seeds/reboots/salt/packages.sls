# Stands for a package manager, which needs root.
{%- for name, version in pillar.get('param_pkgs', {}).items() %}
package_{{ name }}:
  file.managed:
    - name: {{ pillar['home'] }}/packages/{{ name }}
    - contents: '{{ version }}'
    - makedirs: True
{%- endfor %}
