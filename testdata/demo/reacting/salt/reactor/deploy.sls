greet:
  local.test.echo:
    - tgt: {{ data['id'] }}
    - args:
      - text: "release {{ data['release'] }}"
