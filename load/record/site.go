package record

import "time"

type site struct{}

func (s *site) init(Config)                  {}
func (s *site) arrival(Arrival)              {}
func (s *site) servedAt(time.Duration, bool) {}
func (s *site) totals() Totals               { return Totals{} }
