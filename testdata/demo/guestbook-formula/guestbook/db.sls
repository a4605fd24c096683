# The database is a directory of entries, as this formula is about machines, not about databases.
/srv/guestbook:
  file.directory:
    - makedirs: True
    - mode: '0755'

/srv/guestbook/name:
  file.managed:
    - contents: {{ pillar.guestbook.name }}
    - require:
      - file: /srv/guestbook
