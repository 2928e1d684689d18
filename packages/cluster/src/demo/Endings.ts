/**
 * How a node ends, killed or shut down, while all clients call: what clients, load balancer and metrics see of it. Each part starts the
 * node again.
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import type { ConnectError } from "@effect-mcp/client/ClientError"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ProcessError } from "../processes/Child.js"
import type { ServerNode } from "../processes/ServerNode.js"
import { seconds } from "./Account.js"
import * as Health from "./Health.js"
import { type End, summary } from "./Ledger.js"
import { eventually, expectAnswers, expectProgress, meanwhile, names, type Setting, updated } from "./Setting.js"
import * as WorkingClient from "./WorkingClient.js"

/** How long the sessions of a killed node may be without one: its lease of 3 seconds, and time for a slow machine. In milliseconds. */
const TAKEOVER = 10_000

/** How soon a load balancer can notice that a node is not ready. Less than `grace` of the nodes. In milliseconds. */
const NOTICED = 2000

/** `grace`, `drainTimeout` and two times `closeTimeout`, and time for a slow machine. In milliseconds. */
const ENDING = 20_000

/** How a call may end when a node is killed. */
const LOST: ReadonlyArray<End> = ["answered", "error -32000", "HTTP 502", "connection lost"]

/** Kills a node: others take its sessions over, and the clients learn which calls were lost. Gives the name of the node. */
export const killed = (setting: Setting): Effect.Effect<string, ProcessError, HttpClient> =>
  Effect.gen(function*() {
    const { account, clients, ledger, nginx, nodes } = setting
    const { node, own } = served(setting, clients[3]!)
    const others = nodes.filter((one) => one !== node)
    const takeovers = () => others.reduce((sum, { name }) => sum + ledger.metric(name, "takeovers"), 0)
    const resumed = Effect.map(nginx.accesses, (accesses) => accesses.filter(({ resumes }) => resumes).length)
    const before = { resumed: yield* resumed, takeovers: takeovers() }
    yield* account.line(`Node ${node.name} is killed (SIGKILL)`)
    const { began, counted, silent } = yield* meanwhile(setting, 15, (long) =>
      Effect.gen(function*() {
        const began = yield* Clock.currentTimeMillis
        yield* node.kill
        const first = (client: WorkingClient.WorkingClient) =>
          ledger.since(began).find(({ client: name, end }) => end === "answered" && name === client.name)
        yield* eventually(Effect.sync(() => clients.every((client) => first(client) !== undefined)), 3 * TAKEOVER)
        const after = Math.max(...clients.map((client) => first(client)?.ended ?? Infinity)) - began
        yield* account.line(`  all clients go on after ${seconds(after)}; it served the sessions of ${own.length}`)
        yield* account.expect(after <= TAKEOVER, `every client goes on within ${seconds(TAKEOVER)}`, seconds(after))
        return { began, ...(yield* long) }
      }))
    yield* moved(setting, node, own)
    const calls = [...counted.map(({ call }) => call), ...silent]
    const [elsewhere, there] = Array.partition(calls, (call) => ledger.ranOn(call) === node.name)
    const short = ledger.since(began).filter(({ tool }) => tool === "echo")
    const streams = (yield* resumed) - before.resumed
    yield* account.line(`  calls of 3 s whose handler ran there: ${summary(there)}; elsewhere: ${summary(elsewhere)}`)
    yield* account.line(`  short calls meanwhile: ${summary(short)}; ${streams} streams resumed`)
    yield* expectAnswers(setting, "a call is answered, or its client learns of the loss", [...calls, ...short], LOST)
    yield* expectProgress(setting, counted)
    yield* expectAnswers(
      setting,
      "a client of 2025-11-25 resumes the stream of a call that runs at another node",
      counted.filter(({ call, client }) => client.version === "2025-11-25" && elsewhere.includes(call))
        .map(({ call }) => call)
    )
    yield* account.expect(streams > 0, "clients resume streams")
    const failed = short.filter(({ end }) => end !== "answered").length
    yield* account.expect(
      failed <= clients.length + short.length / 100,
      "a node takes few short calls with it",
      `${failed} of ${short.length} failed`
    )
    const isCounted = yield* eventually(Effect.sync(() => takeovers() - before.takeovers >= own.length), 10_000)
    yield* account.expect(isCounted, "`takeovers` counts every session")
    yield* restarted(setting, node)
    return node.name
  })

/** Shuts a node down: it is not ready at once, serves on for `grace`, and loses no call. */
export const shutDown = (setting: Setting): Effect.Effect<void, ConnectError | ProcessError, HttpClient> =>
  Effect.scoped(Effect.gen(function*() {
    const { account, affinity, clients, ledger, nginx } = setting
    const { node, own } = served(setting, clients[4]!)
    const visit = (url: string, name: string, version: typeof WorkingClient.VERSIONS[number]) =>
      Effect.map(
        WorkingClient.make(url, `${affinity ? "with" : "without"} ${name} ${version}`, version, ledger),
        (client) => client.call("echo")
      )
    const direct = yield* visit(node.url, "direct", "2026-07-28")
    yield* account.line(`Node ${node.name} shuts down (SIGTERM)`)
    const { began, counted, ended, noticed, silent } = yield* meanwhile(setting, 22, (long) =>
      Effect.gen(function*() {
        const began = yield* Clock.currentTimeMillis
        yield* node.signal("SIGTERM")
        const isUnready = yield* eventually(
          Effect.map(Health.probe(node, "/readyz"), (status) => status === 503),
          NOTICED
        )
        const unready = (yield* Clock.currentTimeMillis) - began
        yield* account.line(`  /readyz answers 503 after ${unready} ms`)
        yield* account.expect(isUnready, "/readyz of a node that shuts down answers 503 at once")
        const isTold = affinity ? yield* eventually(nginx.leavesOut(node.name), NOTICED) : true
        const noticed = yield* Clock.currentTimeMillis
        yield* account.expect(isTold, "a supervisor tells nginx of a node that is not ready")
        const live = yield* Health.probe(node, "/livez")
        yield* account.expect(live === 200, "a node that shuts down lives", `/livez: ${live}`)
        const call = yield* direct
        yield* account.expect(
          call.end === "answered" && ledger.ranOn(call) === node.name,
          "a node that is not ready serves on",
          call.end
        )
        const visits = yield* Effect.forEach(
          WorkingClient.VERSIONS,
          (version) => Effect.flatten(visit(nginx.url, "visitor", version)),
          { concurrency: "unbounded" }
        )
        const there = visits.filter((call) => ledger.ranOn(call) === node.name)
        yield* account.line(
          `  it serves on: ${call.end}; of ${visits.length} new clients of nginx it gets ${there.length}`
        )
        const exit = yield* Effect.timeoutOption(node.exit, ENDING)
        const ended = yield* Clock.currentTimeMillis
        yield* account.expect(
          Option.exists(exit, ({ code }) => code === 0),
          `a node that shuts down ends with code 0 within ${seconds(ENDING)}`,
          Option.match(exit, { onNone: () => "it runs", onSome: ({ code, signal }) => `${signal ?? code}` })
        )
        return { began, ended, noticed, ...(yield* long) }
      }))
    yield* moved(setting, node, own)
    const calls = [...counted.map(({ call }) => call), ...silent]
    const short = ledger.since(began).filter(({ tool }) => tool === "echo")
    const longest = Math.max(...short.map(({ began, ended }) => ended - began))
    yield* account.line(`  it ends after ${seconds(ended - began)}; it served the sessions of ${own.length}`)
    yield* account.line(
      `  calls of 4.4 s: ${summary(calls)}; short calls meanwhile: ${summary(short)}, within ${seconds(longest)}`
    )
    yield* expectAnswers(setting, "a node that shuts down loses no call", [...calls, ...short])
    yield* expectProgress(setting, counted)
    if (affinity) {
      const late = (yield* nginx.accesses).filter((access) => access.began >= noticed && access.ports[0] === node.port)
      yield* account.expect(late.length === 0, "nginx sends no request to a node that is not ready", `${late.length}`)
    }
    const isMeasured = yield* eventually(Effect.sync(() => ledger.metric(node.name, "drain.seconds") > 0), 10_000)
    yield* account.expect(isMeasured, "`drain.seconds` has the end of the node")
    yield* metrics(setting)
    yield* restarted(setting, node)
  }))

/** The node that serves the session of a client, and all clients whose sessions it serves. */
const served = ({ clients, ledger, nodes }: Setting, client: WorkingClient.WorkingClient) => {
  const nodeOf = ({ sessions }: WorkingClient.WorkingClient) => ledger.nodeOf(sessions.at(-1))
  const name = nodeOf(client)
  return { node: nodes.find((node) => node.name === name)!, own: clients.filter((one) => nodeOf(one) === name) }
}

/** The sessions that a node had go on elsewhere. */
const moved = ({ account, ledger }: Setting, node: ServerNode, own: ReadonlyArray<WorkingClient.WorkingClient>) =>
  Effect.gen(function*() {
    const there = own.filter(({ sessions }) => ledger.nodeOf(sessions.at(-1)) === node.name)
    yield* account.expect(there.length === 0, "every session goes on at another node", names(there))
  })

/** Starts the node again, while one client changes the board. */
const restarted = (setting: Setting, node: ServerNode) =>
  Effect.gen(function*() {
    yield* Effect.all([node.restart, updated(setting)], { concurrency: "unbounded" })
    const isReady = Effect.map(Health.probe(node, "/readyz"), (status) => status === 200)
    yield* setting.account.expect(yield* eventually(isReady, 20_000), "a node that has started again is ready")
  })

/** What a deployer watches, of each node since it has started. */
const metrics = ({ account, ledger, nodes }: Setting) =>
  Effect.gen(function*() {
    const row = (name: string, cells: ReadonlyArray<string>) =>
      account.line(`  ${name.padEnd(30)}${cells.map((cell) => cell.padStart(8)).join("")}`)
    yield* row("mcp.runtime.", nodes.map(({ name }) => name))
    for (const metric of ledger.metricNames()) {
      const values = nodes.map(({ name }) => ledger.metric(name, metric))
      if (values.some((value) => value !== 0)) yield* row(metric, values.map((value) => `${Number(value.toFixed(1))}`))
    }
  })
