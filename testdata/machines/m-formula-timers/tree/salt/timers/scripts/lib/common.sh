target={{ target }}
