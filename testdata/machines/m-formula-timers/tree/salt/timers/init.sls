include:
  - .logs

scripts:
  file.recurse:
    - name: /opt/jobs
    - source: salt://timers/scripts
    - template: jinja
    - file_mode: '0750'
    - dir_mode: '0755'
    - clean: True
    - exclude_pat: '*.bak'
    - defaults:
        target: /var/backups

{% for name, value in pillar['timers']['env'].items() %}
env-{{ name }}:
  cron.env_present:
    - name: {{ name }}
    - value: '{{ value }}'
    - user: root
{% endfor %}

{% for id, job in pillar.timers.jobs.items() %}
job-{{ id }}:
  cron.{{ 'absent' if job.get('absent') else 'present' }}:
    - name: {{ job.cmd | yaml_encode }}
    - identifier: {{ id }}
    - user: {{ job.user | default('root') }}
    {%- for key in ['minute', 'hour', 'daymonth', 'month', 'dayweek', 'special', 'comment'] if key in job %}
    - {{ key }}: {{ job[key] | yaml_encode if job[key] is string else job[key] }}
    {%- endfor %}
    - require: [{file: scripts}]
{% endfor %}
