/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted; nothing runs.
 */
import * as RedisChangeBus from "@effect-mcp/redis/RedisChangeBus"
import * as RedisConnection from "@effect-mcp/redis/RedisConnection"
import * as RedisCredentialStore from "@effect-mcp/redis/RedisCredentialStore"
import * as RedisEventStore from "@effect-mcp/redis/RedisEventStore"
import * as RedisInbox from "@effect-mcp/redis/RedisInbox"
import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
import * as RedisSessionDirectory from "@effect-mcp/redis/RedisSessionDirectory"
import * as RedisTaskStore from "@effect-mcp/redis/RedisTaskStore"
import { Layer, Redacted } from "effect"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

const connection = {
  url: [Redacted.make("rediss://user:secret@one.internal"), "rediss://two.internal"],
  prefix: "shop:",
  timeout: "2 seconds",
  maxWaiting: 1000,
  maxWaitingSize: 1_000_000
} satisfies Every<RedisConnection.Options>

const changes = { maxChanges: 100 } satisfies Every<RedisChangeBus.Options>

const credentials = { maxRecords: 100 } satisfies Every<RedisCredentialStore.Options>

const events = { maxEvents: 100, retention: "5 minutes", ttl: "1 hour" } satisfies Every<RedisEventStore.Options>

const inbox = { maxSize: 1_000_000, lease: "10 seconds" } satisfies Every<RedisInbox.Options>

const directory = { lease: "3 seconds", renewal: "750 millis", ttl: "1 hour" } satisfies Every<
  RedisSessionDirectory.Options
>

const tasks = { maxTasks: 100, maxTaskSize: 1_000_000, maxOwnerSize: 10_000_000 } satisfies Every<
  RedisTaskStore.Options
>

export const One = Layer.mergeAll(
  RedisChangeBus.layerWith(changes),
  RedisCredentialStore.layer("ada", credentials),
  RedisEventStore.layerWith(events),
  RedisInbox.layerWith(inbox),
  RedisSessionDirectory.layerWith(directory),
  RedisTaskStore.layerWith(tasks)
).pipe(Layer.provide(RedisConnection.layerWith(connection)))

export const All = [RedisNodes.layerWith(connection), RedisNodes.layerWith({ url: "redis://localhost" })]
