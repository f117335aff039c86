"""Reads a trace by Perfetto's own types, and prints what is in it."""
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import CounterDescriptor, Trace, TrackEvent

trace = Trace()
with open(sys.argv[1], "rb") as f:
    trace.ParseFromString(f.read())
tracks, depth, unknown = {}, {}, 0


def fields(message):
    """Counts the fields of a message, and below it, that the schema has not."""
    n = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type is not None:
            n += sum(fields(m) for m in (value if field.is_repeated else [value]))
    return n


for packet in trace.packet:
    unknown += fields(packet)
    if packet.HasField("track_descriptor"):
        d = packet.track_descriptor
        tracks[d.uuid] = d.name or d.process.process_name
        if d.HasField("counter"):
            print(f"counter {tracks[d.parent_uuid]}/{d.name} {CounterDescriptor.Unit.Name(d.counter.unit).removeprefix('UNIT_')}")
        elif d.HasField("process"):
            print(f"process {d.process.process_name}")
    if packet.HasField("track_event"):
        e = packet.track_event
        assert e.track_uuid in tracks and packet.timestamp > 0, e
        if e.type == TrackEvent.TYPE_SLICE_BEGIN:
            depth[e.track_uuid] = depth.get(e.track_uuid, 0) + 1
            print(f"slice {e.name}")
        elif e.type == TrackEvent.TYPE_SLICE_END:
            depth[e.track_uuid] -= 1
        elif e.type == TrackEvent.TYPE_INSTANT:
            print(f"instant {e.name}")
print("unknown", unknown)
print("unbalanced", sum(depth.values()))
