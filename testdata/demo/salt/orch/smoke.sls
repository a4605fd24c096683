# Checks of the controller itself: plain states, run where brine runs.
{%- set site = pillar['site'] %}
{%- set hosts = ['demo'] if grains['id'] == 'demo' else site['servers'] | list %}

servers_known:
  test.check_pillar:
    - dictionary: site:servers
    - string:
{%- for name in site['servers'] %}
      - site:servers:{{ name }}:address
{%- endfor %}
{% for name in hosts %}
{{ name }}_has_pages:
  file.exists:
    - name: {{ opts['cachedir'] }}/machines/{{ name }}/srv/www/index.html
{% endfor %}
