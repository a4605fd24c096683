{%- set site = pillar['site'] %}
include:
  - site.secret

site-dir:
  file.directory:
    - name: /srv/www
    - user: {{ site.owner }}
    - group: {{ site.owner }}
    - makedirs: True

site-code:
  git.latest:
    - name: {{ site.repo }}
    - rev: {{ site.branch }}
    - target: /srv/www/site
    - user: {{ site.owner }}
    - force_reset: True
    - require:
      - file: site-dir

site-build:
  cmd.run:
    - name: ./build.sh
    - cwd: /srv/www/site
    - runas: {{ site.owner }}
    - env:
      - STAGE: production
      - GREETING: 'hello: world'
    - onchanges:
      - git: site-code
    - require:
      - file: site-config

site-config:
  file.managed:
    - name: /srv/www/site.ini
    - replace: False
    - user: {{ site.owner }}
    - mode: 600
    - contents: |
        [site]
        url = http://{{ grains.id }}/
    - require: [{file: site-dir}]

site-options:
  ini.options_present:
    - name: /srv/www/site.ini
    - separator: '='
    - sections:
        cache:
          size: 64
          kind: files
    - require:
      - file: site-config

site-notice:
  cmd.wait:
    - name: echo built >> /srv/www/notices
    - watch:
      - cmd: site-build

site-failed:
  cmd.run:
    - name: echo failed >> /srv/www/notices
    - onfail:
      - cmd: site-build

site-old:
  cmd.run:
    - name: rm -rf /srv/www/old
    - onlyif:
      - test -d /srv/www/old
      - test ! -e /srv/www/keep
    - prereq:
      - git: site-code
