site_page:
  file.managed:
    - name: {{ pillar['home'] }}/page.html
    - contents: <p>{{ grains['id'] }}</p>
    - makedirs: True
