/**
 * Runs the attackers' suite: `node main.js [suite] [part of a name]`. The suites: `requests`, `peers`, `readers`,
 * `emitters`, `hostile`.
 * The exit code is 1 when an attack did not end as expected.
 *
 * The attackers are plain async functions on Node's sockets: what they send and count must not depend on the library that
 * they attack, nor on Effect, which it is built on.
 */
import * as Canary from "./Canary.js"
import * as Emitters from "./Emitters.js"
import * as HostileClients from "./HostileClients.js"
import * as HostileServers from "./HostileServers.js"
import * as HttpRequests from "./HttpRequests.js"
import * as Readers from "./Readers.js"
import { Report } from "./Report.js"
import * as Victim from "./Victim.js"

const [suite, only] = process.argv.slice(2)

const wants = (name: string): boolean => suite === undefined || suite === name

const report = new Report(process.env.CI !== undefined)

const overHttp = async (shell: Victim.Shell): Promise<void> => {
  const victim = await Victim.start(shell)
  const canary = await Canary.make(victim.port)
  const timed = async (name: string, run: () => Promise<void>): Promise<void> => {
    const begin = performance.now()
    await run()
    report.group(`${name} (${shell})`, begin)
  }
  if (wants("requests")) await timed("requests", () => HttpRequests.run(victim, shell, canary, report, only))
  if (wants("peers")) await timed("clients", () => HostileClients.overHttp(victim, shell, canary, report, only))
  if (wants("readers")) await timed("readers", async () => report.add(await Readers.run(shell, victim, canary)))
  await canary.close()
  await timed("the end", async () => report.add(await Readers.end(shell, victim)))
}

if (suite !== "hostile" && suite !== "emitters") {
  await overHttp("node")
  await overHttp("platform")
  await overHttp("web")
}
if (wants("peers")) {
  const begin = performance.now()
  await HostileClients.inMemory(report, only)
  await HostileClients.overStdio(report, only)
  report.group("clients in memory and over stdio", begin)
}
if (wants("emitters")) {
  const begin = performance.now()
  for (const shell of ["node", "platform", "stdio"] as const) report.add(await Emitters.run(shell))
  report.group("emitters", begin)
}
if (wants("hostile")) await HostileServers.run(report, only)

console.log(`${report.total} attacks, ${report.faults} failed`)
process.exit(report.faults === 0 ? 0 : 1)
