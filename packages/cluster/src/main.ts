/**
 * A server on three nodes, with the Redis that they share and nginx in front, without affinity and with it: `npm run cluster`. Clients of
 * three revisions work while one node is killed and another one shuts down. The exit code is 1 when a promise was not kept, and when
 * the run was ended before its end.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { Account } from "./demo/Account.js"
import { Ledger } from "./demo/Ledger.js"
import * as Scenario from "./demo/Scenario.js"
import { ProcessError } from "./processes/Child.js"
import * as Nginx from "./processes/Nginx.js"
import * as Redis from "./processes/Redis.js"
import * as ServerNode from "./processes/ServerNode.js"

/** In milliseconds. */
const LIMIT = 140_000

const account = new Account()

const demo = Effect.gen(function*() {
  const ledger = new Ledger()
  yield* Redis.install
  yield* Nginx.install
  const { url } = yield* Redis.start([...Redis.DURABLE, ...Redis.ACL])
  const redis = url.replace("//", "//mcp:secret@")
  const nodes = yield* Effect.forEach(
    ["a", "b", "c"],
    (name) => ServerNode.start({ name, redis, onReport: ledger.onReport(name) }),
    { concurrency: "unbounded" }
  )
  yield* account.heading(`Nodes ${nodes.map(({ name }) => name).join(", ")} share a Redis`)
  for (const affinity of [false, true]) yield* Effect.scoped(Scenario.run(nodes, affinity, ledger, account))
  const { calls, open, repeated } = ledger
  yield* account.heading(
    `${calls.length} calls have ended, ${open} have not; ${repeated.length} handlers have run twice`
  )
  yield* account.expect(open === 0, "every call ends", `${open} have not`)
  yield* account.expect(repeated.length === 0, "no handler runs twice", repeated.slice(0, 3).join(", "))
  yield* account.line(account.broken.length === 0 ? "all as promised" : `promises not kept: ${account.broken.length}`)
  for (const promise of account.broken) yield* account.line(`- ${promise}`)
})

// Ends also a run whose finalizers hang; the end of this process ends all others.
setTimeout(() => process.exit(1), LIMIT + 15_000).unref()

demo.pipe(
  Effect.scoped,
  Effect.timeoutFail({
    duration: LIMIT,
    onTimeout: () => new ProcessError({ message: `NOT AS PROMISED: the run ends within ${LIMIT / 1000} seconds` })
  }),
  Effect.provide(NodeHttpClient.layerUndici),
  Logger.withMinimumLogLevel(LogLevel.Error),
  NodeRuntime.runMain({
    teardown: (exit) => process.exit(Exit.isSuccess(exit) && account.broken.length === 0 ? 0 : 1)
  })
)
