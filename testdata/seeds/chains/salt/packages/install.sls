# The packages come from the pillar of the step or, where the step says so, from
# what the management server put into the machine's own pillar.
{%- if pillar.get('chain_pillar', False) %}
{%- set data = pillar.get('chain_action_' ~ pillar.get('action_id'), {}) %}
{%- else %}
{%- set data = pillar %}
{%- endif %}
{%- for name, version in data.get('param_pkgs', {}).items() %}
package_{{ name }}:
  file.managed:
    - name: {{ pillar['home'] }}/packages/{{ name }}
    - contents: '{{ version }}'
    - makedirs: True
{%- endfor %}
