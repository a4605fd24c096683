exclude:
  - id: tz-link

shells:
  file.symlink:
    - name: /usr/local/bin/sh-of-site
    - target: /bin/sh

tmpfiles:
  file.managed:
    - name: /etc/tmpfiles.d/site.conf
    - makedirs: True
    - contents:
      - d /run/site 0755 root root -
      - D /tmp/site 1777 root root 1d
  cmd.run:
    - name: systemd-tmpfiles --create /etc/tmpfiles.d/site.conf
    - onchanges:
      - file: tmpfiles
    - creates: /run/site

modules:
  file.prepend:
    - name: /etc/modules-load.d/site.conf
    - makedirs: True
    - header: True
    - text: ['# modules', 'loop']
