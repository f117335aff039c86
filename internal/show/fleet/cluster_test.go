package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// startCluster runs two shards of two replicas each, and the ZooKeeper between them.
func startCluster(t *testing.T) []*server {
	t.Helper()
	hwtest.LeftToMatrix(t, "runs four servers of ClickHouse and their keeper")
	classPath, err := hwtest.ZooKeeper()
	hwtest.Need(t, func() error { return err })
	ports := freePorts(t, 14)
	keeper := &server{dir: t.TempDir(), ports: ports[12:]}
	settings := fmt.Sprintf("tickTime=2000\ndataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n", keeper.dir, ports[12])
	if err := os.WriteFile(filepath.Join(keeper.dir, "zoo.cfg"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	keeper.run(t, exec.Command("java", "-Xmx128m", "-cp", classPath, "org.apache.zookeeper.server.quorum.QuorumPeerMain", "zoo.cfg"))
	keeper.answers(t, func() error {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", ports[12]), time.Second)
		if err == nil {
			err = c.Close()
		}
		return err
	})
	shards := ""
	for shard := range 2 {
		shards += "<shard><internal_replication>true</internal_replication>"
		for replica := range 2 {
			shards += fmt.Sprintf("<replica><host>127.0.0.1</host><port>%d</port></replica>", ports[3*(2*shard+replica)+1])
		}
		shards += "</shard>"
	}
	var all []*server
	for n := range 4 {
		all = append(all, newServer(t, ports[3*n:3*n+3], fmt.Sprintf(`<remote_servers><fleet>%s</fleet></remote_servers>
<zookeeper><node><host>127.0.0.1</host><port>%d</port></node></zookeeper>
<macros><shard>%d</shard><replica>%d</replica></macros><distributed_ddl><path>/clickhouse/ddl</path></distributed_ddl>`, shards, ports[12], n/2, n%2)))
	}
	for _, s := range all {
		s.start(t)
	}
	return all
}

// clusterStore are the tables of a cluster, by one of its servers.
func clusterStore(t *testing.T, s *server) Store {
	return openAt(t, s, Options{Plain: true, Cluster: "fleet"})
}

// everything is the answers to all questions, as text.
func everything(t *testing.T, s Store) string {
	t.Helper()
	scope := Scope{Tenant: "t", Since: monday, Now: monday.Add(8 * day)}
	one := scope
	one.Service = "service-004"
	var text strings.Builder
	answer := func(what string, got any, err error) {
		b, failed := json.Marshal(got)
		if err = errors.Join(err, failed); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		fmt.Fprintf(&text, "%s %s\n", what, b)
	}
	top, err := Top(t.Context(), s, scope, 10)
	answer("top", top, err)
	top, err = Top(t.Context(), s, one, 10)
	answer("top of one", top, err)
	short := scope
	short.Since = monday.Add(5 * day)
	top, err = Top(t.Context(), s, short, 10)
	answer("top of hours", top, err)
	services, err := Services(t.Context(), s, scope)
	answer("services", services, err)
	course, err := Course(t.Context(), s, one)
	answer("course", course, err)
	fits, err := Fits(t.Context(), s, scope)
	answer("fits", fits, err)
	versions, err := Versions(t.Context(), s, one)
	answer("versions", versions, err)
	d, err := Compare(t.Context(), s, one, "v1", "v4")
	answer("diff", d, err)
	causes, err := Causes(t.Context(), s, scope)
	answer("causes", causes, err)
	all, err := AllIncidents(t.Context(), s, scope)
	answer("incidents", all, err)
	pod, err := OfPod(t.Context(), s, scope, Pod{Namespace: "prod", Name: "pod-1"})
	answer("pod", pod, err)
	found, err := Find(t.Context(), s, "t", all[0].Incident.String()[:8])
	answer("found", found, err)
	return text.String()
}

// All questions have the same answers from SQLite, a server of ClickHouse, its current engine, and two servers of a
// cluster of two shards with two replicas each.
func TestEveryQuestionHasOneAnswer(t *testing.T) {
	t.Parallel()
	servers := startCluster(t)
	one, err := Open("file://"+t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { one.Close() })
	first := made(t, clusterStore(t, servers[0]))
	all := map[string]Store{"sqlite": made(t, one), "clickhouse": made(t, startClickHouse(t)), "chdb": made(t, startChDB(t)), "cluster": first}
	p := planted{services: 8, pods: 6, stacks: 4, grow: []int{1, 4, 6}, days: 8}
	for _, s := range all {
		p.fill(t, s)
		for i := range 40 {
			at := monday.Add(time.Duration(i) * 4 * time.Hour)
			in := Incident{Tenant: "t", Service: fmt.Sprintf("service-%03d", i%8), At: at, Kind: KindKill, Version: fmt.Sprintf("v%d", 1+i/12),
				Fingerprint: fmt.Sprint("hw-", i%5), Class: "leak", Pod: fmt.Sprint("pod-", i%3), Namespace: "prod", Sentence: "killed", File: "put.go", Line: 7,
				Written: at}
			in.Incident = IncidentID(hashOf(fmt.Sprint(i)), KindKill, at)
			put(t, s, Incidents, in, in)
		}
		if _, err := Rollup(t.Context(), s, "t", monday.Add(8*day+time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	all["the last of the cluster"] = clusterStore(t, servers[3])
	want := everything(t, one)
	for name, s := range all {
		if got := everything(t, s); got != want {
			t.Errorf("%s answers\n%s\nand SQLite\n%s", name, got, want)
		}
	}
	t.Logf("%d bytes of answers are the same from %d stores", len(want), len(all))
	losesAnAnswer(t, first, 150) // a replica remembers the last 100 blocks
}

func TestAReplicaThatIsKilledLosesNothing(t *testing.T) {
	t.Parallel()
	servers := startCluster(t)
	made(t, clusterStore(t, servers[0]))
	through := []Store{clusterStore(t, servers[0]), clusterStore(t, servers[2])}
	const batches, rows = 60, 200
	for b := range batches {
		if b == batches/3 {
			servers[3].kill()
		}
		if b == 2*batches/3 {
			servers[3].start(t)
		}
		var list []Point
		for n := range rows {
			at := monday.Add(time.Duration(b) * time.Minute)
			list = append(list, Point{Tenant: "t", Service: fmt.Sprint("service-", n%20), Process: hashOf(fmt.Sprint(n)), At: at, Resident: sample.Some(uint64(n)),
				Written: at})
		}
		text := Encode(nil, list...)
		for try, taken := 0, 0; taken < 2; try++ { // each twice: the first answer is lost
			if err := through[b%2].Put(t.Context(), Points, text); err == nil {
				taken++
			} else if try > 600 {
				t.Fatal(err)
			} else {
				time.Sleep(50 * time.Millisecond) // as the spool does
			}
		}
	}
	for i, s := range []Store{through[0], through[1], clusterStore(t, servers[3])} {
		var got []count
		for begun := time.Now(); ; {
			var err error
			got, err = ask[count](t.Context(), s, "SELECT CAST(count(*) AS UInt64) FROM {point} WHERE tenant = {tenant:String}", map[string]any{"tenant": "t"})
			if err == nil && got[0].N == batches*rows || time.Since(begun) > time.Minute {
				break
			}
			time.Sleep(100 * time.Millisecond) // until the replica has caught up
		}
		if len(got) != 1 || got[0].N != batches*rows {
			t.Errorf("by server %d: %v rows, want %d", i, got, batches*rows)
		}
	}
}
