/**
 * One HTTP server in a process of its own, to measure its processor time alone: `served.js <server>` sends its URL to the
 * parent process, and answers each message with the processor time so far. `subjects/http` calls it.
 */
import type { Start } from "./servers/Start.js"

const servers: Readonly<Record<string, () => Promise<Start>>> = {
  own: () => import("./servers/own.js").then(({ onNode }) => onNode),
  "own-web": () => import("./servers/own.js").then(({ onHono }) => onHono),
  "own-app": () => import("./servers/own.js").then(({ onPlatform }) => onPlatform),
  sdk1: () => import("./servers/sdk1.js").then(({ start }) => start),
  sdk2: () => import("./servers/sdk2.js").then(({ start }) => start),
  node: () => import("./servers/node.js").then(({ start }) => start)
}

const report = (message: unknown) => process.send!(message)

process.on("message", () => {
  const { system, user } = process.cpuUsage()
  report({ microseconds: user + system })
})
process.on("disconnect", () => process.exit(0))

const start = await servers[process.argv[2] ?? ""]!()
start((url) => report({ url }))
