include:
  - base

extend:
  profile:
    file:
      - mode: '0755'
      - require:
        - file: motd

bashrc:
  file.blockreplace:
    - name: /root/.bashrc
    - marker_start: '# site: begin'
    - marker_end: '# site: end'
    - append_if_not_found: True
    - content: |
        PS1='{{ grains['id'] }}# '
        export PS1

limits:
  file.blockreplace:
    - name: /etc/security/limits.conf
    - marker_start: '# -- site'
    - marker_end: '# -- end'
    - source: salt://base/limits.jinja
    - template: jinja
    - append_if_not_found: True

deluser:
  file.replace:
    - name: /etc/deluser.conf
    - pattern: ^REMOVE_HOME\s*=.*$
    - repl: REMOVE_HOME = 1
    - append_if_not_found: True

adduser:
  file.comment:
    - name: /etc/deluser.conf
    - regex: ^BACKUP = 0
    - ignore_missing: True

nsswitch:
  file.line:
    - name: /etc/nsswitch.conf
    - content: 'netgroup:       files nis'
    - mode: ensure
    - after: '^services:.*'

zone:
  timezone.system:
    - name: Etc/UTC

tz-link:
  file.exists:
    - name: /etc/localtime
