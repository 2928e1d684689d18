/**
 * Plays every hostile client against the server, over each of its transports, while a canary calls the same server. The canary uses HTTP,
 * also when the attacker uses standard streams; in memory it has a connection of its own.
 */
import { setTimeout as sleep } from "node:timers/promises"
import * as Sessions from "./Canary.js"
import { type Canary, initialize } from "./Canary.js"
import * as Growth from "./Growth.js"
import { attacks as floods } from "./peers/Floods.js"
import { attacks as handshakes } from "./peers/Handshakes.js"
import { attacks as modern, conversations } from "./peers/Modern.js"
import type { Expected, PeerAttack } from "./peers/Peer.js"
import { attacks as posts } from "./peers/Posts.js"
import { attacks as values } from "./peers/Values.js"
import * as Wire from "./peers/Wire.js"
import type { Report } from "./Report.js"
import * as Victim from "./Victim.js"

export const attacks: ReadonlyArray<PeerAttack> = [...values, ...floods, ...handshakes]

/** How long an answer may take, in milliseconds: this machine also plays the client. */
const PATIENCE = 30_000

/** A connection of the attacker, and another client of the same server. */
interface Connected extends Wire.Wire {
  readonly canary: Pick<Canary, "sing">
}

interface Subject {
  readonly name: string
  readonly open: (onMessage: Wire.OnMessage) => Promise<Connected>
  /** Processor time of the server since its start, and the bytes that it holds if they are asked for. */
  readonly measure: (collect?: boolean) => Promise<{ readonly cpu: number; readonly held: number }>
  /** Whether each message is a request of its own. */
  readonly isHttp?: boolean
}

const fits = (expected: Expected, answer: any): boolean => {
  if (expected === "none") return answer === undefined
  if (answer === undefined) return false
  if (expected === "answer") return true
  if (expected === "error") return answer.error !== undefined
  return expected === "result" ? answer.result !== undefined : answer.error?.code === expected
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 300)

/** The answers that an attack gets, and how it waits for them. */
const answersTo = (attack: PeerAttack, send: (text: string) => void) => {
  const wanted = new Set(["initialize", ...Object.keys(attack.expect)])
  const answers = new Map<string, unknown>()
  let changed: () => void = () => {}
  return {
    get: (id: string): unknown => answers.get(id),
    onMessage: (message: any): void => {
      const id = String(message.id)
      if (message.method === undefined) {
        const more = attack.onAnswer?.(message)
        if (more !== undefined) void Promise.resolve(more).then((texts) => texts.forEach(send))
        // Of several answers under one id, an error matters most. No other answer is kept: kept answers would count as memory of a server
        // in this process.
        if (wanted.has(id) && (!answers.has(id) || message.error !== undefined)) answers.set(id, message)
      } else if (message.id !== undefined) {
        for (const text of attack.onRequest?.(message) ?? []) send(text)
      }
      changed()
    },
    arrive: async (ids: ReadonlyArray<string>): Promise<void> => {
      const deadline = AbortSignal.timeout(PATIENCE)
      while (!ids.every((id) => answers.has(id)) && !deadline.aborted) {
        await new Promise<void>((resolve) => {
          changed = resolve
          setTimeout(resolve, 100)
        })
      }
    }
  }
}

/** In a function of its own: an async function that waits may hold what it has computed. */
const sendAll = (attack: PeerAttack, send: (text: string) => void): void => attack.send().forEach(send)

/** Plays an attack, and adds what went wrong to `faults`. With `counts`, also measures the memory that the server holds for the attack. */
const play = async (
  subject: Subject,
  attack: PeerAttack,
  counts: boolean,
  faults: Array<string>
): Promise<Growth.Spent> => {
  const send = (text: string): void => wire.send(text)
  const answers = answersTo(attack, send)
  const wire = await subject.open(answers.onMessage)
  if (attack.version !== "none") {
    send(JSON.stringify(initialize("initialize", attack.version)))
    await answers.arrive(["initialize"])
    send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }))
  }
  const before = await subject.measure(counts)
  sendAll(attack, send)
  const sung = wire.canary.sing().then(() => undefined, (error: unknown) => String(error))
  await answers.arrive(Object.entries(attack.expect).flatMap(([id, expected]) => expected === "none" ? [] : [id]))
  const after = await subject.measure()
  const { held } = counts ? await subject.measure(true) : after
  for (const [id, expected] of Object.entries(attack.expect)) {
    const answer = answers.get(id)
    if (!fits(expected, answer)) faults.push(`expected ${expected} for ${id}, got ${shown(answer)}`)
  }
  const song = await sung
  if (song !== undefined) faults.push(`the canary: ${song}`)
  await wire.close()
  return { cost: after.cpu - before.cpu, held: counts ? held - before.held : undefined }
}

const once = async (subject: Subject, transport: string, attack: PeerAttack) => {
  const faults: Array<string> = []
  const compares = Growth.isCompared(attack, transport)
  const { cost, faults: grown, share } = await Growth.measure(
    subject.isHttp === true && attack.overHttp !== undefined ? attack.overHttp() : attack,
    (attack, isFirst) => play(subject, attack, compares && subject.isHttp !== true, isFirst ? faults : []),
    compares
  )
  return { name: `${subject.name}: ${attack.name}`, faults: [...faults, ...grown], cost, share }
}

const runOver = async (
  subject: Subject,
  report: Report,
  only: string | undefined,
  some: ReadonlyArray<PeerAttack> = attacks
): Promise<void> => {
  const transport = subject.name.split(" ")[0]!
  for (const attack of some) {
    if (only !== undefined && !attack.name.includes(only)) continue
    if (attack.over !== undefined && !attack.over.includes(transport)) continue
    report.add(await once(subject, transport, attack))
  }
}

export const overHttp = async (
  victim: Victim.Victim,
  shape: string,
  canary: Canary,
  report: Report,
  only: string | undefined
): Promise<void> => {
  const { measure, port } = victim
  const over = (name: string, open: (port: number, onMessage: Wire.OnMessage) => Wire.Wire | Promise<Wire.Wire>) => ({
    name: `${name} (${shape})`,
    open: async (onMessage: Wire.OnMessage) => ({ ...await open(port, onMessage), canary }),
    measure,
    isHttp: true
  })
  await runOver(over("http", Wire.session), report, only)
  await runOver(over("sse", Wire.sse), report, only)
  await runOver(over("modern", Wire.modern), report, only, [...modern, ...posts])
}

export const inMemory = async (report: Report, only: string | undefined): Promise<void> => {
  const measure = async (collect = false) => ({ held: collect ? await Growth.held() : 0, cpu: Growth.cpu() })
  const open = async (onMessage: Wire.OnMessage) => {
    const server = await Wire.memoryServer()
    const canary = await Wire.memoryCanary(server)
    const { send } = await server.connect(onMessage)
    return { send, canary, close: server.close }
  }
  await runOver({ name: "memory", open, measure }, report, only, [...attacks, ...modern])
}

export const overStdio = async (report: Report, only: string | undefined): Promise<void> => {
  let victim: Victim.Victim | undefined
  const open = async (onMessage: Wire.OnMessage): Promise<Connected> => {
    victim = await Victim.start("stdio")
    const { close, send } = Wire.stdio(victim, onMessage)
    const canary = await Sessions.make(victim.port)
    // The first call of a process compiles what it runs: that is not a cost of the attack.
    await canary.sing()
    return {
      send,
      canary,
      close: async () => {
        await canary.close()
        await close()
        const { code, millis } = await victim!.stop()
        if (code !== 0 || millis > 7000) throw new Error(`the server ended with ${code} after ${millis} ms`)
        await sleep(0)
      }
    }
  }
  // Each attack has a process of its own. The attacks of `Values` are left out: their parameters cost the same in memory.
  await runOver({ name: "stdio", open, measure: (collect) => victim!.measure(collect) }, report, only, [
    ...floods,
    ...handshakes,
    ...conversations
  ])
}
