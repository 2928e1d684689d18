import { describe, it } from "@effect/vitest"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisCredentialStore from "@effect-mcp/redis/RedisCredentialStore"
import { RedisError } from "@effect-mcp/redis/RedisError"
import { Effect } from "effect"
import * as Laws from "../../auth/test/CredentialStoreLaws.js"
import * as RedisProcess from "./RedisProcess.js"

const away = Effect.fail(new RedisError({ message: "There is no connection to Redis" }))

/** Two connections to one part of Redis; the first one can be cut. */
const connections = Effect.gen(function*() {
  const { url } = yield* RedisProcess.shared
  const [one, other] = yield* RedisProcess.pairInTestTime(url, RedisConnection.RedisConnection)
  let isCut = false
  return {
    cut: (now: boolean) => Effect.sync(() => void (isCut = now)),
    one: { ...one, run: (...args) => Effect.suspend(() => isCut ? away : one.run(...args)) } satisfies typeof one,
    other
  }
})

const storeOf = (owner: string, connection: RedisConnection.RedisConnectionService) =>
  Effect.provideService(
    RedisCredentialStore.make(owner, { maxRecords: Laws.MAX_RECORDS }),
    RedisConnection.RedisConnection,
    connection
  )

describe("credentials in Redis", () => {
  const pair = Effect.flatMap(connections, ({ one, other }) => Effect.zip(storeOf("ada", one), storeOf("ada", other)))
  for (const { check, name } of Laws.laws) it.scoped(name, () => check(pair))
  const shared = Effect.flatMap(
    connections,
    ({ cut, one, other }) =>
      Effect.map(storeOf("ada", one), (one) => ({ cut, one, of: (owner: string) => storeOf(owner, other) }))
  )
  for (const { check, name } of Laws.shared) it.scoped(name, () => check(shared))
})
