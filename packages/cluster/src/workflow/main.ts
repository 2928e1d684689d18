/**
 * The program that runs durable tasks with faults: `node main.js [seed, or "random"]`. 200 tasks run in three processes over one
 * PostgreSQL, while 40 faults hit the processes and PostgreSQL. The program prints one table and the broken promises. The exit code is 1
 * when a promise is broken. The program takes nine minutes.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { fileURLToPath } from "node:url"
import * as Balancer from "../nemesis/Balancer.js"
import * as Seeded from "../nemesis/Seeded.js"
import * as Child from "../processes/Child.js"
import * as Place from "../processes/Place.js"
import * as Postgres from "../processes/Postgres.js"
import * as Restartable from "../processes/Restartable.js"
import * as Checks from "./Checks.js"
import * as Client from "./Client.js"

const [given = "1"] = process.argv.slice(2)
const seed = given === "random" ? Math.floor(Math.random() * 1e6) : Number(given)
const seeded = Seeded.make(seed)

const TASKS = 200

/** All tasks begin within this number of milliseconds. */
const BEGIN = 360_000

/** The time to live of a task, in milliseconds. */
const TTL = 80_000

/** How many milliseconds pass after a fault before the next fault. */
const CALM = 6000

/**
 * After each fault whose number is a multiple of this number, the next fault follows at once, while the process is still starting again.
 */
const FOLLOWED = 6

/** How many milliseconds a row may stay after the end of its task's time to live. */
const ROWS = 60_000

const repeat = (kind: Checks.Kind, count: number) => Array.from({ length: count }, () => kind)

const faults = seeded.shuffled([
  ...repeat("kill -9", 12),
  ...repeat("SIGTERM", 8),
  ...repeat("SIGSTOP beyond the lease", 5),
  ...repeat("SIGSTOP, short", 8),
  ...repeat("PostgreSQL restarted", 7)
])

const plans = Array.from({ length: TASKS }, (_, n): Client.Plan & { readonly after: number } => {
  const steps = 2 + Math.floor(seeded.between(0, 4))
  const isBig = n % 10 === 0
  const asks = isBig || n % 2 === 0
  return {
    job: `job ${n}`,
    steps,
    millis: Math.floor(seeded.between(200, 2000)),
    ask: asks ? 1 + Math.floor(seeded.between(0, steps)) : 0,
    answer: isBig ? 1024 * 1024 : 5,
    cancel: n % 20 === 7 ? Math.floor(seeded.between(500, 3000)) : undefined,
    after: seeded.between(0, BEGIN)
  }
})

const now = () => Date.now()

const program = fileURLToPath(new URL("node.js", import.meta.url))

const node = (url: string) =>
  Effect.gen(function*() {
    const port = yield* Place.freePort
    const child = Child.start({
      command: process.execPath,
      args: [program, `${port}`, url, `${TTL}`],
      isReady: (line) => line === "listening",
      onLine: process.env.WORKFLOW_LOG === undefined ? undefined : (line) => console.error(`${port}: ${line}`)
    })
    // The process does not start while PostgreSQL cannot be reached, so the start is tried again.
    return { port, ...yield* Restartable.make(Effect.retry(child, { times: 5 })) }
  })

type Node = Effect.Effect.Success<ReturnType<typeof node>>

/** Makes a fault at a node or at PostgreSQL. The number is the position of the fault in the run. */
const hit = (
  kind: Checks.Kind,
  number: number,
  { current, exit, kill, restart, signal }: Node,
  postgres: Postgres.Postgres
) =>
  Effect.gen(function*() {
    const stopped = (time: number) =>
      Effect.zipRight(signal("SIGSTOP"), Effect.zipRight(Effect.sleep(time), signal("SIGCONT")))
    const kinds: Record<Checks.Kind, Effect.Effect<unknown>> = {
      "kill -9": Effect.zipRight(kill, Effect.sleep("4 seconds")),
      SIGTERM: Effect.zipRight(signal("SIGTERM"), exit),
      "SIGSTOP beyond the lease": stopped(8000),
      "SIGSTOP, short": stopped(seeded.between(500, 2000)),
      "PostgreSQL restarted": Effect.orDie(postgres.restart)
    }
    const { pid } = yield* current
    const at = now()
    yield* kinds[kind]
    const fault: Checks.Fault = { kind, pid: kind === "PostgreSQL restarted" ? undefined : pid, at, until: now() }
    const begun = kind === "kill -9" || kind === "SIGTERM" ? restart : Effect.void
    yield* number % FOLLOWED === 0 ? Effect.forkScoped(begun) : Effect.zipRight(begun, Effect.sleep(CALM))
    return fault
  })

const run = Effect.gen(function*() {
  const postgres = yield* Postgres.start
  const sql = yield* Effect.provide(
    PgClient.make({ url: Redacted.make(postgres.url), maxConnections: 2 }),
    Reactivity.layer
  )
  /** Runs a statement, and repeats it while it fails, because PostgreSQL restarts during the run. */
  const query = <A>(statement: Effect.Effect<A, unknown>) =>
    Effect.orDie(Effect.retry(statement, Schedule.intersect(Schedule.spaced("500 millis"), Schedule.recurs(40))))
  yield* query(sql`CREATE TABLE ran (job text, step int, event text, pid int, at float8)`)
  const jobs = Effect.map(query(sql<Checks.Ran>`SELECT job, step, event, pid, at FROM ran`), Checks.byJob)

  const nodes = [yield* node(postgres.url), yield* node(postgres.url), yield* node(postgres.url)]
  const balancer = yield* Balancer.make(nodes.map(({ port }) => port))
  const clients = yield* Effect.fork(Effect.forEach(
    plans,
    ({ after, ...plan }) => Effect.delay(Client.follow(balancer, plan, now), after),
    { concurrency: "unbounded" }
  ))

  // The longest time in milliseconds for which a row has stayed after the end of its task's time to live.
  let late = 0
  const look = query(
    sql<{ readonly late: string | null }>`SELECT max(${now()} - ends_at) AS late FROM mcp_workflow_tasks`
  )
  yield* Effect.forkScoped(Effect.forever(Effect.delay(
    Effect.map(Effect.suspend(() => look), ([row]) => {
      late = Math.max(late, Number(row?.late ?? 0))
    }),
    "2 seconds"
  )))

  const hits = yield* Effect.forEach(faults, (kind, n) => hit(kind, n, nodes[n % nodes.length]!, postgres))
  const seen = yield* Fiber.join(clients)

  const last = Math.max(...seen.map(({ began }) => began)) + TTL + ROWS
  const rows = query(sql<{ readonly count: number }>`SELECT ((SELECT count(*) FROM mcp_workflow_messages)
      + (SELECT count(*) FROM mcp_workflow_replies) + (SELECT count(*) FROM mcp_workflow_tasks))::int AS count`)
  const left = yield* Effect.repeat(Effect.delay(Effect.map(rows, ([row]) => row!.count), "1 second"), {
    until: (count) => count === 0 || now() > last
  })
  return { hits, seen, late, ran: yield* jobs, rows: left }
})

/** Prints the table, and returns whether all promises are kept. A row has a name, a result, and whether the result is as promised. */
const report = ({ hits, late, ran, rows, seen }: Effect.Effect.Success<typeof run>) => {
  const of = (kind: Checks.Kind) => Checks.resumed(hits, kind, ran)
  const alone = (kind: Checks.Kind) => of(kind).filter(({ isAlone }) => isAlone).map(({ took }) => took)
  const others = Checks.KINDS.slice(0, 3).flatMap(of).filter(({ isAlone }) => !isAlone).map(({ took }) => took)
  const gaps = Checks.gaps(seen, ran, hits)
  const [stopped, still] = [gaps.filter(({ isStopped }) => isStopped), gaps.filter(({ isStopped }) => !isStopped)]
  const ends = Checks.ends(seen)
  const repeated = Checks.repeated(ran, seen)
  const stalled = still.filter(({ took }) => took > Checks.STALLED)
  const killed = alone("kill -9")
  const statuses = ["completed", "cancelled", "failed"]
  const table: ReadonlyArray<readonly [what: string, found: string, isFine: boolean]> = [
    [
      "faults",
      Checks.KINDS.map((kind) => `${hits.filter((fault) => fault.kind === kind).length} ${kind}`).join(", "),
      true
    ],
    [
      "tasks",
      statuses.map((status) => `${seen.filter((one) => one.status === status).length} ${status}`).join(", "),
      seen.length === TASKS
    ],
    ["each ends once, with its result", `${ends.length} others`, ends.length === 0],
    ["steps begun", `${[...ran.values()].flat().filter(({ event }) => event === "begin").length}`, true],
    ["no step that has ended begins again", `${repeated.length} do`, repeated.length === 0],
    ["goes on after kill -9", Checks.figures(killed), killed.every((took) => took <= Checks.RESUMED)],
    ["goes on after SIGTERM", Checks.figures(alone("SIGTERM")), true],
    ["goes on after SIGSTOP beyond the lease", Checks.figures(alone("SIGSTOP beyond the lease")), true],
    ["goes on after one of these and the next fault", Checks.figures(others), true],
    ["stands still", Checks.figures(still.map(({ took }) => took)), stalled.length === 0],
    ["stands still, at a process that was stopped", Checks.figures(stopped.map(({ took }) => took)), true],
    ["rows after the time to live", `the last after ${(late / 1000).toFixed(1)} s`, late <= ROWS],
    ["rows left at the end", `${rows}`, rows === 0]
  ]
  const width = Math.max(...table.map(([what]) => what.length))
  for (const [what, found, isFine] of table) {
    console.log(`${isFine ? "ok    " : "FAILED"} ${what.padEnd(width)}  ${found}`)
  }
  for (const text of [...ends, ...repeated, ...stalled.map(({ job, took }) => `${job} stood still for ${took} ms`)]) {
    console.log(`       ${text}`)
  }
  return table.every(([, , isFine]) => isFine)
}

const main = Effect.gen(function*() {
  const begin = now()
  yield* Postgres.install
  const isFine = report(yield* Effect.scoped(run))
  console.log(`seed ${seed}, ${((now() - begin) / 1000).toFixed(0)} s`)
  process.exitCode = isFine ? 0 : 1
})

NodeRuntime.runMain(main, { teardown: (exit) => process.exit(Exit.isSuccess(exit) ? process.exitCode : 1) })
