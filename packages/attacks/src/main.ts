/**
 * Runs the attackers' suite: `node main.js [suite] [part of a name]`. The suites: `requests`, `peers`, `hostile`, `readers`.
 * The exit code is 1 when an attack did not end as expected.
 */
import * as Canary from "./Canary.js"
import * as HostileClients from "./HostileClients.js"
import * as HttpRequests from "./HttpRequests.js"
import { Report } from "./Report.js"
import * as Victim from "./Victim.js"

const [suite, only] = process.argv.slice(2)

const wants = (name: string): boolean => suite === undefined || suite === name

const report = new Report(process.env.CI !== undefined)

const overHttp = async (shell: Victim.Shell): Promise<void> => {
  const begin = performance.now()
  const victim = await Victim.start(shell)
  const canary = await Canary.make(victim.port)
  if (wants("requests")) {
    await HttpRequests.run(victim, canary, report, only)
    report.group(`requests to ${shell}`, begin)
  }
  if (wants("peers")) {
    const second = performance.now()
    await HostileClients.overHttp(victim, shell, canary, report, only)
    report.group(`clients of ${shell}`, second)
  }
  await canary.close()
  const { code, millis } = await victim.stop()
  console.log(shell, code, millis)
}

if (wants("requests") || wants("peers")) {
  await overHttp("node")
  await overHttp("platform")
}
if (wants("peers")) {
  const begin = performance.now()
  await HostileClients.inMemory(report, only)
  await HostileClients.overStdio(report, only)
  report.group("clients in memory and over stdio", begin)
}
console.log(`${report.total} attacks, ${report.faults} failed`)
process.exitCode = report.faults === 0 ? 0 : 1
