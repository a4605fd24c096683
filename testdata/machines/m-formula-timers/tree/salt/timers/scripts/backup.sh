#!/bin/sh
# {{ grains.id }}
exec tar cf {{ target }}/etc.tar /etc
