{%- set modes = {
  '/etc/crontab': '0600', '/etc/ssh/sshd_config': '0600', '/etc/cron.d': '0700', '/etc/cron.daily': '0700',
} %}
{%- for path, mode in modes | dictsort %}

{{ path }}:
  file.{{ 'directory' if path.startswith('/etc/cron.') else 'managed' }}:
    - mode: '{{ mode }}'
    - user: root
    - group: root
    {%- if not path.startswith('/etc/cron.') %}
    - replace: False
    {%- endif %}
{%- endfor %}

shm:
  mount.fstab_present:
    - name: tmpfs
    - fs_file: /dev/shm
    - fs_vfstype: tmpfs
    - fs_mntops: [nosuid, nodev, noexec]

journal:
  ini.options_present:
    - name: /etc/systemd/journald.conf
    - separator: '='
    - sections:
        Journal:
          Storage: persistent
          SystemMaxUse: 200M

issue:
  file.managed:
    - names:
      - /etc/issue
      - /etc/issue.net
    - contents: Authorised users only. Activity is logged.

shadow-readable-by-nobody:
  acl.absent:
    - name: /etc/shadow
    - acl_type: user
    - acl_name: nobody
