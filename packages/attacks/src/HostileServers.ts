/**
 * Lets a client of ours meet every hostile server, over each transport, while a canary, another client in this process,
 * calls a healthy server.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Client from "@effect-mcp/client/Client"
import * as Features from "@effect-mcp/client/Features"
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
import { fileURLToPath } from "node:url"
import { attacks } from "./hostile/All.js"
import type { ServerAttack } from "./hostile/Server.js"
import * as Server from "./hostile/Server.js"
import * as Limit from "./Limit.js"
import type { Report } from "./Report.js"
import { reported } from "./Victim.js"
import * as Turns from "./victim/Turns.js"

const program = fileURLToPath(new URL("hostile/program.js", import.meta.url))

type Connect = (attack: ServerAttack) => Connector.Connector

/** How many characters arrive in one turn, at least: what one read of a pipe gives. */
const READ = 65_536

/** The server's texts arrive as they would on a wire, in later turns than the one in which the server writes them. */
const memory: Connect = (attack) =>
  Connector.make(
    attack.name,
    Effect.map(Mailbox.make<ReturnType<typeof MessageText.parse>>(), (inbox) => {
      const written: Array<string> = []
      const read = (): void => {
        for (let length = 0; length < READ && written.length > 0;) {
          const text = written.shift()!
          length += text.length
          inbox.unsafeOffer(MessageText.parse(text))
        }
        if (written.length > 0) setImmediate(read)
      }
      const unsafeSend = (message: Message): boolean => {
        const text = MessageText.stringify(message)!
        setImmediate(() => {
          if (written.length === 0) setImmediate(read)
          for (const answer of Server.answers(attack, text)) written.push(answer)
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
  const remote = ServerConnector.connector(`http://127.0.0.1:${port}/${encodeURIComponent(name)}`, {
    headers: { authorization: "Bearer secret" },
    authorize: () => Effect.succeed({ authorization: "Bearer secret" })
  })
  return { ...remote, connect: Effect.provide(remote.connect, NodeHttpClient.layer) } as Connector.Connector
}

const use = ({ use = "call" }: ServerAttack) =>
  Effect.flatMap(Client.Client, (client): Effect.Effect<unknown, unknown> => {
    if (use === "connect") return Effect.void
    if (use === "list") return client.listTools()
    if (use === "read") return client.readResource("test://a")
    if (use === "prompts") return client.listPrompts()
    if (use === "subscribe") return client.subscribeResource("test://a")
    // As long as a client that hurries would need to send many requests.
    if (use === "stay") return Effect.sleep("2 seconds")
    return Effect.zipRight(Effect.ignore(client.listTools()), client.callTool("echo", {}))
  })

const healthy: ServerAttack = { name: "healthy" }

/** Questions of a modern server are answered: a client that refused them would end the first round. */
const features = Features.elicitation(() => Effect.succeed({ action: "accept", content: {} }))

/** Whether the call must end with a certain answer or error. It may take longer on a machine that has other work. */
const isCertain = ({ expect, says }: ServerAttack): boolean => expect === "ok" || says !== undefined

const meet = (connect: Connect, attack: ServerAttack) =>
  use(attack).pipe(
    Effect.timeout(isCertain(attack) ? "30 seconds" : "1500 millis"),
    Effect.provide(Client.layer(connect(attack), {
      timeout: isCertain(attack) ? "25 seconds" : "1 second",
      ...(attack.era === "modern" ? { features } : undefined)
    })),
    Effect.timeout("40 seconds"),
    Effect.either,
    Logger.withMinimumLogLevel(LogLevel.None)
  )

/** What the hostile server over HTTP has received. */
type Seen = (attack: ServerAttack) => Promise<{ readonly requests: number; readonly stolen: number }>

const once = async (transport: string, connect: Connect, attack: ServerAttack, turns: Turns.Turns, seen: Seen) => {
  const faults: Array<string> = []
  let longest = Limit.none
  const before = await seen(attack)
  for (let attempt = 0; attempt < 3 && longest.share > 1; attempt++) {
    turns.read()
    const canary = Effect.runPromise(Effect.either(
      use(healthy).pipe(
        Effect.provide(Client.layer(memory(healthy))),
        Effect.timeout("10 seconds")
      )
    ))
    const outcome = await Effect.runPromise(meet(connect, attack))
    longest = Limit.least(longest, turns.read().longest)
    const song = await canary
    if (attempt > 0) continue
    const ok = Either.isRight(outcome)
    const error = Either.isLeft(outcome) ? String(outcome.left) : ""
    if (attack.expect === "ok" && !ok) faults.push(`failed: ${error.slice(0, 300)}`)
    if (attack.says?.test(error) === false) faults.push(`the error: ${error.slice(0, 300)}`)
    if (attack.expect === "fails" && ok) faults.push("succeeded")
    if (Either.isLeft(song)) faults.push(`the canary: ${String(song.left)}`)
    if (transport !== "http") continue
    const { requests, stolen } = await seen(attack)
    if (stolen > before.stolen) faults.push("another origin received a request")
    if (attack.atMost !== undefined && requests - before.requests > attack.atMost) {
      faults.push(`the client sent ${requests - before.requests} requests`)
    }
  }
  if (longest.share > 1) faults.push(`a turn took ${longest.millis.toFixed(0)} ms of processor time`)
  return { name: `${transport}: ${attack.name}`, faults, cost: longest.millis, share: longest.share }
}

export const run = async (report: Report, only: string | undefined): Promise<void> => {
  const turns = Turns.watch()
  const child = spawn(process.execPath, [program, "http"], { stdio: ["ignore", "inherit", "inherit", "ipc"] })
  const { port } = await reported<{ readonly port: number }>(child, "The hostile server")
  const seen: Seen = async ({ name }) =>
    (await fetch(`http://127.0.0.1:${port}/seen/${encodeURIComponent(name)}`)).json() as ReturnType<Seen>
  const transports = { memory, stdio, http: http(port) }
  for (const [transport, connect] of Object.entries(transports)) {
    const begin = performance.now()
    for (const attack of attacks) {
      if (only !== undefined && !attack.name.includes(only)) continue
      if (attack.over !== undefined && !attack.over.includes(transport)) continue
      report.add(await once(transport, connect, attack, turns, seen))
    }
    report.group(`servers over ${transport}`, begin)
  }
  child.kill()
}
