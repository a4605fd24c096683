# One web host after the other: out of the load balancer, update, back in.
# A host that fails stays out, and the hosts after it are left alone.
{%- set hosts = pillar['site']['servers'] | list %}
{%- for host in hosts %}

drain_{{ host }}:
  salt.state:
    - tgt: 'lb*'
    - sls: balancer
    - pillar:
        drained: [{{ host }}]
{%- if not loop.first %}
    - require:
      - salt: return_{{ hosts[loop.index0 - 1] }}
{%- endif %}

update_{{ host }}:
  salt.state:
    - tgt: {{ host }}
    - highstate: True
    - require:
      - salt: drain_{{ host }}

check_{{ host }}:
  salt.function:
    - name: cmd.run
    - tgt: {{ host }}
    - arg:
      - grep '<title>' {{ opts['cachedir'] }}/machines/{{ host }}/srv/www/index.html
    - require:
      - salt: update_{{ host }}

return_{{ host }}:
  salt.state:
    - tgt: 'lb*'
    - sls: balancer
    - require:
      - salt: check_{{ host }}
{%- endfor %}
