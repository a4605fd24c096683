"""Modules of Python under the names that Salt had for them."""
import ipaddress
import xml.etree.ElementTree as ElementTree
from io import StringIO

string_types = (str,)
text_type = str
