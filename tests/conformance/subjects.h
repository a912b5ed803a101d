/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the conformance suite runs on: one line each, which makes one test of its own, conformance_NAME.
 *
 * SUBJECT(name, kind, spread, format): how the ports' names are made is told by the kind, where packets arrive by the
 * spread (rig.h). A backend that cannot open is skipped with its reason, or fails when SQUALL_REQUIRE names it (the
 * part of the format before the colon).
 */
SUBJECT(loop, WIRE_INSIDE, SPREAD_BY_FLOW, "loop:queues=4")
SUBJECT(loop_shaped, WIRE_INSIDE, SPREAD_BY_FLOW, "loop:queues=4,rate=20M,delay=20us")
SUBJECT(loop_sink, WIRE_SINK, SPREAD_BY_FLOW, "loop:sink,queues=4")
SUBJECT(afpacket, WIRE_VETH, SPREAD_BY_FLOW, "afpacket:%s")
SUBJECT(afpacket_ring, WIRE_VETH, SPREAD_BY_FLOW, "afpacket:%s,tx=ring")
SUBJECT(afpacket_linear, WIRE_VETH, SPREAD_BY_FLOW, "afpacket:%s,tx=linear")
SUBJECT(afpacket_sendmmsg, WIRE_VETH, SPREAD_BY_FLOW, "afpacket:%s,tx=sendmmsg")
SUBJECT(afxdp_native, WIRE_VETH, SPREAD_BY_SENDER, "afxdp:%s,mode=native")
SUBJECT(afxdp_generic, WIRE_VETH, SPREAD_UNSAID, "afxdp:%s,mode=generic")
