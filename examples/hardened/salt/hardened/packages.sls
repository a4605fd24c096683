{%- set packages = pillar.hardened.packages %}

packages-installed:
  pkg.installed:
    - pkgs: {{ packages.installed | tojson }}

packages-removed:
  pkg.purged:
    - pkgs: {{ packages.removed | tojson }}
