# Plain states: they run where brine runs.
{{ pillar['home'] }}/rack.conf:
  file.managed:
    - source: salt://files/rack.conf
    - mode: 0600
    - makedirs: True
