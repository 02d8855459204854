// An adapter in Go: the strategies of the official client, answered as JSON lines (docs/adapters.md).
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	c "github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/rlog"
	"os"
)

type arguments struct {
	Group, Cid           string
	MqAll, Config        [][]any
	CidAll, Consumeridcs []string
}

func answer(function string, a arguments) map[string]any {
	given, rows := map[*primitive.MessageQueue][]any{}, [][]any{}
	queues := func(rows [][]any) (all []*primitive.MessageQueue) {
		for _, row := range rows {
			topic, broker := fmt.Sprint(row[0]), fmt.Sprint(row[1]) // null in a few recorded calls
			queue := &primitive.MessageQueue{Topic: topic, BrokerName: broker, QueueId: int(row[2].(float64))}
			given[queue], all = row, append(all, queue)
		}
		return all
	}
	allocate := map[string]c.AllocateStrategy{"AVG": c.AllocateByAveragely, "AVG_BY_CIRCLE": c.AllocateByAveragelyCircle,
		"CONSISTENT_HASH": c.AllocateByConsistentHash(10), "CONFIG": c.AllocateByConfig(queues(a.Config)),
		"MACHINE_ROOM": c.AllocateByMachineRoom(a.Consumeridcs)}[function]
	for _, queue := range allocate(a.Group, a.Cid, queues(a.MqAll), a.CidAll) {
		rows = append(rows, given[queue])
	}
	return map[string]any{"r": rows}
}
func main() {
	rlog.SetLogLevel("fatal") // it would write to standard output
	in, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	for line, err := in.ReadBytes('\n'); err == nil; line, err = in.ReadBytes('\n') {
		var asked struct {
			Do, Function string
			Id           int
			Calls        []arguments
		}
		json.Unmarshal(line, &asked)
		reply := map[string]any{"id": asked.Id, "protocol": 1, "name": "rocketmq-client-go v2.1.2", "batch": true,
			"functions": []string{"AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "CONFIG", "MACHINE_ROOM"}}
		if asked.Do == "batch" {
			answers := []map[string]any{}
			for _, a := range asked.Calls {
				answers = append(answers, answer(asked.Function, a))
			}
			reply = map[string]any{"id": asked.Id, "answers": answers}
		}
		out.Encode(reply)
	}
}
