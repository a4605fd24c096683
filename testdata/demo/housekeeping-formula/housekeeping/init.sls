{% for name, job in pillar.housekeeping.jobs.items() %}
job_{{ name }}:
  cron.present:
    - identifier: {{ name }}
    - name: {{ job.command }}
    - minute: '{{ job.minute }}'
    - hour: '{{ job.hour }}'
{% endfor %}

rotate_app:
  file.managed:
    - name: /etc/logrotate.d/app
    - mode: '0644'
    - contents: |
        /var/log/app/*.log {
            weekly
            rotate {{ pillar.housekeeping.keep }}
            missingok
        }
