/**
 * Lets a client of ours meet every hostile server, over each transport, while a canary, another client in this process,
 * calls a healthy server.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Client from "@effect-mcp/client/Client"
import * as ServerConnector from "@effect-mcp/client/Remote"
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import type { Message } from "@effect-mcp/jsonrpc/Message"
import * as MessageText from "@effect-mcp/jsonrpc/MessageText"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Mailbox from "effect/Mailbox"
import { spawn } from "node:child_process"
import { once as event } from "node:events"
import { fileURLToPath } from "node:url"
import { attacks } from "./hostile/Attacks.js"
import type { ServerAttack } from "./hostile/Server.js"
import * as Server from "./hostile/Server.js"
import { LIMIT } from "./Limit.js"
import type { Report } from "./Report.js"
import * as Turns from "./victim/Turns.js"

const program = fileURLToPath(new URL("hostile/program.js", import.meta.url))

type Connect = (attack: ServerAttack) => Connector.Connector

/** The server's texts arrive as they would on a wire, in later turns. */
const memory: Connect = (attack) =>
  Connector.make(
    attack.name,
    Effect.map(Mailbox.make<ReturnType<typeof MessageText.parse>>(), (inbox) => {
      const unsafeSend = (message: Message): boolean => {
        const text = MessageText.stringify(message)!
        setImmediate(() => {
          for (const answer of Server.answers(attack, text)) inbox.unsafeOffer(MessageText.parse(answer))
        })
        return true
      }
      return {
        incoming: Mailbox.toStream(inbox),
        unsafeSend,
        send: (message: Message) => Effect.sync(() => void unsafeSend(message))
      }
    })
  )

const stdio: Connect = ({ name }) =>
  StdioClient.connector({ command: process.execPath, args: [program, "stdio", name], stderr: "ignore" })

const http = (port: number): Connect => ({ name }) => {
  const remote = ServerConnector.connector(`http://127.0.0.1:${port}/${encodeURIComponent(name)}`)
  return { ...remote, connect: Effect.provide(remote.connect, NodeHttpClient.layer) } as Connector.Connector
}

const use = ({ use = "call" }: ServerAttack) =>
  Effect.flatMap(Client.Client, (client): Effect.Effect<unknown, unknown> => {
    if (use === "connect") return Effect.void
    if (use === "list") return client.listTools()
    if (use === "read") return client.readResource("test://a")
    if (use === "prompts") return client.listPrompts()
    return Effect.zipRight(Effect.ignore(client.listTools()), client.callTool("echo", {}))
  })

const healthy: ServerAttack = { name: "healthy" }

const meet = (connect: Connect, attack: ServerAttack) =>
  use(attack).pipe(
    Effect.timeout(attack.expect === "ok" ? "15 seconds" : "1500 millis"),
    // Where the answer is to come, it may take longer on a machine that has other work.
    Effect.provide(Client.layer(connect(attack), { timeout: attack.expect === "ok" ? "10 seconds" : "1 second" })),
    Effect.timeout("20 seconds"),
    Effect.either,
    Logger.withMinimumLogLevel(LogLevel.None)
  )

const once = async (transport: string, connect: Connect, attack: ServerAttack, turns: Turns.Turns) => {
  const faults: Array<string> = []
  let longest = Infinity
  for (let attempt = 0; attempt < 3 && longest > LIMIT; attempt++) {
    turns.read()
    const canary = Effect.runPromise(Effect.either(
      use(healthy).pipe(
        Effect.provide(Client.layer(memory(healthy))),
        Effect.timeout("10 seconds")
      )
    ))
    const outcome = await Effect.runPromise(meet(connect, attack))
    longest = Math.min(longest, turns.read().longest)
    const song = await canary
    if (attempt > 0) continue
    const ok = Either.isRight(outcome)
    if (attack.expect === "ok" && !ok) {
      faults.push(`failed: ${String(Either.isLeft(outcome) ? outcome.left : "").slice(0, 300)}`)
    }
    if (attack.expect === "fails" && ok) faults.push("succeeded")
    if (Either.isLeft(song)) faults.push(`the canary: ${String(song.left)}`)
  }
  if (longest > LIMIT) faults.push(`a turn took ${longest.toFixed(0)} ms of processor time`)
  return { name: `${transport}: ${attack.name}`, faults, cost: longest }
}

export const run = async (report: Report, only: string | undefined): Promise<void> => {
  const turns = Turns.watch()
  const child = spawn(process.execPath, [program, "http"], { stdio: ["ignore", "inherit", "inherit", "ipc"] })
  const [{ port }] = await event(child, "message")
  const transports = { memory, stdio, http: http(port) }
  for (const [transport, connect] of Object.entries(transports)) {
    const begin = performance.now()
    for (const attack of attacks) {
      if (only !== undefined && !attack.name.includes(only)) continue
      if (attack.over !== undefined && !attack.over.includes(transport)) continue
      report.add(await once(transport, connect, attack, turns))
    }
    report.group(`servers over ${transport}`, begin)
  }
  child.kill()
}
