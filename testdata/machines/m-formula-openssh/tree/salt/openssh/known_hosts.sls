{% for host, key in salt['pillar.get']('openssh:known_hosts', {}).items() %}
{{ host }}:
  ssh_known_hosts.present:
    - user: root
    - enc: {{ key.split()[0] }}
    - key: {{ key.split()[1] }}
    - hash_known_hosts: False
{% endfor %}
