# "brine doc file.managed" tells what a state can be given.
{%- set hello = pillar['hello'] %}

hello_directory:
  file.directory:
    - name: {{ hello['directory'] }}
    - makedirs: True

{% for name, text in hello['greetings'].items() %}
hello_{{ name }}:
  file.managed:
    - name: {{ hello['directory'] }}/{{ name }}.txt
    - source: salt://hello/greeting.txt
    - template: jinja
    - context:
        text: {{ text }}
    - require:
      - file: hello_directory
{% endfor %}

# Runs only when a file was changed.
hello_changed:
  cmd.run:
    - name: ls
    - cwd: {{ hello['directory'] }}
    - onchanges:
{%- for name in hello['greetings'] %}
      - file: hello_{{ name }}
{%- endfor %}
