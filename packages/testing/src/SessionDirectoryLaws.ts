/**
 * Checks (laws) that every implementation of `SessionDirectory` must pass. The tests of the directories in core, `sql` and `redis` run
 * these laws. An application with its own directory can also run these laws.
 *
 * A law gets two services over one empty store, like the services of two nodes. Each service must find the entries that the other service
 * writes.
 *
 * @since 0.1.0
 */
import type { SessionDirectoryService } from "@effect-mcp/core/SessionDirectory"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Law from "./Law.js"
import { isSame } from "./laws/StoredJson.js"

/**
 * Two services over one store: the same service twice, or the services of two nodes.
 *
 * @category models
 */
export type Directories = readonly [SessionDirectoryService, SessionDirectoryService]

const facts = (n: number) => ({
  n,
  text: "ü \u{1f600} \u2028 \\ \"",
  list: [null, true, 1.5],
  nested: { constructor: "x" }
})

/** Joins the directory as a node. `leave` ends the node. */
const joined = (directory: SessionDirectoryService, node: string) =>
  Effect.gen(function*() {
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const membership = yield* Scope.extend(directory.join(node), scope)
    return { ...membership, leave: Scope.close(scope, Exit.void) }
  })

const found = Law.make<Directories>(
  "finds on every node the entries that another node has stored, unchanged",
  (directories, expect) =>
    Effect.gen(function*() {
      const one = yield* joined(directories[0], "one")
      const two = yield* joined(directories[1], "two")
      yield* one.create("s", facts(1))
      const entry = { id: "s", node: "one", epoch: 1, facts: facts(1), isServed: true }
      yield* expect(isSame(yield* two.find("s"), entry), "another node does not find the session")
      yield* expect(yield* one.update("s", 1, facts(2)), "the node could not change its own session")
      yield* expect(isSame(yield* two.find("s"), { ...entry, facts: facts(2) }), "another node finds older facts")
      for (const id of ["", "S", "s ", "s:", "*", "__proto__"]) {
        yield* expect(Option.isNone(yield* two.find(id)), `it found the session ${JSON.stringify(id)}`)
      }
      yield* expect(yield* two.isAlive("one"), "a member counts as ended")
      yield* expect(!(yield* two.isAlive("three")), "a node that has never joined counts as a member")
    })
)

const served = Law.make<Directories>(
  "gives no node a session that another node serves",
  (directories, expect) =>
    Effect.gen(function*() {
      const one = yield* joined(directories[0], "one")
      const two = yield* joined(directories[1], "two")
      yield* one.create("s", facts(1))
      yield* expect(Option.isNone(yield* two.claim("s", 1)), "the session was claimed while its node serves it")
      yield* expect(Option.isNone(yield* one.claim("s", 1)), "the session was claimed by its own node")
      yield* expect(Option.isNone(yield* two.claim("none", 1)), "a session was claimed that there is not")
    })
)

const claimed = Law.make<Directories>(
  "gives a session whose node has ended to one of the nodes that claim the session, with the next epoch",
  (directories, expect) =>
    Effect.gen(function*() {
      const one = yield* joined(directories[0], "one")
      const others = yield* Effect.forEach(Array.from({ length: 10 }), (_, n) =>
        joined(directories[n % 2]!, `other-${n}`))
      yield* one.create("s", facts(1))
      yield* one.leave
      yield* expect(!(yield* others[0]!.isAlive("one")), "a node that has left counts as a member")
      const left = yield* others[0]!.find("s")
      yield* expect(Option.isSome(left) && !left.value.isServed, "the session counts as served")
      const claims = yield* Effect.forEach(others, ({ claim }) =>
        claim("s", 1), { concurrency: "unbounded" })
      const winners = claims.flatMap((claim, n) => Option.isSome(claim) ? [[n, claim] as const] : [])
      yield* expect(winners.length === 1, `${winners.length} of 10 nodes have claimed one session`)
      const [n, claim] = winners[0]!
      const entry = { id: "s", node: `other-${n}`, epoch: 2, facts: facts(1), isServed: true }
      yield* expect(isSame(claim, entry), "the claim did not give the entry of this node in epoch 2")
      yield* expect(isSame(yield* others[0]!.find("s"), entry), "the directory has another entry")
    })
)

const fenced = Law.make<Directories>(
  "refuses the operations of a node with an old epoch",
  (directories, expect) =>
    Effect.gen(function*() {
      const one = yield* joined(directories[0], "one")
      const two = yield* joined(directories[1], "two")
      yield* one.create("s", facts(1))
      yield* one.release("s", 1)
      const claim = yield* two.claim("s", 1)
      yield* expect(Option.isSome(claim), "a session that was released was not given to the next node")
      yield* expect(!(yield* one.update("s", 1, facts(9))), "the node of the old epoch has changed the session")
      yield* one.release("s", 1)
      yield* expect(
        !(yield* one.remove("s", 1)),
        "the node of the old epoch counts as the node that removed the session"
      )
      const entry = { id: "s", node: "two", epoch: 2, facts: facts(1), isServed: true }
      yield* expect(
        isSame(yield* one.find("s"), entry),
        "the node of the old epoch has released or removed the session"
      )
      yield* expect(yield* two.remove("s", 2), "the node of the session could not remove it")
      yield* expect(Option.isNone(yield* one.find("s")), "the session is there after it was removed")
      yield* expect(!(yield* two.update("s", 2, facts(1))), "a session that was removed came back")
    })
)

const many = Law.make<Directories>(
  "keeps sessions separate, and keeps all sessions",
  (directories, expect) =>
    Effect.gen(function*() {
      const one = yield* joined(directories[0], "one")
      const two = yield* joined(directories[1], "two")
      const ids = Array.from({ length: 200 }, (_, n) => `session-${n}`)
      yield* Effect.forEach(ids, (id, n) => one.create(id, facts(n)), { concurrency: 20, discard: true })
      yield* one.touch(ids)
      yield* one.remove(ids[0]!, 1)
      const all = yield* Effect.forEach(ids, two.find, { concurrency: 20 })
      yield* expect(Option.isNone(all[0]!), "a session was found that was removed")
      for (const [n, entry] of all.entries()) {
        yield* expect(n === 0 || (Option.isSome(entry) && entry.value.facts.n === n), `session ${n} is not what it was`)
      }
    })
)

/**
 * All laws.
 *
 * @category constants
 */
export const laws: ReadonlyArray<Law.Law<Directories>> = [found, served, claimed, fenced, many]
