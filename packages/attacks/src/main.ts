/**
 * Runs the attackers' suite: `node main.js [suite] [part of a name]`. The suites: `requests`, `peers`, `readers`, `long`, `emitters`,
 * `hostile`, `documents`, `users`. Without a suite, three processes run all suites at the same time, because the suites measure processor
 * time. The exit code is 1 when an attack did not end as expected.
 *
 * The attackers over HTTP and standard streams are plain async functions on Node's sockets: what they send and count must not depend on the
 * library that they attack, nor on Effect, which the library uses.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import * as Canary from "./Canary.js"
import * as Documents from "./Documents.js"
import * as Emitters from "./Emitters.js"
import * as HostileClients from "./HostileClients.js"
import * as HostileServers from "./HostileServers.js"
import * as HttpRequests from "./HttpRequests.js"
import * as LongCalls from "./LongCalls.js"
import * as Readers from "./Readers.js"
import { Report } from "./Report.js"
import * as Users from "./Users.js"
import * as Victim from "./Victim.js"

const [suite, only] = process.argv.slice(2)

/** The parts that run at the same time, and the suites of each. */
const PARTS: Readonly<Record<string, ReadonlyArray<string>>> = {
  "over HTTP": ["requests", "peers", "readers", "long"],
  "on pipes": ["peers", "emitters"],
  "servers": ["hostile", "documents", "users"]
}

const wants = (name: string): boolean => suite === name || PARTS[suite!]?.includes(name) === true

/** Whether this part runs: it was named, or a single suite was named. */
const isIn = (part: string): boolean => suite === part || (suite !== undefined && !(suite in PARTS))

const report = new Report(process.env.CI !== undefined)

const overHttp = async (shape: Victim.Shape): Promise<void> => {
  const victim = await Victim.start(shape)
  const canary = await Canary.make(victim.port)
  const timed = async (name: string, run: () => Promise<void>): Promise<void> => {
    const begin = performance.now()
    await run()
    report.group(`${name} (${shape})`, begin)
  }
  if (wants("requests")) await timed("requests", () => HttpRequests.run(victim, shape, canary, report, only))
  if (wants("peers")) await timed("clients", () => HostileClients.overHttp(victim, shape, canary, report, only))
  if (wants("long")) await timed("long calls", async () => report.add(await LongCalls.run(shape, victim, canary)))
  if (wants("readers")) await timed("readers", async () => report.add(await Readers.run(shape, victim, canary)))
  await canary.close()
  await timed("the end", async () => report.add(await Readers.end(shape, victim)))
}

/** Runs each part in a process of its own, and returns whether no attack failed. */
const all = async (): Promise<boolean> => {
  const ends = Object.keys(PARTS).map((part) =>
    once(spawn(process.execPath, [fileURLToPath(import.meta.url), part], { stdio: "inherit" }), "exit")
  )
  return (await Promise.all(ends)).every(([code]) => code === 0)
}

const parts = async (): Promise<boolean> => {
  if (isIn("over HTTP") && ["requests", "peers", "readers", "long"].some(wants)) {
    await overHttp("node")
    await overHttp("platform")
    await overHttp("web")
  }
  if (isIn("on pipes") && wants("peers")) {
    const begin = performance.now()
    await HostileClients.inMemory(report, only)
    await HostileClients.overStdio(report, only)
    report.group("clients in memory and over stdio", begin)
  }
  if (wants("emitters")) {
    const begin = performance.now()
    for (const shape of ["node", "platform", "stdio"] as const) report.add(await Emitters.run(shape))
    report.group("emitters", begin)
  }
  if (wants("hostile")) await HostileServers.run(report, only)
  if (wants("documents")) {
    const begin = performance.now()
    for (const outcome of await Documents.run(only)) report.add(outcome)
    report.group("documents", begin)
  }
  if (wants("users")) {
    const begin = performance.now()
    for (const outcome of await Users.run(only)) report.add(outcome)
    report.group("users", begin)
  }
  console.log(`${report.total} attacks, ${report.faults} failed`)
  return report.faults === 0
}

process.exit(await (suite === undefined ? all() : parts()) ? 0 : 1)
