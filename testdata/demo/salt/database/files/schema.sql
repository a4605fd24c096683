{%- for table in pillar['database']['tables'] -%}
CREATE TABLE {{ table }} (id INTEGER PRIMARY KEY);
{% endfor -%}
