//go:build deps

// Package cases names the libraries of the five cases, so that go.mod keeps
// them whichever case is being worked on.
package cases

import (
	_ "github.com/alicebob/miniredis/v2/server"
	_ "github.com/apache/arrow-go/v18/arrow"
	_ "github.com/apache/arrow-go/v18/arrow/array"
	_ "github.com/apache/arrow-go/v18/arrow/flight"
	_ "github.com/apache/arrow-go/v18/arrow/ipc"
	_ "github.com/apache/arrow-go/v18/arrow/memory"
	_ "github.com/apache/arrow-go/v18/parquet"
	_ "github.com/apache/arrow-go/v18/parquet/pqarrow"
	_ "github.com/aws/aws-sdk-go-v2/config"
	_ "github.com/aws/aws-sdk-go-v2/credentials"
	_ "github.com/aws/aws-sdk-go-v2/feature/s3/manager"
	_ "github.com/aws/aws-sdk-go-v2/service/s3"
	_ "github.com/google/gopacket/reassembly"
	_ "github.com/google/pprof/profile"
	_ "github.com/gopacket/gopacket"
	_ "github.com/gopacket/gopacket/afpacket"
	_ "github.com/gopacket/gopacket/layers"
	_ "github.com/gopacket/gopacket/pcapgo"
	_ "github.com/gopacket/gopacket/reassembly"
	_ "github.com/gopacket/gopacket/tcpassembly"
	_ "github.com/gorilla/mux"
	_ "github.com/hashicorp/raft"
	_ "github.com/hashicorp/raft-boltdb/v2"
	_ "github.com/johannesboyne/gofakes3"
	_ "github.com/johannesboyne/gofakes3/backend/s3mem"
	_ "github.com/mattn/go-sqlite3"
	_ "github.com/redis/go-redis/v9"
	_ "go.etcd.io/bbolt"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sync/semaphore"
	_ "golang.org/x/sys/unix"
	_ "google.golang.org/grpc"
	_ "google.golang.org/protobuf/proto"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "modernc.org/sqlite"
)
