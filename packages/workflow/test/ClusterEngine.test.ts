import type { SqlClient } from "@effect/sql/SqlClient"
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import * as DurableTool from "@effect-mcp/workflow/DurableTool"
import { Deferred, type Duration, Effect, Exit, Layer, Option, Scope } from "effect"
import * as Postgres from "../../sql/test/Postgres.js"
import { type Feature, publish, server } from "./Publishing.js"

const capabilities = { elicitation: { form: {} }, extensions: { [TasksServer.extension.id]: {} } }

/** Nodes over one database, each of which can be closed. */
const cluster = Effect.gen(function*() {
  const url = yield* Postgres.database
  const node = (features: Feature, ttl?: Duration.DurationInput) =>
    Effect.gen(function*() {
      const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
      const services = yield* Scope.extend(Layer.build(Layer.fresh(server(url, features, ttl))), scope)
      const peer = yield* Effect.provide(connect, services)
      return { peer, close: Scope.close(scope, Exit.void) }
    })
  const query = <A>(run: (sql: SqlClient) => Effect.Effect<A, unknown>) =>
    Effect.orDie(Effect.provide(Effect.flatMap(PgClient.PgClient, run), Postgres.client(url)))
  return { node, query }
})

const connect: Effect.Effect<TestPeer.TestPeer, never, Dispatcher | Scope.Scope> = Effect.map(
  Effect.tap(
    TestPeer.client({ extensions: [TasksServer.extension] }),
    (peer) => Effect.addFinalizer(() => peer.hangUp)
  ),
  (peer) => peer.modern({ capabilities })
)

const ask = (peer: TestPeer.TestPeer, method: string, params: JsonObject): Effect.Effect<any> =>
  Effect.orDie(Effect.flatMap(peer.request(method, params), peer.expectResult))

const begin = (peer: TestPeer.TestPeer, name: string) =>
  Effect.map(ask(peer, "tools/call", { name, arguments: {} }), ({ taskId }) => taskId as string)

/** What a client reads of a task, as soon as it has this status. */
const reached = (peer: TestPeer.TestPeer, taskId: string, status: string): Effect.Effect<any> =>
  Effect.flatMap(
    ask(peer, "tasks/get", { taskId }),
    (task) => task.status === status ? Effect.succeed(task) : Effect.delay(reached(peer, taskId, status), "50 millis")
  )

const accept = (peer: TestPeer.TestPeer, taskId: string) =>
  ask(peer, "tasks/update", { taskId, inputResponses: { "publish.sure": { action: "accept", content: {} } } })

/** Until a query has this answer. */
const eventually = (query: Effect.Effect<number>, answer: number): Effect.Effect<void> =>
  Effect.flatMap(
    query,
    (found) => found === answer ? Effect.void : Effect.delay(eventually(query, answer), "100 millis")
  )

/** More than the tries of `@effect/cluster`, which end after a second. */
const REFUSALS = 8

Postgres.suite("A durable tool of several processes", () => {
  it.scopedLive("is answered at another node, after its own was shut down, and repeats no step that has ended", () =>
    Effect.gen(function*() {
      const { node } = yield* cluster
      const begun: Array<string> = []
      const first = yield* node(publish(begun))
      const taskId = yield* begin(first.peer, "publish")
      yield* reached(first.peer, taskId, "input_required")
      const { peer } = yield* node(publish(begun))
      yield* first.close
      yield* accept(peer, taskId)
      const { result } = yield* reached(peer, taskId, "completed")
      assert.deepStrictEqual(result.structuredContent, { isPublic: true })
      assert.deepStrictEqual(begun, ["build", "upload"])
    }))

  it.scopedLive("begins its step again at another node, when its own was shut down in the step", () =>
    Effect.gen(function*() {
      const { node } = yield* cluster
      const begun = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const Slow = Tool.make("slow", { task: "required" })
      const slow = (nth: number, step: Effect.Effect<void>) =>
        DurableTool.layer(Slow, function*(_, task) {
          yield* task.step("slow", { run: Effect.zipRight(Deferred.succeed(begun[nth]!, undefined), step) })
        })
      const first = yield* node(slow(0, Effect.never))
      const taskId = yield* begin(first.peer, "slow")
      yield* Deferred.await(begun[0]!)
      const { peer } = yield* node(slow(1, Effect.void))
      yield* first.close
      yield* Deferred.await(begun[1]!)
      yield* reached(peer, taskId, "completed")
    }))

  it.scopedLive("has its step interrupted by a cancellation at another node, which does not know the tool", () =>
    Effect.gen(function*() {
      const { node } = yield* cluster
      const [running, interrupted] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const Endless = Tool.make("endless", { task: "required" })
      const endless = DurableTool.layer(Endless, function*(_, task) {
        yield* task.step("endless", {
          run: Effect.zipRight(Deferred.succeed(running, undefined), Effect.never).pipe(
            Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
          )
        })
      })
      const first = yield* node(endless)
      const { peer } = yield* node(publish([]))
      const taskId = yield* begin(first.peer, "endless")
      yield* Deferred.await(running)
      yield* ask(peer, "tasks/cancel", { taskId })
      const noticed = yield* Effect.timeoutOption(Deferred.await(interrupted), "2 seconds")
      assert.isTrue(Option.isSome(noticed))
      yield* reached(first.peer, taskId, "cancelled")
    }))

  it.scopedLive("waits while no node knows it", () =>
    Effect.gen(function*() {
      const { node, query } = yield* cluster
      const begun: Array<string> = []
      const Other = Tool.make("other", { task: "required" })
      const other = DurableTool.layer(Other, function*() {
        return undefined
      })
      const newer = yield* node(publish(begun))
      const taskId = yield* begin(newer.peer, "publish")
      yield* reached(newer.peer, taskId, "input_required")
      const older = yield* node(other)
      yield* newer.close
      yield* accept(older.peer, taskId)
      // The older node has all shards, and has woken the task.
      yield* eventually(
        query((sql) =>
          Effect.map(
            sql`SELECT 1 FROM mcp_workflow_messages WHERE payload LIKE '%/tool/1"%'`,
            (rows) => rows.length
          )
        ),
        1
      )
      const { peer } = yield* node(publish(begun))
      yield* older.close
      yield* reached(peer, taskId, "completed")
      assert.deepStrictEqual(begun, ["build", "upload"])
    }))

  it.scopedLive("goes on when a process has claimed its wake-up and left it", () =>
    Effect.gen(function*() {
      const { node, query } = yield* cluster
      const { peer } = yield* node(publish([]))
      const taskId = yield* begin(peer, "publish")
      yield* reached(peer, taskId, "input_required")
      yield* query((sql) =>
        sql`CREATE FUNCTION claim() RETURNS trigger AS $$ BEGIN NEW.last_read := NOW(); RETURN NEW; END $$ LANGUAGE plpgsql`
      )
      yield* query((sql) =>
        sql`CREATE TRIGGER claim BEFORE INSERT ON mcp_workflow_messages FOR EACH ROW WHEN (NEW.tag = 'deferred')
          EXECUTE FUNCTION claim()`
      )
      yield* accept(peer, taskId)
      yield* reached(peer, taskId, "completed")
    }))

  for (const [what, table] of [["end of a step", "replies"], ["next step", "messages"]] as const) {
    it.scopedLive(`goes on when the database has refused the ${what} again and again`, () =>
      Effect.gen(function*() {
        const { node, query } = yield* cluster
        const begun: Array<string> = []
        const { peer } = yield* node(publish(begun))
        const taskId = yield* begin(peer, "publish")
        yield* reached(peer, taskId, "input_required")
        yield* query((sql) => sql`CREATE SEQUENCE refusals`)
        yield* query((sql) =>
          sql`CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN
            IF nextval('refusals') <= ${sql.literal(`${REFUSALS}`)} THEN RAISE EXCEPTION 'away'; END IF;
            RETURN NEW;
          END $$ LANGUAGE plpgsql`
        )
        yield* query((sql) =>
          sql`CREATE TRIGGER refuse BEFORE INSERT ON ${
            sql(`mcp_workflow_${table}`)
          } FOR EACH ROW EXECUTE FUNCTION refuse()`
        )
        yield* accept(peer, taskId)
        yield* reached(peer, taskId, "completed")
        assert.deepStrictEqual(begun, ["build", "upload"])
        const refused = query((sql) => sql<{ readonly last: string }>`SELECT last_value AS last FROM refusals`)
        assert.isAbove(Number((yield* refused)[0]!.last), REFUSALS)
      }))
  }

  it.scopedLive("leaves no row when its time to live has passed, whether it has ended or waits", () =>
    Effect.gen(function*() {
      const { node, query } = yield* cluster
      const { peer } = yield* node(publish([]), "4 seconds")
      const ended = yield* begin(peer, "publish")
      yield* begin(peer, "publish")
      yield* reached(peer, ended, "input_required")
      yield* accept(peer, ended)
      yield* reached(peer, ended, "completed")
      const rows = query((sql) =>
        Effect.map(
          sql<{ readonly count: string }>`SELECT (SELECT count(*) FROM mcp_workflow_messages)
            + (SELECT count(*) FROM mcp_workflow_replies) + (SELECT count(*) FROM mcp_workflow_tasks) AS count`,
          ([row]) => Number(row!.count)
        )
      )
      assert.isAbove(yield* rows, 0)
      yield* eventually(rows, 0)
    }))
})
