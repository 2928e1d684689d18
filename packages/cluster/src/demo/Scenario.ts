/**
 * What the clients do through one load balancer, and what happens to the nodes meanwhile: all features of the server, then a node that
 * is killed, then one that shuts down.
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import type { ConnectError } from "@effect-mcp/client/ClientError"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { ProcessError } from "../processes/Child.js"
import * as Nginx from "../processes/Nginx.js"
import type { ServerNode } from "../processes/ServerNode.js"
import { type Account, seconds } from "./Account.js"
import { killed, shutDown } from "./Endings.js"
import * as Health from "./Health.js"
import { type Call, type Ledger, summary } from "./Ledger.js"
import { count, eventually, expectAnswers, expectProgress, names, type Setting, updated } from "./Setting.js"
import * as WorkingClient from "./WorkingClient.js"

/** Runs everything through one load balancer. */
export const run = (
  nodes: ReadonlyArray<ServerNode>,
  affinity: boolean,
  ledger: Ledger,
  account: Account
): Effect.Effect<void, ConnectError | ProcessError, HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    const nginx = yield* Nginx.start({ nodes, affinity })
    yield* account.heading(
      affinity
        ? "With affinity: nginx sends the requests of a session to the node that has opened it, and none to a node that is not ready"
        : "Without affinity: nginx sends each request to the next node"
    )
    const clients = yield* Effect.forEach(
      WorkingClient.VERSIONS.flatMap((version) => Array.makeBy(3, (n) => ({ version, n }))),
      ({ n, version }) =>
        WorkingClient.make(nginx.url, `${affinity ? "with" : "without"} ${version} ${n}`, version, ledger),
      { concurrency: 3 }
    )
    const setting = { nodes, nginx, affinity, clients, ledger, account }
    yield* work(setting)
    yield* forwarded(setting)
    if (affinity) yield* Health.watch(nodes, nginx)
    const began = yield* Clock.currentTimeMillis
    // A task of a killed node fails after a while, so that is shown once.
    const tasks = affinity ? undefined : yield* Effect.fork(beginTasks(setting))
    const dead = yield* killed(setting)
    yield* shutDown(setting)
    if (tasks !== undefined) yield* tasksEnded(setting, yield* Fiber.join(tasks), dead, began)
    const lost = clients.filter(({ sessions }) => sessions.length > 1)
    yield* account.expect(lost.length === 0, "no client loses its session", names(lost))
  })

/** All clients use all features at the same time, while all nodes are well. */
const work = (setting: Setting) =>
  Effect.gen(function*() {
    const { account, clients, ledger, nodes } = setting
    for (const path of ["/livez", "/readyz"] as const) {
      const statuses = Effect.forEach(nodes, (node) => Health.probe(node, path))
      const isWell = yield* eventually(Effect.map(statuses, (all) => all.every((status) => status === 200)), 20_000)
      yield* account.expect(isWell, `${path} of every node answers 200`)
    }
    const began = yield* Clock.currentTimeMillis
    const counted = yield* Effect.forEach(clients, (client) =>
      Effect.gen(function*() {
        yield* Effect.replicateEffect(client.call("echo"), 20, { concurrency: 4 })
        const counted = yield* count(client, { steps: 5, millis: 50 })
        yield* client.call("confirm")
        yield* client.call("summarize")
        if (client.version !== "2025-06-18") yield* client.call("report", { millis: 300 })
        return counted
      }), { concurrency: "unbounded" })
    const calls = ledger.since(began)
    yield* account.line(
      `${clients.length} clients, three of each of ${
        WorkingClient.VERSIONS.join(", ")
      }: echo, progress, elicitation, ` +
        `sampling, tasks`
    )
    yield* account.line(`  ${calls.length} calls: ${summary(calls)}`)
    yield* expectAnswers(setting, "every call is answered", calls)
    yield* expectProgress(setting, counted)
    yield* updated(setting)
  })

/** How many of the requests of sessions arrived at another node than that of the session. */
const forwarded = ({ account, affinity, clients, ledger, nginx, nodes }: Setting) =>
  Effect.gen(function*() {
    const accesses = yield* nginx.accesses
    const ofSessions = accesses.filter(({ session }) => session !== "")
    const elsewhere = ofSessions.filter(({ ports, session }) => {
      const owner = ledger.nodeOf(session)
      return nodes.find(({ name }) => name === owner)?.port !== ports.at(-1)
    })
    const share = Math.round(100 * elsewhere.length / ofSessions.length)
    yield* account.line(
      `  ${accesses.length} requests, ${ofSessions.length} of them of sessions: ${share} % passed on to another node`
    )
    yield* account.expect(
      !affinity || share === 0,
      "with affinity no request is passed on while all nodes are well",
      `${share} %`
    )
    const lost = clients.filter(({ sessions }) => sessions.length > 1)
    yield* account.expect(lost.length === 0, "no client loses its session while all nodes are well", names(lost))
  })

/** The clients from 2026-07-28 on run a task each. */
const beginTasks = ({ clients }: Setting) =>
  Effect.forEach(
    clients.filter(({ version }) => version === "2026-07-28"),
    (client) => client.call("report", { millis: 10_000 }),
    { concurrency: "unbounded" }
  )

/** A task ends with its result, or with an error when its node has ended. */
const tasksEnded = (setting: Setting, tasks: ReadonlyArray<Call>, dead: string, began: number) =>
  Effect.gen(function*() {
    const { account, ledger } = setting
    const [others, there] = Array.partition(tasks, (task) => ledger.ranOn(task) === dead)
    const last = Math.max(...tasks.map(({ ended }) => ended)) - began
    yield* account.line(
      `Tasks of 10 s: on node ${dead} ${summary(there)}; elsewhere ${summary(others)}; after ${seconds(last)}`
    )
    yield* expectAnswers(setting, "every task ends", tasks, ["answered", "error -32603"])
    yield* account.expect(last <= 30_000, "every task ends within 30 s")
  })
