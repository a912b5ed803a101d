/* SPDX-License-Identifier: Apache-2.0 */
/* A row of the option table whose type is not that of its field must not compile; with the right types it does. */
#include "lib/option_row.h"

#if MISFIT == 0
OPTION_CHECK(VLAN, "vlan", "", U16, vlan, "0")
OPTION_CHECK(INTERFACE, "interface", "i", STRING, interface, "")
OPTION_CHECK(PPS, "pps", "", PPS, pps, "100k")
#elif MISFIT == 1
OPTION_CHECK(VLAN, "vlan", "", U32, vlan, "0")
#elif MISFIT == 2
OPTION_CHECK(INTERFACE, "interface", "i", BOOL, interface, "")
#elif MISFIT == 3
OPTION_CHECK(PACKET_SIZE, "packet-size", "s", STRING, packet_size, "0")
#endif
