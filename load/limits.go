package load

import (
	"fmt"
	"math"
)

// Descriptors that a run needs beside its connections: the standard streams, the runtime's
// poller, the listener and the held port, timers and report files, with room to spare.
const descriptorsReserve = 64

// Descriptors of one client where the target is in this process: its own end of the
// connection, and the target's.
const descriptorsPerClient = 2

// checkLimits refuses a fleet for which the process may not open enough descriptors, or the
// system has too few ports, before anything is opened. A port serves once for each of the
// destinations; 0 is a target that takes no ports.
func checkLimits(n need) error {
	ports := portsTo(portCount(), n.destinations)
	if ports >= 0 {
		ports /= int64(n.connections)
	}
	return fits(n.clients, n.connections*n.descriptors, descriptorLimit(), ports)
}

// A need is what a fleet takes: each client so many connections, and each of these so many descriptors.
type need struct{ clients, connections, descriptors, destinations int }

// connectionsOfLayers is how many connections each service of a chain may have to the one behind it, where the clients
// have theirs and this process may open so many descriptors; negative is any number.
func connectionsOfLayers(clientConnections, layers int, descriptors int64) (int, error) {
	if descriptors < 0 || layers == 0 {
		return connectionsMost, nil
	}
	taken := int64(descriptorsReserve) + int64(clientConnections)*descriptorsPerClient
	most := (descriptors - taken) / int64(layers*descriptorsPerClient)
	if most < connectionsFirst {
		taken += int64(layers) * connectionsFirst * descriptorsPerClient
		return 0, fmt.Errorf("%w: %d layers need at least %d descriptors beside those of the clients, and this process may open %d: raise the limit (ulimit -n %d), or have fewer clients",
			ErrLimit, layers, layers*connectionsFirst*descriptorsPerClient, descriptors, taken)
	}
	return int(min(most, connectionsMost)), nil
}

// portsTo is how many connections the ports allow to so many destinations; negative is any number.
func portsTo(ports int64, destinations int) int64 {
	if destinations == 0 {
		return -1
	}
	return ports * int64(destinations)
}

// fits compares a fleet, of which a client takes each descriptors, with limits; negative limits
// are unknown.
func fits(clients, each int, descriptors, ports int64) error {
	if descriptors >= 0 {
		most := max(0, (descriptors-descriptorsReserve)/int64(each))
		if int64(clients) > most {
			return fmt.Errorf("%w: clients = %d need %d descriptors, and this process may open %d: at most %d clients fit, or raise the limit (ulimit -n %d)",
				ErrLimit, clients, clients*each+descriptorsReserve, descriptors, most, clients*each+descriptorsReserve)
		}
	}
	if ports >= 0 && int64(clients) > ports {
		return fmt.Errorf("%w: clients = %d need a local port for each connection, and the system hands out %d: at most %d clients fit, or widen net.ipv4.ip_local_port_range",
			ErrLimit, clients, ports, ports)
	}
	return nil
}

// capped is a limit of the system as a signed number.
func capped(limit uint64) int64 {
	return int64(min(limit, math.MaxInt64))
}
