# -*- coding: utf-8 -*-
# vim: ft=sls
{% set tplroot = tpldir.split('/')[0] -%}
{% from tplroot ~ "/map.jinja" import jobs with context -%}

jobs-pkg:
  pkg.installed:
    - name: {{ jobs.pkg }}

jobs-logdir:
  file.directory:
    - name: {{ jobs.logdir }}
    - makedirs: true

jobs-runner:
  file.managed:
    - name: {{ jobs.runner }}
    - source: salt://{{ tplroot }}/files/run.sh
    - template: jinja
    - mode: 755
    - defaults:
        logdir: /var/log
    - context:
        logdir: {{ jobs.logdir }}

{%- for id, job in jobs.entries.items() | sort %}
{%- set state = 'absent' if job.get('absent') else 'present' %}

jobs-entry-{{ id }}:
  cron.{{ state }}:
    - name: {{ job.command | yaml_encode }}
    - identifier: {{ id }}
    - user: {{ job.get('user', 'root') }}
    {%- if state == 'present' %}
    {%- for option in ('minute', 'hour', 'daymonth', 'month', 'dayweek', 'special') if option in job %}
    - {{ option }}: {{ job[option] | string | yaml_encode }}
    {%- endfor %}
    {%- endif %}
    - require:
      - pkg: jobs-pkg
      - file: jobs-runner

{%- for var, val in job.get('env', {}).items() %}

jobs-env-{{ id }}-{{ var }}:
  cron.env_present:
    - name: {{ var }}
    - value: {{ val }}
    - user: {{ job.get('user', 'root') }}
    - require_in:
      - cron: jobs-entry-{{ id }}
{%- endfor %}
{%- endfor %}

jobs-service:
  service.running:
    - name: {{ jobs.service }}
    - enable: true
    - require:
      - pkg: jobs-pkg
