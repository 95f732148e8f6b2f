"""Local PostgreSQL and Apache Kafka without Docker: real servers that this program starts.

PostgreSQL comes from its wheel, Kafka from its jars on this machine's Java. One supervisor for each
home keeps both running until it is stopped; `local_kafka` gives other processes the address.
"""

from infra.services.supervisor import local_kafka as local_kafka
