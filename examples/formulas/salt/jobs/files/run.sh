#!/bin/sh
# Runs a job of this directory and keeps what it prints.
set -eu
{{ '"' }}$(dirname "$0")/job-$1{{ '"' }} >>"{{ logdir }}/$1.log" 2>&1
