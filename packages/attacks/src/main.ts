/**
 * Runs the attackers' suite: `node main.js [suite] [part of a name]`. The suites: `requests`, `peers`, `hostile`, `readers`.
 * The exit code is 1 when an attack did not end as expected.
 */
import * as Canary from "./Canary.js"
import * as HttpRequests from "./HttpRequests.js"
import { Report } from "./Report.js"
import * as Victim from "./Victim.js"

const [suite, only] = process.argv.slice(2)

const report = new Report(process.env.CI !== undefined)

const overHttp = async (shell: Victim.Shell): Promise<void> => {
  const begin = performance.now()
  const victim = await Victim.start(shell)
  const canary = await Canary.make(victim.port)
  await HttpRequests.run(victim, canary, report, only)
  await canary.close()
  report.group(`requests to ${shell}`, begin)
  const { code, millis } = await victim.stop()
  console.log(shell, code, millis)
}

if (suite === undefined || suite === "requests") {
  await overHttp("node")
  await overHttp("platform")
}
console.log(`${report.total} attacks, ${report.faults} failed`)
process.exitCode = report.faults === 0 ? 0 : 1
