/**
 * One node of the server as a process of its own. What it reports goes to the program that has started it; any other line that it
 * prints, to the standard error of that program.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { fileURLToPath } from "node:url"
import { NodeConfig, Report } from "../NodeConfig.js"
import * as Child from "./Child.js"
import * as Place from "./Place.js"
import * as Restartable from "./Restartable.js"

/**
 * `signal("SIGTERM")` shuts the node down in order, `kill` ends it without a word, `signal("SIGSTOP")` suspends it. `restart` starts it
 * again at the same port.
 */
export interface ServerNode extends Restartable.Restartable {
  readonly name: string
  readonly port: number
  /** The URL of its endpoint, which does not pass nginx. */
  readonly url: string
}

export interface Options extends Omit<typeof NodeConfig.Type, "port"> {
  readonly onReport?: ((report: Report) => void) | undefined
}

const decode = Schema.decodeUnknownOption(Report)

const program = fileURLToPath(new URL("../node.js", import.meta.url))

/** Starts a node at a free port, and waits until it serves requests. */
export const start = (
  { onReport, ...config }: Options
): Effect.Effect<ServerNode, Child.ProcessError, Scope.Scope> =>
  Effect.gen(function*() {
    const port = yield* Place.freePort
    const node = yield* Restartable.make(Child.start({
      command: process.execPath,
      args: [program, Schema.encodeSync(NodeConfig)({ ...config, port })],
      isReady: (line) => Option.exists(decode(line), ({ type }) => type === "listening"),
      onLine: (line) =>
        Option.match(decode(line), {
          onNone: () => console.error(`${config.name}: ${line}`),
          onSome: (report) => onReport?.(report)
        })
    }))
    return { ...node, name: config.name, port, url: `http://127.0.0.1:${port}/mcp` }
  })
