hello:
  directory: {{ opts['cachedir'] }}/hello/{{ grains['id'] }}
  greetings:
    morning: Good morning
    evening: Good evening
