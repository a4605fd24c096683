home: {{ opts['cachedir'] }}/{{ grains['id'] }}
