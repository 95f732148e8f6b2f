"""PostgreSQL: the record, tables of views, migrations, backup."""
