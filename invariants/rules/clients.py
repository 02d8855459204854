"""Rules of what a client process does by itself: when its timers run, and which name server it asks."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from impl import events
from impl.decisions.names import AUTO_CREATE_TOPIC_KEY_TOPIC
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, Excuse
from invariants.rules.match import Match, machine_of
from invariants.rules.ownership import UNSUBSCRIBED
from invariants.rules.rule import Kept, Rule, Told, on

_ROUTES = "updateTopicRouteInfoFromNameServer"
_PERIODS_MS = {_ROUTES: deadlines.ROUTE_MS,
               "sendHeartbeatToAllBroker": deadlines.HEARTBEAT_MS, "persistAllConsumerOffset": deadlines.PERSIST_MS}


class timers_do_not_wait_for_each_other(Rule):
    """A periodic job of a client begins when it is due, whatever its other jobs wait for.

    A job that is still at work when it is due again begins when it has ended.
    """

    shipped = "violated: U17 one thread runs them all"
    cite = "MQClientInstance#startScheduledTask, scheduledExecutorService"
    about = "at client_id job"
    excuses = (Excuse("the process stood still when it was due", by=events.ProcessPaused),)

    # When a job began last, and when it ended.
    begun_ms = Kept(about, ends=(events.ConsumerShutDown,), begins=(events.TimerJobBegan,))
    ended_ms = Kept(about, begins=(events.TimerJobEnded,))

    @on(events.TimerJobBegan)
    def begins(self, ms: int, at: str, event: events.TimerJobBegan) -> Iterator[Told]:
        key = at, event.client_id, event.job
        due_ms = max(self.begun_ms.get(key, ms) + event.period_ms, self.ended_ms.get(key, ms))
        if ms - due_ms > deadlines.soon(self.bounds):
            yield self.told(f"{at} begins {event.job} {ms - due_ms} ms late", *key, since_ms=due_ms)


class timers_have_their_periods(Rule):
    """A client asks for routes, beats and sends its offsets as often as RocketMQ does.

    A user may say how often; those of worlds do not.
    """

    cite = "ClientConfig: pollNameServerInterval, heartbeatBrokerInterval, persistConsumerOffsetInterval"
    about = "at client_id job"

    @on(events.TimerJobBegan)
    def begins(self, _: int, at: str, event: events.TimerJobBegan) -> Iterator[Told]:
        period_ms = _PERIODS_MS.get(event.job, event.period_ms)
        if event.period_ms != period_ms:
            yield self.told(f"{at} begins {event.job} every {event.period_ms} ms, and is to do so every {period_ms} ms",
                            at, event.client_id, event.job)


class route_of_each_topic_is_polled(Rule):
    """A client asks every 30 s for the route of each topic that a consumer of its shares out or a producer sends to.

    And for that of the default topic, by which it learns of all brokers that make topics. Where nothing fails: a name
    server that cannot be reached ends the round of its timer.
    """

    cite = "MQClientInstance#updateTopicRouteInfoFromNameServer, DefaultMQProducerImpl#getPublishTopicList"
    about = "at client_id group topic"
    calm = True
    excuses = (Excuse("it looked for a name server", by=Match(events.NameServerChosen, of="at")),)

    # Since when a client has a topic; when it asked for its route last, and when its last round began.
    has_ms = Kept(about, ends=(events.ConsumerStopping, events.ProducerShutDown, UNSUBSCRIBED))
    asked_ms = Kept("client topic", machine="client", begins=(
        Match(events.RouteAnswered, events.RouteDenied, of="client=connection.machine topic"),))
    begun_ms = Kept("at client_id")

    @on(events.ConsumerIdsFetched)
    def shares_out(self, ms: int, at: str, event: events.ConsumerIdsFetched) -> None:
        self.has_ms.setdefault((at, *event[:3]), ms)

    @on(events.SendAttempted)
    def sends(self, ms: int, at: str, event: events.SendAttempted) -> None:
        if event.listed:
            self.has_ms.setdefault((at, *event[:2], event.mq.topic), ms)

    @on(events.TimerJobBegan)
    def begins(self, ms: int, at: str, event: events.TimerJobBegan) -> Iterator[Told]:
        if event.job != _ROUTES:
            return
        self.has_ms.setdefault((at, event.client_id, "", AUTO_CREATE_TOPIC_KEY_TOPIC), ms)
        before_ms, self.begun_ms[at, event.client_id] = self.begun_ms.get((at, event.client_id), 0), ms
        for key, has_ms in self.has_ms.items():
            asked_ms = self.asked_ms.get((at, key[3]), 0)
            if key[:2] == (at, event.client_id) and max(has_ms, asked_ms) < before_ms:
                yield self.told(f"{at} has not asked for the route of {key[3]} for {ms - asked_ms} ms", *key,
                                since_ms=before_ms)


class default_topic_is_asked_about_last(Rule):
    """A client asks for the route of the default topic when a name server has denied it that of another one.

    Each client polls the default topic as well, with all others. Where nothing fails.
    """

    cite = "DefaultMQProducerImpl#tryToFindTopicPublishInfo"
    about = "client"
    calm = True

    clients = Kept("at", begins=(events.TimerJobBegan,))
    polling = Kept("at client_id", ends=(Match(events.TimerJobEnded, having=lambda one: one.job == _ROUTES),),
                   begins=(Match(events.TimerJobBegan, having=lambda one: one.job == _ROUTES),))
    # When a client has shut down last: that ends a round whose last question is on its way.
    shut_down_ms = Kept("at", begins=(events.ProducerShutDown, events.ConsumerShutDown, events.PollerShutDown))
    denied_ms = Kept("client", machine="client", begins=(
        Match(events.RouteDenied, of="client=connection.machine",
              having=lambda one: one.topic != AUTO_CREATE_TOPIC_KEY_TOPIC),))

    @on(events.RouteAnswered, events.RouteDenied)
    def asks(self, ms: int, _: str, event: events.RouteAnswered | events.RouteDenied) -> Iterator[Told]:
        client = machine_of(event.connection)
        lately_ms = ms - deadlines.soon(self.bounds)
        if (event.topic == AUTO_CREATE_TOPIC_KEY_TOPIC and (client,) in self.clients
                and client not in {at for at, _ in self.polling}
                and max(self.denied_ms.get((client,), -inf), self.shut_down_ms.get((client,), -inf)) < lately_ms):
            yield self.told(f"{client} asks for the route of {event.topic}, and no name server has just denied it "
                            "another one", client)


class name_server_is_chosen_from_the_list(Rule):
    """A client chooses the name server that it asks from the list of name servers that it has then."""

    shipped = "violated: R-2 it goes through the list that it had when it began to connect"
    cite = "NettyRemotingClient#getAndCreateNameserverChannel, #updateNameServerAddressList"
    about = "at addr"

    @on(events.NameServerChosen)
    def chosen(self, _: int, at: str, event: events.NameServerChosen) -> Iterator[Told]:
        if event.addr not in event.listed:
            yield self.told(f"{at} asks {event.addr} from now on, which is not in its list", at, event.addr)


class name_server_that_was_reached_is_asked(Rule):
    """A client that has waited in vain for one name server, and has come to another, asks that one from then on.

    It leaves it if that has ended, or does not answer a call in its time.
    """

    shipped = "violated: R-3 the call that has waited closes the connection that it has made"
    cite = "NettyRemotingClient#getAndCreateNameserverChannel, #invokeSync"
    about = "at client other"
    excuses = (
        Excuse("the other one has only just started, or ends",
               by=Match(events.ProcessStarted, events.ProcessKilled, of="other=at")),
        Excuse("it could not connect", by=Match(events.ConnectionRefused, of="at other=server")),
        *(Excuse(f"the connection broke at the {end} end", by=Match(events.ConnectionSevered, of=of))
          for end, of in (("client's", "at other"), ("server's", "other=at at=other"))),
        Excuse("it has another list of name servers", by=Match(events.NameServersReplaced, of="at")),
        Excuse("it shuts down", lasts=FOR_EVER,
               by=Match(events.ConsumerStopping, events.ProducerShutDown, events.PollerStopping, of="at"),
               until=Match(events.ConsumerStarted, events.ProducerStarted, events.ProcessStarted, of="at")),
        Excuse("a consumer of its process has shut down shortly before, and what its client had begun goes on",
               by=Match(events.ConsumerShutDown, of="at"), lasts=deadlines.told_at_once),
    )

    # Whom each client has chosen last, when, and whether it had waited in vain for another one until then.
    chosen = Kept("at client")

    @on(events.NameServerChosen)
    def chooses(self, ms: int, at: str, event: events.NameServerChosen) -> Iterator[Told]:
        key, other = (at, event.client), machine_of(event.addr)
        before, since_ms, has_waited = self.chosen.get(key, (other, ms, False))
        took_ms = ms - since_ms
        self.chosen[key] = other, ms, before != other and 0 <= took_ms - deadlines.CONNECT_MS <= deadlines.SOON_MS
        if has_waited and before != other and took_ms < deadlines.SOON_MS and before in self.views.namesrvs():
            yield self.told(f"{at} has come to {before} after it had waited for another one, and asks {other} "
                            f"{took_ms} ms later", at, event.client, before, since_ms=since_ms)
