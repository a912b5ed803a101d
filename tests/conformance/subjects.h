/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the conformance suite runs on: one line each, which makes one test of its own, conformance_NAME.
 *
 * SUBJECT(name, kind, format): how the ports' names are made is told by the kind (rig.h). A backend that cannot open is
 * skipped with its reason, or fails when SQUALL_REQUIRE names it (the part of the format before the colon).
 */
SUBJECT(loop, WIRE_INSIDE, "loop:queues=4")
SUBJECT(loop_shaped, WIRE_INSIDE, "loop:queues=4,rate=20M,delay=20us")
SUBJECT(loop_sink, WIRE_SINK, "loop:sink,queues=4")
SUBJECT(afpacket, WIRE_VETH, "afpacket:%s")
SUBJECT(afpacket_ring, WIRE_VETH, "afpacket:%s,tx=ring")
SUBJECT(afpacket_linear, WIRE_VETH, "afpacket:%s,tx=linear")
SUBJECT(afpacket_sendmmsg, WIRE_VETH, "afpacket:%s,tx=sendmmsg")
