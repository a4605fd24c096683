site-secret:
  cmd.run:
    - name: 'umask 077; echo made-once > /srv/site.secret'
    - creates: /srv/site.secret
  file.managed:
    - name: /srv/site.secret
    - mode: '0400'
    - replace: false
    - require:
      - cmd: site-secret
