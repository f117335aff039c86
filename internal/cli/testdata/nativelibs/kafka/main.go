// Kafka produces messages, by librdkafka, for a broker that is not there.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"example.com/nativelibs/places"
)

//go:embed main.go
var source string

func produce() error {
	p, err := kafka.NewProducer(&kafka.ConfigMap{"bootstrap.servers": "127.0.0.1:1", "queue.buffering.max.messages": 10_000_000, "go.delivery.reports": false, "log_level": 0})
	if err != nil {
		return err
	}
	go func() {
		for range p.Events() {
		}
	}()
	topic, value := "orders", make([]byte, 2000)
	for range 50_000 {
		err := p.Produce(&kafka.Message{TopicPartition: kafka.TopicPartition{Topic: &topic, Partition: kafka.PartitionAny}, Value: value}, nil) // truth: produce
		if err != nil {
			return err
		}
	}
	time.Sleep(1500 * time.Millisecond)
	return nil
}

func main() {
	places.Tell(source)
	if err := produce(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
