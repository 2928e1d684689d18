/**
 * Lets a client of this library meet every hostile server, over each transport, while a canary, another client in this process, calls a
 * healthy server.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Connector from "@effect-mcp/core/Connector"
import type { Message } from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as Remote from "@effect-mcp/core/Remote"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Growth from "./Growth.js"
import { attacks } from "./hostile/All.js"
import type { ServerAttack } from "./hostile/Server.js"
import * as Server from "./hostile/Server.js"
import { inTurns } from "./peers/Wire.js"
import type { Report } from "./Report.js"
import { reported } from "./Victim.js"

const program = fileURLToPath(new URL("hostile/program.js", import.meta.url))

/** `isQuarter`: the server plays the quarter of the attack of this name. */
type Connect = (attack: ServerAttack, isQuarter: boolean) => Connector.Connector

const memory: Connect = (attack) =>
  Connector.make(
    attack.name,
    Effect.map(Mailbox.make<ReturnType<typeof MessageText.parse>>(), (inbox) => {
      const write = inTurns((text) => void inbox.unsafeOffer(MessageText.parse(text)))
      const unsafeSend = (message: Message): boolean => {
        const text = MessageText.stringify(message)!
        setImmediate(() => Server.answers(attack, text).forEach(write))
        return true
      }
      return {
        incoming: Mailbox.toStream(inbox),
        unsafeSend,
        send: (message: Message) => Effect.sync(() => void unsafeSend(message))
      }
    })
  )

const stdio: Connect = ({ name }, isQuarter) =>
  StdioClient.connector({
    command: process.execPath,
    args: [program, "stdio", name, ...(isQuarter ? ["quarter"] : [])],
    stderr: "ignore"
  })

const http = (port: number): Connect => ({ name }, isQuarter) => {
  const path = `${encodeURIComponent(name)}${isQuarter ? "/quarter" : ""}`
  const remote = Remote.connector(`http://127.0.0.1:${port}/${path}`, {
    headers: { authorization: "Bearer hostile-token" },
    authorize: () => Effect.succeed({ authorization: "Bearer hostile-token" })
  })
  return { ...remote, connect: Effect.provide(remote.connect, NodeHttpClient.layer) } as Connector.Connector
}

const use = ({ use = "call" }: ServerAttack) =>
  Effect.flatMap(Client.Client, (client): Effect.Effect<unknown, unknown> => {
    if (use === "connect") return Effect.void
    if (use === "list") return client.listTools()
    if (use === "calls") return Effect.replicateEffect(client.callTool("echo", {}), 100, { discard: true })
    if (use === "all") return Stream.runDrain(client.tools)
    if (use === "read") return client.readResource("test://a")
    if (use === "prompts") return client.listPrompts()
    if (use === "subscribe") return client.subscribeResource("test://a")
    // In this time, a client that does not pause sends many requests.
    if (use === "stay") return Effect.sleep("2 seconds")
    return Effect.zipRight(Effect.ignore(client.listTools()), client.callTool("echo", {}))
  })

const healthy: ServerAttack = { name: "healthy" }

/** Answers the questions of a modern server: a client that refused the questions would end the call in the first round. */
const features = ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: {} }))

/** Whether the call must end with a certain answer or error: then its time limits are long, because the machine may have other work. */
const isCertain = ({ expect, says }: ServerAttack): boolean => expect === "ok" || says !== undefined

/** Connects a client, and lets it use the server. `spent` runs when the client has ended its work, and is still connected. */
const meet = (connector: Connector.Connector, attack: ServerAttack, spent: Effect.Effect<void>) =>
  use(attack).pipe(
    Effect.timeout(isCertain(attack) ? "70 seconds" : "1500 millis"),
    Effect.ensuring(spent),
    Effect.provide(Client.layer(connector, {
      timeout: isCertain(attack) ? "60 seconds" : "1 second",
      ...(attack.era === "modern" ? { features } : undefined)
    })),
    Effect.timeout("80 seconds"),
    Effect.either,
    Logger.withMinimumLogLevel(LogLevel.None)
  )

/** What the hostile server over HTTP has received. */
type Seen = (attack: ServerAttack) => Promise<{ readonly requests: number; readonly stolen: number }>

/** Plays an attack, and adds what went wrong to `faults`. */
const play = async (
  connector: Connector.Connector,
  attack: ServerAttack,
  seen: Seen | undefined,
  counts: boolean,
  faults: Array<string>
): Promise<Growth.Spent> => {
  const seenBefore = await seen?.(attack)
  const canary = Effect.runPromise(Effect.either(
    use(healthy).pipe(
      Effect.provide(Client.layer(memory(healthy, false))),
      Effect.timeout("10 seconds")
    )
  ))
  const before = { held: counts ? await Growth.held() : 0, cpu: Growth.cpu() }
  let [cpu, held] = [before.cpu, before.held]
  const spent = Effect.promise(async () => {
    cpu = Growth.cpu()
    if (counts) held = await Growth.held()
  })
  const outcome = await Effect.runPromise(meet(connector, attack, spent))
  // When the client has not connected, `spent` has not run.
  if (cpu === before.cpu) cpu = Growth.cpu()
  const song = await canary
  const ok = Either.isRight(outcome)
  const error = Either.isLeft(outcome) ? String(outcome.left) : ""
  if (attack.expect === "ok" && !ok) faults.push(`failed: ${error.slice(0, 300)}`)
  if (attack.says?.test(error) === false) faults.push(`the error: ${error.slice(0, 300)}`)
  if (attack.expect === "fails" && ok) faults.push("succeeded")
  if (Either.isLeft(song)) faults.push(`the canary: ${String(song.left)}`)
  if (seen !== undefined && seenBefore !== undefined) {
    const { requests, stolen } = await seen(attack)
    if (stolen > seenBefore.stolen) faults.push("another origin received a request")
    if (attack.atMost !== undefined && requests - seenBefore.requests > attack.atMost) {
      faults.push(`the client sent ${requests - seenBefore.requests} requests`)
    }
  }
  return { cost: cpu - before.cpu, held: counts ? held - before.held : undefined }
}

const once = async (transport: string, connect: Connect, attack: ServerAttack, seen: Seen | undefined) => {
  const faults: Array<string> = []
  const compares = Growth.isCompared(attack, transport)
  const { cost, faults: grown, share } = await Growth.measure(
    attack,
    (one, isFirst) => play(connect(one, one !== attack), one, seen, compares, isFirst ? faults : []),
    compares
  )
  return { name: `${transport}: ${attack.name}`, faults: [...faults, ...grown], cost, share }
}

export const run = async (report: Report, only: string | undefined): Promise<void> => {
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
      report.add(await once(transport, connect, attack, transport === "http" ? seen : undefined))
    }
    report.group(`servers over ${transport}`, begin)
  }
  child.kill()
}
