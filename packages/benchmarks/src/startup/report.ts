/**
 * Loaded before each program of this folder: reports what its process has used, on the descriptor 3, when the process exits.
 * `startup.ts` reads the report.
 */
import { writeSync } from "node:fs"

process.on("exit", () => {
  const { maxRSS, systemCPUTime, userCPUTime } = process.resourceUsage()
  writeSync(3, JSON.stringify({ milliseconds: (userCPUTime + systemCPUTime) / 1000, mebibytes: maxRSS / 1024 }))
})
