"""Classes that go over the wire as JSON: bodies of requests and answers, and the header of a frame."""

from __future__ import annotations

from impl.common.fastjson.beans import bean, empty_list, empty_map, empty_table, enum, now

enum("org.apache.rocketmq.common.protocol.heartbeat.ConsumeType", "CONSUME_ACTIVELY CONSUME_PASSIVELY")
enum("org.apache.rocketmq.common.protocol.heartbeat.MessageModel", "BROADCASTING CLUSTERING")
enum("org.apache.rocketmq.common.consumer.ConsumeFromWhere",
     "CONSUME_FROM_LAST_OFFSET CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST CONSUME_FROM_MIN_OFFSET "
     "CONSUME_FROM_MAX_OFFSET CONSUME_FROM_FIRST_OFFSET CONSUME_FROM_TIMESTAMP")
enum("org.apache.rocketmq.common.TopicFilterType", "SINGLE_TAG MULTI_TAG")
enum("org.apache.rocketmq.common.protocol.body.CMResult",
     "CR_SUCCESS CR_LATER CR_ROLLBACK CR_COMMIT CR_THROW_EXCEPTION CR_RETURN_NULL")
enum("org.apache.rocketmq.remoting.protocol.LanguageCode",
     "JAVA CPP DOTNET PYTHON DELPHI ERLANG RUBY OTHER HTTP GO PHP OMS")
enum("org.apache.rocketmq.remoting.protocol.SerializeType", "JSON ROCKETMQ")

bean("remoting.protocol.RemotingCommand",
     "code:int language:LanguageCode version:int opaque:int flag:int remark:String extFields:HashMap<String,String> "
     "serializeTypeCurrentRPC:SerializeType body:byte[]",
     unwritten=("body",), language="JAVA", opaque=None, serializeTypeCurrentRPC="JSON")

DATA_VERSION = bean("common.DataVersion", "timestamp:long counter:AtomicLong", timestamp=now, counter=0)
bean("common.message.MessageQueue", "topic:String brokerName:String queueId:int",
     compared=("topic", "brokerName", "queueId"))
bean("common.message.MessageQueueForC", "topic:String brokerName:String queueId:int offset:long")
bean("common.TopicConfig",
     "topicName:String readQueueNums:int writeQueueNums:int perm:int topicFilterType:TopicFilterType topicSysFlag:int "
     "order:boolean", readQueueNums=16, writeQueueNums=16, perm=6, topicFilterType="SINGLE_TAG")
bean("common.subscription.SubscriptionGroupConfig",
     "groupName:String consumeEnable:boolean consumeFromMinEnable:boolean consumeBroadcastEnable:boolean "
     "retryQueueNums:int retryMaxTimes:int brokerId:long whichBrokerWhenConsumeSlowly:long "
     "notifyConsumerIdsChangedEnable:boolean",
     consumeEnable=True, consumeFromMinEnable=True, consumeBroadcastEnable=True, retryQueueNums=1, retryMaxTimes=16,
     whichBrokerWhenConsumeSlowly=1, notifyConsumerIdsChangedEnable=True)

# Heartbeats
bean("common.protocol.heartbeat.ProducerData", "groupName:String")
bean("common.protocol.heartbeat.SubscriptionData",
     "classFilterMode:boolean topic:String subString:String tagsSet:Set<String> codeSet:Set<Integer> subVersion:long "
     "expressionType:String filterClassSource:String",
     unwritten=("filterClassSource",),
     compared=("classFilterMode", "topic", "subString", "tagsSet", "codeSet", "subVersion", "expressionType"),
     tagsSet=empty_list, codeSet=empty_list, subVersion=now, expressionType="TAG")
bean("common.protocol.heartbeat.ConsumerData",
     "groupName:String consumeType:ConsumeType messageModel:MessageModel consumeFromWhere:ConsumeFromWhere "
     "subscriptionDataSet:Set<SubscriptionData> unitMode:boolean", subscriptionDataSet=empty_list)
bean("common.protocol.heartbeat.HeartbeatData",
     "clientID:String producerDataSet:Set<ProducerData> consumerDataSet:Set<ConsumerData>",
     producerDataSet=empty_list, consumerDataSet=empty_list)
bean("common.protocol.body.CheckClientRequestBody", "clientId:String group:String subscriptionData:SubscriptionData")

# Routes
bean("common.protocol.route.QueueData",
     "brokerName:String readQueueNums:int writeQueueNums:int perm:int topicSysFlag:int")
bean("common.protocol.route.BrokerData", "cluster:String brokerName:String brokerAddrs:HashMap<Long,String>")
bean("common.protocol.route.TopicRouteData",
     "orderTopicConf:String queueDatas:List<QueueData> brokerDatas:List<BrokerData> "
     "filterServerTable:HashMap<String,List<String>>")
bean("common.protocol.body.ClusterInfo",
     "brokerAddrTable:HashMap<String,BrokerData> clusterAddrTable:HashMap<String,Set<String>>")
WRAPPER = bean("common.protocol.body.TopicConfigSerializeWrapper",
     "topicConfigTable:ConcurrentMap<String,TopicConfig> dataVersion:DataVersion",
     topicConfigTable=empty_table, dataVersion=DATA_VERSION.new)
bean("common.protocol.body.RegisterBrokerBody",
     "topicConfigSerializeWrapper:TopicConfigSerializeWrapper filterServerList:List<String>",
     topicConfigSerializeWrapper=WRAPPER.new, filterServerList=empty_list)
bean("common.protocol.body.KVTable", "table:HashMap<String,String>", table=empty_map)
bean("common.protocol.body.TopicList", "topicList:Set<String> brokerAddr:String", topicList=empty_list)
bean("common.protocol.body.GroupList", "groupList:HashSet<String>", groupList=empty_list)

# Groups, locks, offsets
bean("common.protocol.body.LockBatchRequestBody",
     "consumerGroup:String clientId:String mqSet:Set<MessageQueue>", mqSet=empty_list)
bean("common.protocol.body.UnlockBatchRequestBody",
     "consumerGroup:String clientId:String mqSet:Set<MessageQueue>", mqSet=empty_list)
bean("common.protocol.body.LockBatchResponseBody", "lockOKMQSet:Set<MessageQueue>", lockOKMQSet=empty_list)
bean("common.protocol.header.GetConsumerListByGroupResponseBody", "consumerIdList:List<String>")
bean("common.protocol.body.Connection", "clientId:String clientAddr:String language:LanguageCode version:int")
bean("common.protocol.body.ConsumerConnection",
     "connectionSet:HashSet<Connection> subscriptionTable:ConcurrentMap<String,SubscriptionData> "
     "consumeType:ConsumeType messageModel:MessageModel consumeFromWhere:ConsumeFromWhere",
     connectionSet=empty_list, subscriptionTable=empty_table)
bean("common.protocol.body.ProducerConnection", "connectionSet:HashSet<Connection>", connectionSet=empty_list)
bean("common.protocol.body.ResetOffsetBody", "offsetTable:Map<MessageQueue,Long>")
bean("common.protocol.body.ResetOffsetBodyForC", "offsetTable:List<MessageQueueForC>")
bean("common.protocol.body.GetConsumerStatusBody",
     "messageQueueTable:Map<MessageQueue,Long> consumerTable:Map<String,Map<MessageQueue,Long>>",
     messageQueueTable=empty_map, consumerTable=empty_map)
bean("common.protocol.body.ConsumerOffsetSerializeWrapper",
     "offsetTable:ConcurrentMap<String,ConcurrentMap<Integer,Long>>", offsetTable=empty_table)
bean("common.protocol.body.SubscriptionGroupWrapper",
     "subscriptionGroupTable:ConcurrentMap<String,SubscriptionGroupConfig> dataVersion:DataVersion",
     subscriptionGroupTable=empty_table, dataVersion=DATA_VERSION.new)
bean("common.protocol.body.QueryCorrectionOffsetBody", "correctionOffsets:Map<Integer,Long>",
     correctionOffsets=empty_map)
bean("store.schedule.DelayOffsetSerializeWrapper", "offsetTable:ConcurrentMap<Integer,Long>",
     offsetTable=empty_table)

# What operators ask
bean("common.admin.OffsetWrapper", "brokerOffset:long consumerOffset:long lastTimestamp:long")
bean("common.admin.ConsumeStats", "offsetTable:HashMap<MessageQueue,OffsetWrapper> consumeTps:double",
     offsetTable=empty_map)
bean("common.admin.TopicOffset", "minOffset:long maxOffset:long lastUpdateTimestamp:long")
bean("common.admin.TopicStatsTable", "offsetTable:HashMap<MessageQueue,TopicOffset>", offsetTable=empty_map)
bean("common.protocol.topic.OffsetMovedEvent",
     "consumerGroup:String messageQueue:MessageQueue offsetRequest:long offsetNew:long")
bean("common.protocol.body.ConsumeMessageDirectlyResult",
     "order:boolean autoCommit:boolean consumeResult:CMResult remark:String spentTimeMills:long", autoCommit=True)
bean("common.protocol.body.ProcessQueueInfo",
     "commitOffset:long cachedMsgMinOffset:long cachedMsgMaxOffset:long cachedMsgCount:int cachedMsgSizeInMiB:int "
     "transactionMsgMinOffset:long transactionMsgMaxOffset:long transactionMsgCount:int locked:boolean "
     "tryUnlockTimes:long lastLockTimestamp:long droped:boolean lastPullTimestamp:long lastConsumeTimestamp:long")
bean("common.protocol.body.ConsumeQueueData",
     "physicOffset:long physicSize:int tagsCode:long extendDataJson:String bitMap:String eval:boolean msg:String")
bean("common.protocol.body.QueryConsumeQueueResponseBody",
     "subscriptionData:SubscriptionData filterData:String queueData:List<ConsumeQueueData> maxQueueIndex:long "
     "minQueueIndex:long")
