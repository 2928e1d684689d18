/**
 * Checks (laws) that every implementation of `Inbox` must pass.
 *
 * The tests of the inboxes in core, `sql` and `redis` run these laws. A law gets two services over one store without open inboxes, like the
 * services of two nodes.
 *
 * @since 0.1.0
 */
import type { InboxService, Mailbox } from "@effect-mcp/core/Inbox"
import * as StreamArrays from "@effect-mcp/core/unstable/kit/StreamArrays"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Law from "./Law.js"

/**
 * Two services over one store: the same service twice, or the services of two nodes.
 *
 * @category models
 */
export type Inboxes = readonly [InboxService, InboxService]

const receive = ({ received }: Mailbox, count: number) => StreamArrays.collect(Stream.take(received, count))

const ordered = Law.make<Inboxes>(
  "delivers every text one time, unchanged, in the order of its sender",
  (inboxes, expect) =>
    Effect.gen(function*() {
      const one = yield* inboxes[0].open("one")
      const two = yield* inboxes[1].open("two")
      const three = yield* inboxes[0].open("three")
      const texts = [
        "",
        " ",
        "ü \u{1f600} \u2028\r\n\0",
        "x".repeat(1_000_000),
        ...Array.from({ length: 300 }, (_, n) => `${n}`)
      ]
      const reading = yield* Effect.fork(receive(two, 2 * texts.length))
      const sendAll = (mailbox: Mailbox, from: string) =>
        Effect.forEach(texts, (text) => mailbox.send("two", `${from} ${text}`), { discard: true })
      yield* Effect.all([sendAll(one, "one"), sendAll(three, "three")], { concurrency: 2, discard: true })
      const received = yield* Fiber.join(reading)
      for (const from of ["one", "three"]) {
        const own = received.filter((text) => text.startsWith(`${from} `)).map((text) => text.slice(from.length + 1))
        yield* expect(
          own.join("|") === texts.join("|"),
          `the texts of "${from}" came in another order, or not as they were`
        )
      }
    })
)

const early = Law.make<Inboxes>(
  "keeps texts that arrive before the inbox is read",
  (inboxes, expect) =>
    Effect.gen(function*() {
      const one = yield* inboxes[0].open("one")
      const two = yield* inboxes[1].open("two")
      yield* one.send("two", "early")
      yield* two.send("two", "to itself")
      const received = yield* receive(two, 2)
      yield* expect(received.join() === "early,to itself", `it received ${received.join()}`)
    })
)

const gone = Law.make<Inboxes>(
  "fails with Gone for a node that has no open inbox",
  (inboxes, expect) =>
    Effect.gen(function*() {
      const one = yield* inboxes[0].open("one")
      const scope = yield* Scope.make()
      yield* Scope.extend(inboxes[1].open("two"), scope)
      yield* one.send("two", "before")
      yield* Scope.close(scope, Exit.void)
      for (const node of ["two", "never", ""]) {
        const sent = yield* Effect.either(one.send(node, "after"))
        yield* expect(sent._tag === "Left" && sent.left.reason === "Gone", `a text was sent to the node "${node}"`)
      }
    })
)

const full = Law.make<Inboxes>(
  "fails with Full when too many texts wait, and accepts texts again after they were read",
  (inboxes, expect) =>
    Effect.gen(function*() {
      const { send } = yield* inboxes[0].open("one")
      const two = yield* inboxes[1].open("two")
      const three = yield* inboxes[0].open("three")
      yield* send("two", "1234567890")
      yield* send("two", "and one more")
      for (const text of ["", "too much"]) {
        const sent = yield* Effect.either(three.send("two", text))
        yield* expect(sent._tag === "Left" && sent.left.reason === "Full", `the text "${text}" was not refused`)
      }
      yield* send("three", "to another inbox")
      const read = yield* receive(two, 2)
      yield* expect(read.join("|") === "1234567890|and one more", `it received ${read.join("|")}`)
      // An implementation may remove the read texts a little later, so this retries.
      yield* Effect.retry(three.send("two", "later"), { times: 1000 })
    })
)

/**
 * All laws except the laws in `bounded`.
 *
 * @category constants
 */
export const laws: ReadonlyArray<Law.Law<Inboxes>> = [ordered, early, gone]

/**
 * The options that inboxes must have for the laws in `bounded`.
 *
 * @category constants
 */
export const small = { maxSize: 10 } as const

/**
 * The laws of inboxes with the options `small`.
 *
 * @category constants
 */
export const bounded: ReadonlyArray<Law.Law<Inboxes>> = [full]
