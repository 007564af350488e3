package record

func summarise(*Recorder, End) Run { return Run{} }
