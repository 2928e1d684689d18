/**
 * `startup.ts` loads this module before each of its programs. When the process exits, the module writes what the process has used to the
 * file descriptor 3, and `startup.ts` reads it.
 */
import { writeSync } from "node:fs"

process.on("exit", () => {
  const { maxRSS, systemCPUTime, userCPUTime } = process.resourceUsage()
  writeSync(3, JSON.stringify({ milliseconds: (userCPUTime + systemCPUTime) / 1000, mebibytes: maxRSS / 1024 }))
})
