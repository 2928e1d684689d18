import { assert, describe, it } from "@effect/vitest"
import type { Limits } from "../src/nemesis/Checker.js"
import * as Checker from "../src/nemesis/Checker.js"
import * as Owners from "../src/nemesis/checks/Owners.js"
import type { Entry, History, Outcome } from "../src/nemesis/History.js"

const LIMITS: Limits = { ...Checker.LIMITS, minResults: 0, minFaults: 0 }

const broken = (history: History) =>
  Checker.check([canary(true), ...history], LIMITS).map(({ message, promise }) => [promise, message] as const)

const client = "ada"
const session = "s"
const stream = "1"
const node = "one"

const called = (call: string, at = 1): Entry => ({ _tag: "Called", at, client, call, session })
const ended = (call: string, outcome: Outcome, at = 3): Entry => ({ _tag: "Ended", at, client, call, session, outcome })
const result = (echo: string, served = client): Outcome => ({ type: "result", echo, served, node })
const canary = (isAnswered: boolean, at = 0): Entry => ({
  ...{ _tag: "Canary", at, client: "c", call: "c/1" },
  outcome: isAnswered ? result("c/1", "c") : undefined
})
const started = (call: string, at = 2): Entry => ({ _tag: "Started", at, node, call })
const received = (position: number, at = position): Entry => ({
  _tag: "Received",
  at,
  client,
  session,
  stream,
  position,
  data: `${position}`,
  madeFor: client,
  answers: undefined
})
const followed: Entry = { _tag: "Followed", at: 100, client, session, stream }
const claimed = (epoch: number, at: number, by = node): Entry => ({ _tag: "Claimed", at, node: by, session, epoch })
const written = (position: number, answer: "stored" | "refused" | "unknown" = "stored", epoch = 1, at = 1): Entry => ({
  _tag: "Written",
  begin: at,
  at: at + 0.5,
  node,
  session,
  epoch,
  event: { stream, position, data: `${position}` },
  answer
})

describe("the checker of histories", () => {
  it("accepts a history in which everything is kept", () => {
    assert.deepStrictEqual(
      broken([
        called("a"),
        started("a"),
        claimed(1, 0),
        written(1),
        received(1),
        written(2),
        received(2),
        followed,
        ended("a", result("a"))
      ]),
      []
    )
  })

  it("finds a call that has not ended, and one that has ended twice", () => {
    assert.deepStrictEqual(
      broken([called("a"), called("b"), ended("b", result("b")), ended("b", { type: "broken" })]),
      [
        ["every call ends once", "a of ada has ended 0 times"],
        ["every call ends once", "b of ada has ended 2 times"]
      ]
    )
  })

  it("finds a result of another call or of another client, and an event of another client", () => {
    assert.deepStrictEqual(
      broken([
        called("a"),
        ended("a", result("b")),
        called("b"),
        ended("b", result("b", "bob")),
        { ...received(9), madeFor: "bob" } as Entry,
        { _tag: "Seen", at: 10, client, data: "bob's", madeFor: "bob" },
        { _tag: "Seen", at: 10, client, data: "own", madeFor: client },
        { ...canary(true), outcome: result("c/1", "bob") } as Entry
      ]).map(([promise]) => promise),
      Array.from({ length: 5 }, () => "an answer belongs to its client")
    )
  })

  it("finds a message that comes twice with two ids, and two answers to one request", () => {
    const notified = (position: number, own: string): Entry =>
      ({ ...received(position), stream: own, data: "for ada" }) as Entry
    const answered = (position: number, data: string): Entry => ({ ...received(position), answers: 7, data }) as Entry
    assert.deepStrictEqual(
      broken([
        notified(1, stream),
        notified(2, stream),
        notified(3, "g"),
        answered(4, "the result"),
        answered(5, "an error")
      ]).map(([, message]) => message),
      [
        "ada has received in event 2 of stream 1 what was in event 1 of stream 1: for ada",
        "ada has received in event 3 of stream g what was in event 1 of stream 1: for ada",
        "ada has received in event 5 of stream 1 what was in event 4 of stream 1: an error"
      ]
    )
    const change = (position: number) => ({ ...notified(position, "g"), madeFor: undefined }) as Entry
    assert.deepStrictEqual(broken([change(1), change(2)]), [])
  })

  it("finds what faults of data must not do: a session that moves, a call that may have run, a request that is let in", () => {
    const fault = (kind: string, at: number): Entry => ({ _tag: "Fault", at, kind, node: undefined })
    // As many as a machine answers that keeps pace.
    const pace = Array.from({ length: 1000 }, (_, n) => canary(true, n * 40))
    const lost: Outcome = { type: "error", code: -32000 }
    assert.deepStrictEqual(
      broken([...pace, fault("bulk uploads", 10_000), claimed(2, 12_000)]).map(([promise]) => promise),
      [
        "no node loses its sessions because of what is sent or stored"
      ]
    )
    assert.deepStrictEqual(broken([...pace, fault("kill", 9000), fault("flood", 10_000), claimed(2, 12_000)]), [])
    assert.deepStrictEqual(broken([fault("flood", 10_000), claimed(2, 12_000)]), [])
    const full = [...pace, fault("full store", 10_000), called("a", 11_000), ended("a", lost, 12_000)]
    assert.deepStrictEqual(broken(full).map(([promise]) => promise), ["a call that never ran is refused"])
    for (const excuse of [started("a", 11_500), claimed(2, 13_000), fault("cut", 11_100)]) {
      assert.isFalse(broken([...full, excuse]).some(([promise]) => promise === "a call that never ran is refused"))
    }
    assert.deepStrictEqual(
      broken([{ _tag: "Flooded", at: 1, status: 401 }, { _tag: "Flooded", at: 2, status: 503 }]).map(([, message]) =>
        message
      ),
      ["a request with a wrong token was answered with 503"]
    )
  })

  it("finds a node that has lost a session and tells a client only that the connection was closed", () => {
    const closing: Outcome = { type: "error", code: -32000, message: "Connection closed" }
    const other: Outcome = { type: "error", code: -32000, message: "The node that served this request has ended" }
    const woken = [claimed(1, 0), called("a", 9000), started("a", 9001), claimed(2, 12_000, "two")]
    const promises = (history: History) => broken(history).map(([promise]) => promise)
    assert.deepStrictEqual(promises([...woken, ended("a", closing, 13_000)]), [
      "a node that has lost a session says so"
    ])
    assert.deepStrictEqual(promises([...woken, ended("a", other, 13_000)]), [])
    const drained: Entry = { _tag: "Fault", at: 8000, kind: "drain", node }
    assert.deepStrictEqual(promises([drained, ...woken, ended("a", closing, 13_000)]), [])
    assert.deepStrictEqual(promises([called("a"), started("a"), ended("a", closing)]), [])
  })

  it("finds a standalone stream of which nothing has reached its client", () => {
    const lost: Entry = { ...written(1), event: { stream: "g", position: 1, data: "1" } } as Entry
    assert.deepStrictEqual(broken([lost]).map(([, message]) => message), [
      "no event of stream s g has reached its client, and 1 were stored"
    ])
    assert.deepStrictEqual(broken([lost, { _tag: "Unread", at: 0, session }]), [])
    assert.deepStrictEqual(
      broken([lost, { ...received(1), stream: "g" } as Entry, { ...followed, stream: "g" } as Entry]),
      []
    )
  })

  it("finds a handler that has run twice, and one that has run although its call was refused", () => {
    assert.deepStrictEqual(
      broken([
        called("a"),
        started("a"),
        { _tag: "Started", at: 4, node: "two", call: "a" },
        ended("a", result("a")),
        called("b"),
        started("b"),
        ended("b", { type: "refused", status: 503 })
      ]),
      [
        ["a handler runs once", "a has run at one and two"],
        ["a handler runs once", "b has run at one, and was refused with 503"]
      ]
    )
  })

  it("accepts a call that was refused and has not run", () => {
    assert.deepStrictEqual(broken([called("b"), ended("b", { type: "refused", status: 503 })]), [])
  })

  it("finds a session that no node knows any more", () => {
    assert.deepStrictEqual(broken([called("a"), ended("a", { type: "refused", status: 404 })]), [
      ["a session goes on at another node", "a of session s was refused with 404"]
    ])
  })

  it("finds a stored event that has not reached a client that followed its stream, or with another content", () => {
    assert.deepStrictEqual(
      broken([written(1), written(2), { ...received(2), data: "other" } as Entry, followed]).map(([, message]) =>
        message
      ),
      [
        "event 1 of stream s 1, stored by one, has not reached its client: 1",
        "event 2 of stream s 1, stored by one, has reached its client with another content: 2"
      ]
    )
  })

  it("does not expect an event that was not stored, nor one of a stream that its client has left", () => {
    assert.deepStrictEqual(broken([written(1, "unknown"), written(2, "refused"), followed]), [])
    assert.deepStrictEqual(broken([written(1)]), [])
  })

  it("finds an event that comes twice or too late", () => {
    assert.deepStrictEqual(broken([received(2, 1), received(2, 2), received(1, 3)]).map(([, message]) => message), [
      "ada has received event 2 of stream s 1 twice",
      "ada has received event 1 of stream s 1 after 2"
    ])
  })

  it("finds a stream that cannot be resumed although all its events were stored", () => {
    const refusal: Entry = { _tag: "Unresumable", at: 5, client, session, stream, position: 1, status: 400 }
    assert.strictEqual(broken([written(1), refusal]).length, 1)
    assert.deepStrictEqual(broken([written(1, "unknown"), refusal]), [])
    assert.strictEqual(broken([written(1), refusal, written(2, "unknown", 1, 6)]).length, 1)
    const unanswered: Entry = { _tag: "Unanswered", at: 1, node, session, stream }
    assert.deepStrictEqual(broken([written(1), unanswered, refusal]), [])
    assert.strictEqual(broken([written(1), { ...unanswered, stream: "other" }, refusal]).length, 1)
  })

  it("finds the id of an event that the store has refused", () => {
    assert.deepStrictEqual(broken([written(1), written(2, "refused"), received(1, 1), received(2, 2)]), [
      [
        "acknowledged events arrive once and in order",
        "ada has received the id of event 2 of stream s 1, which the store has refused"
      ]
    ])
  })

  it("accepts the id of an event that was written again and refused then", () => {
    assert.deepStrictEqual(broken([written(1, "unknown"), written(1, "refused"), received(1)]), [])
    assert.deepStrictEqual(broken([written(1, "stored"), written(1, "refused"), received(1)]), [])
  })

  it("finds two events that have the same id", () => {
    const other: Entry = { ...written(1), event: { stream, position: 1, data: "other" } } as Entry
    assert.deepStrictEqual(broken([written(1), written(1), other]).map(([, message]) => message), [
      "event 1 of stream s 1, written by one, was written by one with another content"
    ])
  })

  it("finds a write of a former owner that was stored, and accepts one that was refused or that came before", () => {
    const history = [claimed(1, 0), written(1), claimed(2, 5, "two"), written(2, "refused", 1, 6)]
    assert.deepStrictEqual(broken(history), [])
    assert.strictEqual(Owners.stale(history).length, 1)
    assert.deepStrictEqual(broken([...history, written(3, "stored", 1, 7)]).map(([promise]) => promise), [
      "the writes of a former owner are refused"
    ])
  })

  it("finds two owners of one epoch", () => {
    assert.deepStrictEqual(broken([claimed(2, 1), claimed(2, 2, "two")]), [
      ["the writes of a former owner are refused", "epoch 2 of session s was claimed by one and two"]
    ])
  })

  it("finds a takeover that took too long, or that has not happened", () => {
    const killed: Entry = { _tag: "Fault", at: 10, kind: "kill", node }
    const before = [claimed(1, 0), killed, called("a", 11), claimed(2, 3000, "two")]
    const answer = (at: number) => ended("a", { type: "result", echo: "a", served: client, node: "two" }, at)
    assert.deepStrictEqual(broken([...before, answer(4000)]), [])
    const canaries = (count: number) =>
      Array.from({ length: count }, (_, n) => canary(true, 10 + 6000 * (n + 1) / count))
    assert.deepStrictEqual(broken([...before, ...canaries(140), answer(6000)]), [
      ["another node takes over in time", "session s was without an answer for 5990 ms after its node was killed"]
    ])
    assert.deepStrictEqual(broken([...before, ended("a", { type: "error", code: -32000 }, 12)]), [
      ["another node takes over in time", "no node has answered clients of session s after its node was killed"]
    ])
  })

  it("gives a takeover more time where the canaries had to wait, and never more than three times as much", () => {
    const killed: Entry = { _tag: "Fault", at: 10, kind: "kill", node }
    const before = [claimed(1, 0), killed, called("a", 11), claimed(2, 3000, "two")]
    const answer = (at: number) => ended("a", { type: "result", echo: "a", served: client, node: "two" }, at)
    const canaries = Array.from({ length: 60 }, (_, n) => canary(true, 100 * n))
    assert.deepStrictEqual(broken([...before, ...canaries, answer(6000)]), [])
    assert.deepStrictEqual(broken([...before, answer(16_000)]), [
      ["another node takes over in time", "session s was without an answer for 15990 ms after its node was killed"]
    ])
  })

  it("finds a change that a listener has not heard", () => {
    const listener = "l"
    const end: Entry = canary(true, 100_000)
    const published = { _tag: "Published", begin: 9000, at: 9001, node, uri: "u", isAcknowledged: true } as const
    const before: History = [{ _tag: "Listening", at: 1, listener }, published, end]
    assert.deepStrictEqual(broken(before), [
      ["changes reach every listener", "l has not heard that u has changed at one"]
    ])
    assert.deepStrictEqual(broken([...before, { _tag: "Heard", at: 5000, listener, uri: "u" }]), [])
    assert.deepStrictEqual(broken([...before, { _tag: "Deaf", at: 12_000, listener }]), [])
    // It may have begun to listen when the node had notified its own clients already.
    assert.deepStrictEqual(broken([{ _tag: "Listening", at: 5000, listener }, published, end]), [])
    assert.deepStrictEqual(broken([before[0]!, { ...published, isAcknowledged: false }, end]), [])
  })

  it("gives a change more time where the canaries had to wait, and never more than three times as much", () => {
    const listener = "l"
    const published = { _tag: "Published", begin: 9000, at: 9001, node, uri: "u", isAcknowledged: true } as const
    const canaries = (count: number) =>
      Array.from({ length: count }, (_, n) => canary(true, 9001 + 12_000 * (n + 1) / count))
    const before: History = [{ _tag: "Listening", at: 1, listener }, published, canary(true, 100_000)]
    const heard = (at: number): Entry => ({ _tag: "Heard", at, listener, uri: "u" })
    const late: ReturnType<typeof broken> = [
      ["changes reach every listener", "l has not heard that u has changed at one"]
    ]
    assert.deepStrictEqual(broken([...before, ...canaries(288), heard(25_000)]), late)
    assert.deepStrictEqual(broken([...before, ...canaries(144), heard(25_000)]), [])
    assert.deepStrictEqual(broken([...before, ...canaries(10), heard(50_000)]), late)
    // A listener whose stream ends reads everything again.
    assert.deepStrictEqual(broken([...before, ...canaries(144), { _tag: "Deaf", at: 30_000, listener }]), [])
  })

  it("finds a node that has ended by itself, and accepts one that was killed or shut down", () => {
    const exited = (code: number | null, signal: string | null = null): Entry => ({
      _tag: "Exited",
      at: 1,
      node,
      code,
      signal
    })
    const killed: Entry = { _tag: "Fault", at: 1, kind: "kill", node }
    assert.deepStrictEqual(broken([exited(0), exited(null, "SIGKILL"), killed]), [])
    assert.deepStrictEqual(broken([exited(1), exited(null, "SIGABRT"), killed]).map(([, message]) => message), [
      "one has ended with exit code 1",
      "one has ended with SIGABRT"
    ])
    // As Linux does that has no memory left.
    assert.strictEqual(broken([exited(null, "SIGKILL"), { ...killed, node: "two" } as Entry]).length, 1)
  })

  it("finds canaries without an answer when they are more than one in a hundred", () => {
    const canaries = (failed: number) => Array.from({ length: 200 }, (_, n) => canary(n >= failed, n))
    assert.deepStrictEqual(broken(canaries(2)), [])
    assert.deepStrictEqual(broken(canaries(3)), [
      ["a client that no fault concerns is served", "1.49 % of the canaries had no answer"]
    ])
    // On a slow machine there are fewer canaries, and each fault costs as many of them.
    const faults = Array.from({ length: 10 }, (): Entry => ({ _tag: "Fault", at: 1, kind: "stop", node }))
    assert.deepStrictEqual(broken([...canaries(3), ...faults]), [])
    assert.strictEqual(broken([...canaries(4), ...faults]).length, 1)
  })

  it("accepts more canaries without an answer where all took long, and never more than three in a hundred", () => {
    const canaries = (failed: number, pause: number) =>
      Array.from({ length: 200 }, (_, n) => canary(n >= failed, n * pause))
    assert.strictEqual(broken(canaries(5, 40)).length, 1)
    assert.deepStrictEqual(broken(canaries(5, 120)), [])
    assert.strictEqual(broken(canaries(7, 1000)).length, 1)
  })

  it("does not accept a run in which nothing has happened", () => {
    const limits = { ...LIMITS, minResults: 1 }
    const found = Checker.check([canary(true), claimed(1, 0), ended("a", result("a"))], limits)
    const missing = ["Followed", "Heard", "Published", "Received", "Started", "Written"]
    assert.deepStrictEqual(
      found.map(({ message }) => message),
      [
        ...missing.map((tag) => `nothing is written down as "${tag}"`),
        "no client has listened for long enough",
        "no former owner of a session has written"
      ]
    )
    const killed: Entry = { _tag: "Fault", at: 10, kind: "kill", node }
    assert.include(
      Checker.check([canary(true), killed], limits).map(({ message }) => message),
      "no session had a client that waited for its killed node"
    )
    assert.isTrue(Checker.check([canary(true)]).every(({ promise }) => promise === "the run has tested something"))
    assert.isNotEmpty(Checker.check([canary(true)]))
  })
})
