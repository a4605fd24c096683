check_backup:
  salt.runner:
    - name: backup.verify
    - good: {{ pillar.get('good', False) }}

after_backup:
  test.nop:
    - require:
      - salt: check_backup
