{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ '/map.jinja' import config with context %}
{%- for name, repo in config.repos.items() %}
/etc/apt/keyrings/{{ name }}.gpg:
  file.managed:
    - source: /srv/repo/key.gpg
    - makedirs: true
    - require_in:
      - file: repo-{{ name }}

repo-{{ name }}:
  file.managed:
    - name: /etc/apt/sources.list.d/{{ name }}.list
    - contents: {{ repo.line | yaml_dquote }}
    - require_in:
      - pkg: wanted
{%- endfor %}

/etc/apt/preferences.d/site:
  file.managed:
    - contents: |
        Package: brine-two
        Pin: version *
        Pin-Priority: 700
    - require_in:
      - pkg: wanted

{%- for pkg, answers in config.get('answers', {}).items() %}
answers-{{ pkg }}:
  debconf.set:
    - name: {{ pkg }}
    - data:
        {%- for q, a in answers.items() %}
        {{ q }}: {type: {{ a[0] }}, value: {{ a[1] | yaml_encode }}}
        {%- endfor %}

{{ pkg }}:
  pkg.installed:
    - require:
      - debconf: answers-{{ pkg }}
{%- endfor %}

versions:
  pkg.installed:
    - pkgs:
      {%- for name, version in config.pkgs.versions.items() %}
      - {{ name }}: {{ version | yaml_encode }}
      {%- endfor %}
    - refresh: false

wanted:
  pkg.installed:
    - pkgs: {{ config.pkgs.wanted | unique | sort | json }}
    - install_recommends: false
    - refresh: true
    - require:
      - pkg: versions

{%- for pkg in config.pkgs.held %}
{{ pkg }}:
  pkg.installed:
    - version: '1.0'
    - hold: true
{%- endfor %}

unwanted:
  pkg.purged:
    - pkgs: {{ config.pkgs.unwanted }}
