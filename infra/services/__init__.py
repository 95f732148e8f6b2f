"""PostgreSQL and Apache Kafka on this machine without Docker: real servers, started by the program.

PostgreSQL comes from its wheel, Kafka from its own jars on a Java of this machine. One supervisor a
home holds both until it is told to stop; everybody else asks `local_kafka` where they are.
"""

from infra.services.supervisor import local_kafka as local_kafka
