package record

type shard struct{}

func (s *shard) init(Config)              {}
func (s *shard) operationStarted()        {}
func (s *shard) send(Sent)                {}
func (s *shard) outcome(Sample)           {}
func (s *shard) lose(int)                 {}
func (s *shard) delayed(Delay)            {}
func (s *shard) hint(Hint)                {}
func (s *shard) operationEnded(Operation) {}
func (s *shard) addTotals(*Totals)        {}
