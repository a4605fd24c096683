"""The names of Salt that modules import; see main.py."""
