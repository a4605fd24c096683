{% from "accounts/map.jinja" import accounts with context %}

accounts_sudo:
  pkg.installed:
    - name: {{ accounts.sudo_package }}
  file.directory:
    - name: {{ accounts.sudoers_dir }}
    - mode: '0750'
    - require:
      - pkg: accounts_sudo
