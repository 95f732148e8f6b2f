#!/bin/sh
# Copies the password from the secret's file into PGPASSWORD, which libpq reads, and nowhere else.
set -eu
if [ -r /run/secrets/database_password ]; then
    PGPASSWORD=$(cat /run/secrets/database_password)
    export PGPASSWORD
fi
exec "$@"
