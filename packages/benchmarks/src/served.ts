/**
 * One HTTP server in a process of its own, so that its processor time and its heap can be measured alone: `served.js <server>` sends its
 * URL to the parent process, and answers each message with what it has used so far. `ServedProcess` starts this program.
 */
import type { Start } from "./servers/Start.js"

const servers: Readonly<Record<string, () => Promise<Start>>> = {
  own: () => import("./servers/own.js").then(({ onNode }) => onNode),
  protected: () => import("./servers/protected.js").then(({ onNode }) => onNode),
  "own-web": () => import("./servers/own.js").then(({ onHono }) => onHono),
  "own-app": () => import("./servers/own.js").then(({ onPlatform }) => onPlatform),
  "own-wide": () => import("./servers/own.js").then(({ wide }) => wide),
  "nodes-alone": () => import("./servers/nodes.js").then(({ alone }) => alone),
  "nodes-memory": () => import("./servers/nodes.js").then(({ inMemory }) => inMemory),
  "nodes-redis": () => import("./servers/nodes.js").then(({ inRedis }) => inRedis),
  "nodes-postgres": () => import("./servers/nodes.js").then(({ inPostgres }) => inPostgres),
  "own-stateless": () => import("./servers/own.js").then(({ stateless }) => stateless),
  sdk1: () => import("./servers/sdk1.js").then(({ start }) => start),
  "sdk1-streamed": () => import("./servers/sdk1.js").then(({ streamed }) => streamed),
  "sdk1-stateless": () => import("./servers/sdk1.js").then(({ stateless }) => stateless),
  sdk2: () => import("./servers/sdk2.js").then(({ start }) => start),
  "sdk2-sessions": () => import("./servers/sdk2.js").then(({ inSessions }) => inSessions),
  "sdk2-streamed": () => import("./servers/sdk2.js").then(({ streamed }) => streamed),
  "effect-ai": () => import("./servers/others.js").then(({ effectAi }) => effectAi),
  fastmcp: () => import("./servers/others.js").then(({ fastmcp }) => fastmcp),
  tmcp: () => import("./servers/others.js").then(({ tmcp }) => tmcp),
  platform: () => import("./servers/platform.js").then(({ start }) => start),
  node: () => import("./servers/node.js").then(({ start }) => start),
  "node-sessions": () => import("./servers/node.js").then(({ inSessions }) => inSessions),
  "node-streamed": () => import("./servers/node.js").then(({ streamed }) => streamed),
  "node-web": () => import("./servers/node.js").then(({ web }) => web)
}

const report = (message: unknown) => process.send!(message)

process.on("message", ({ collects }: { readonly collects: boolean }) => {
  if (collects) global.gc!()
  const { system, user } = process.cpuUsage()
  report({ microseconds: user + system, heapBytes: collects ? process.memoryUsage().heapUsed : 0 })
})
process.on("disconnect", () => process.exit(0))

const start = await servers[process.argv[2] ?? ""]!()
start((url) => report({ url }))
