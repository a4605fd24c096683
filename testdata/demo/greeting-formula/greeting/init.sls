{%- from "greeting/map.jinja" import greeting with context %}

greeting_file:
  file.managed:
    - name: {{ greeting.file }}
    - source: salt://greeting/files/motd
    - template: jinja
    - mode: '0644'
    - context:
        text: {{ greeting.text | yaml_dquote }}
