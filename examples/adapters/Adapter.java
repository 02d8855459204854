import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import com.alibaba.fastjson.parser.Feature;
import com.alibaba.fastjson.serializer.SerializerFeature;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.*;
import org.apache.rocketmq.common.message.MessageQueue;

/** An adapter in Java: strategies of the official client, answered as JSON lines (docs/adapters.md). */
public class Adapter {
    static final Map<String, AllocateMessageQueueStrategy> FUNCTIONS = Map.of(
        "AVG", new AllocateMessageQueueAveragely(), "AVG_BY_CIRCLE", new AllocateMessageQueueAveragelyByCircle(),
        "CONSISTENT_HASH", new AllocateMessageQueueConsistentHash());

    static JSONObject answer(String function, JSONObject a) {
        try {
            JSONArray rows = a.getJSONArray("mqAll"), ids = a.getJSONArray("cidAll");
            List<MessageQueue> all = rows == null ? null : rows.stream().map(JSONArray.class::cast)
                .map(row -> new MessageQueue(row.getString(0), row.getString(1), row.getIntValue(2))).collect(Collectors.toList());
            List<MessageQueue> own = FUNCTIONS.get(function).allocate(
                a.getString("group"), a.getString("cid"), all, ids == null ? null : ids.toJavaList(String.class));
            return new JSONObject().fluentPut("r", own == null ? null : own.stream()
                .map(queue -> Arrays.asList(queue.getTopic(), queue.getBrokerName(), queue.getQueueId())).collect(Collectors.toList()));
        } catch (Exception error) {
            return new JSONObject().fluentPut("e", error.getClass().getName()).fluentPut("m", error.getMessage());
        }
    }

    static JSONObject reply(JSONObject asked) {
        if (asked.getString("do").equals("hello")) {
            return new JSONObject().fluentPut("protocol", 1).fluentPut("name", "RocketMQ 4.9.3")
                .fluentPut("functions", FUNCTIONS.keySet()).fluentPut("batch", true);
        }
        return new JSONObject().fluentPut("answers", asked.getJSONArray("calls").stream()
            .map(a -> answer(asked.getString("function"), (JSONObject) a)).collect(Collectors.toList()));
    }

    public static void main(String[] words) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JSONObject asked = (JSONObject) JSONObject.parse(line, Feature.DisableCircularReferenceDetect);
            JSONObject said = reply(asked).fluentPut("id", asked.getIntValue("id"));
            System.out.write((said.toString(SerializerFeature.WriteMapNullValue,
                SerializerFeature.DisableCircularReferenceDetect) + "\n").getBytes(StandardCharsets.UTF_8));
            System.out.flush();
        }
    }
}
