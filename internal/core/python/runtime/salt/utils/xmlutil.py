"""XML."""


def to_dict(element, attr=False):
    """Returns an XML element as a dict."""
    name = element.tag.rpartition("}")[2]
    attributes = dict(element.attrib) if attr else {}
    if not len(element):
        return dict(attributes, **{name: element.text}) if attributes else {name: element.text}
    out = attributes
    for child in element:
        tag = child.tag.rpartition("}")[2]
        item = to_dict(child, attr) if len(child) else child.text
        if tag in out:
            if not isinstance(out[tag], list):
                out[tag] = [out[tag]]
            out[tag].append(item)
        else:
            out[tag] = item
    return out
