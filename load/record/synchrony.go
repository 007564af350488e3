package record

import "time"

// synchronyWidth is how wide the windows are of a run of the given length: a second, or the least 1, 2 or 5 times a
// power of ten of seconds of which there are at most SynchronyMax.
func synchronyWidth(length time.Duration) time.Duration {
	for unit := time.Second; ; unit *= 10 {
		for _, width := range []time.Duration{unit, 2 * unit, 5 * unit} {
			if (length-1)/width < SynchronyMax {
				return width
			}
		}
	}
}

// synchrony returns the indexes over the course of a run: each as it would be of a run whose window were this. The
// convoy index wants ConvoyArrivalsMin retries in ConvoyWindowMin, the retry_synchronisation_index a whole bucket with
// RSIArrivalsMin.
func synchrony(s *site, c Config, end time.Duration) []Synchrony {
	list := []Synchrony{}
	width := synchronyWidth(end)
	for at := time.Duration(0); at < end; at += width {
		x := Synchrony{At: at, To: min(at+width, end)}
		from, to := cellWindow(x.At, x.To, end)
		x.Retries = s.cells.retriesIn(int(from/CellWidth), int(to/CellWidth))
		if x.Retries > 0 {
			if x.To-x.At >= ConvoyWindowMin {
				x.ConvoyIndex = cellIndex(s, from, to)
			}
			x.RSI = shown(s.buckets.rsi(wholeBuckets(x.At, x.To, c.Bucket)))
		}
		list = append(list, x)
	}
	return list
}
