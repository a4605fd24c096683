{%- from 'lamp/map.jinja' import lamp, conf with context %}
{%- set backup = conf.database.backup %}

include:
  - lamp.packages

backup-program:
  file.managed:
    - name: /usr/local/sbin/backup-shop
    - source: salt://lamp/files/backup.sh.j2
    - template: jinja
    - context: {database: {{ conf.database.name }}}
    - mode: '0755'

backup-directory:
  file.directory:
    - name: /var/backups/shop
    - mode: '0700'
    - makedirs: True

backup-cron:
  cron.present:
    - name: /usr/local/sbin/backup-shop
    - identifier: backup-shop
    - user: root
    - hour: {{ backup.hour }}
    - minute: {{ backup.minute }}
    - comment: dumps the database of the shop
    - require:
      - file: backup-program
      - file: backup-directory
      - sls: lamp.packages

backup-rotation:
  file.managed:
    - name: /etc/logrotate.d/backup-shop
    - contents: |
        /var/backups/shop/dump.sql {
            daily
            rotate {{ backup.keep }}
            compress
            missingok
            notifempty
        }
    - require:
      - sls: lamp.packages

cron-service:
  service.running:
    - name: {{ lamp.cron }}
    - enable: True
    - require:
      - sls: lamp.packages
