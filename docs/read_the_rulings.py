"""Count payouts by hour, and print rulings with findings: `read_the_rulings.py HOST:PORT`.

It reads two topics to their ends and stops. Topics of a ledger with a prefix begin with that.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator

from kafka import KafkaConsumer, TopicPartition


def read(topic: str) -> Iterator[tuple[str, dict[str, str], bytes]]:
    """Each record up to the present end of a topic: its key, its headers and its value."""
    consumer = KafkaConsumer(
        bootstrap_servers=sys.argv[1].split(","),
        auto_offset_reset="none",
        enable_auto_commit=False,
        allow_auto_create_topics=False,
    )
    partitions = [TopicPartition(topic, n) for n in sorted(consumer.partitions_for_topic(topic))]
    ends = consumer.end_offsets(partitions)
    consumer.assign(partitions)
    consumer.seek_to_beginning()
    while any(consumer.position(each) < ends[each] for each in partitions):
        for records in consumer.poll(timeout_ms=500).values():
            for record in records:
                headers = {name: text.decode() for name, text in record.headers}
                yield record.key.decode(), headers, record.value


seen: Counter[str] = Counter()  # by place: the sequence of its last fact
payouts: Counter[tuple[str, str]] = Counter()  # cents by table and hour of the device's clock
for place, headers, value in read("ledger.table-events.v1"):
    sequence = int(headers["ledger_table_seq"])
    if sequence <= seen[place]:
        continue  # it was sent again
    seen[place] = sequence
    if headers["ce_type"] == "roundledger.wager_paid.v1":
        payouts[place, headers["ce_time"][:13]] += json.loads(value)["amount"]
for (place, hour), cents in sorted(payouts.items()):
    print(f"{place} {hour}:00 paid {cents / 100:,.2f}")

newest: dict[tuple[str, str], tuple[int, int]] = {}  # by round: place of its newest ruling
rulings: dict[tuple[str, str], dict] = {}
for _, headers, value in read("ledger.adjudications.v1"):
    ruling = json.loads(value)
    if ruling["round"] is None:
        continue  # findings about a table, outside any round
    which = ruling["property"], ruling["round"]
    order = int(headers["ledger_position"]), int(headers["ledger_outbox"])
    if order > newest.get(which, (0, 0)):
        newest[which], rulings[which] = order, ruling
for (property_, round_), ruling in rulings.items():
    for finding in ruling.get("findings", []):  # a truncated ruling has none
        print(f"{property_} {round_} version {ruling['version']}: {finding['says']}")
print(f"{len(rulings)} rounds are ruled on")
