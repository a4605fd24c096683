/etc/guestbook.conf:
  file.managed:
    - contents: |
        name={{ pillar.guestbook.name }}
        port={{ pillar.guestbook.port }}
        database={{ pillar.guestbook.database }}
    - mode: '0640'
