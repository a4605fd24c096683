{% for name, user in pillar.accounts.items() %}
account_{{ name }}:
  group.present:
    - name: {{ name }}
  user.present:
    - name: {{ name }}
    - gid: {{ name }}
    - shell: /bin/bash
    - fullname: {{ user.fullname }}
    - groups: {{ user.get('groups', []) | json }}
    - require:
      - group: account_{{ name }}

account_{{ name }}_ssh:
  file.directory:
    - name: /home/{{ name }}/.ssh
    - user: {{ name }}
    - group: {{ name }}
    - mode: '0700'
    - require:
      - user: account_{{ name }}

account_{{ name }}_keys:
  file.managed:
    - name: /home/{{ name }}/.ssh/authorized_keys
    - user: {{ name }}
    - group: {{ name }}
    - mode: '0600'
    - contents: {{ user.get('keys', []) | join('\n') | json }}
    - require:
      - file: account_{{ name }}_ssh
{% endfor %}
