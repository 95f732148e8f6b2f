"""PostgreSQL: the record, the views' tables, migrations."""
