package stamp_test

import (
	"bytes"
	"reflect"
	"testing"

	"stormtest/scripts/bench/stamp"
)

func TestWriteRead(t *testing.T) {
	want := []stamp.Stamp{{}, {At: 1<<63 - 1, Connection: 1<<32 - 1, Request: 1<<32 - 2}, {At: 3, Connection: 2, Request: 1}}
	log := stamp.NewLog(3)
	log.Add(stamp.Stamp{At: 99})
	log.Reset()
	for _, s := range want {
		log.Add(s)
	}
	var b bytes.Buffer
	if err := log.Write(&b); err != nil {
		t.Fatal(err)
	}
	if got, err := stamp.Read(&b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Read() = %v, %v, want %v", got, err, want)
	}
	log.Add(stamp.Stamp{})
	if err := log.Write(&b); err == nil {
		t.Error("Write() of more than there is room for: no error")
	}
}
