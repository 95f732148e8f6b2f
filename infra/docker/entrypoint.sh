#!/bin/sh
# The password comes from the secret's file into the one variable libpq reads, and nowhere else.
set -eu
if [ -r /run/secrets/postgres_password ]; then
    PGPASSWORD=$(cat /run/secrets/postgres_password)
    export PGPASSWORD
fi
exec "$@"
