{%- for ip, names in pillar.hosts | dictsort %}
hosts-{{ ip }}:
  host.present:
    - ip: {{ ip }}
    - names: {{ names }}
    - clean: True
{%- endfor %}

hosts-old:
  host.absent:
    - ip: 10.0.0.9
    - name: old.example.org

motd:
  file.managed:
    - name: /etc/motd
    - contents_pillar: motd

profile:
  file.managed:
    - name: /etc/profile.d/site.sh
    - mode: '0644'
    - contents: umask 027
