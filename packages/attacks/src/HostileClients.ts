/**
 * Plays every hostile client against the server, over each transport that carries it, while a canary calls the server on
 * another session: over HTTP, also on the server that the attacker reaches over standard streams; in memory, on a pipe of its own.
 */
import { setTimeout as sleep } from "node:timers/promises"
import * as Sessions from "./Canary.js"
import { type Canary, initialize } from "./Canary.js"
import * as Limit from "./Limit.js"
import { attacks as floods } from "./peers/Floods.js"
import { attacks as handshakes } from "./peers/Handshakes.js"
import { attacks as modern, conversations } from "./peers/Modern.js"
import type { Expected, PeerAttack } from "./peers/Peer.js"
import { attacks as values } from "./peers/Values.js"
import * as Wire from "./peers/Wire.js"
import type { Report } from "./Report.js"
import * as Victim from "./Victim.js"
import * as Turns from "./victim/Turns.js"

export const attacks: ReadonlyArray<PeerAttack> = [...values, ...floods, ...handshakes]

/** How long an answer may take, in milliseconds: this machine also plays the client. */
const PATIENCE = 8000

/** A connection of the attacker, and another client of the same server. */
interface Connected extends Wire.Wire {
  readonly canary: Pick<Canary, "sing">
}

interface Subject {
  readonly name: string
  readonly open: (onMessage: Wire.OnMessage) => Promise<Connected>
  readonly measure: () => Promise<{ readonly cpu: number; readonly longest: number }>
  /** Whether the server runs in the process of the attacker. */
  readonly isShared?: boolean
  /** The most messages of a flood. In memory the attacker spends the time of the server, over HTTP each message is a request. */
  readonly most: number
}

const fits = (expected: Expected, answer: any): boolean => {
  if (expected === "none") return answer === undefined
  if (answer === undefined) return false
  if (expected === "answer") return true
  if (expected === "error") return answer.error !== undefined
  return expected === "result" ? answer.result !== undefined : answer.error?.code === expected
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 300)

const play = async (subject: Subject, attack: PeerAttack) => {
  const faults: Array<string> = []
  const answers = new Map<string, unknown>()
  const scale = (count: number): number => Math.min(count, subject.most)
  let changed: () => void = () => {}
  let sent = 0
  const send = (text: string): void => {
    sent++
    wire.send(text)
  }
  const wire = await subject.open((message) => {
    if (message.method === undefined) {
      const more = attack.onAnswer?.(message)
      if (more !== undefined) void Promise.resolve(more).then((texts) => texts.forEach(send))
      const known = answers.get(String(message.id))
      // Of several answers under one id, an error is the one that matters.
      if (known === undefined || message.error !== undefined) answers.set(String(message.id), message)
    } else if (message.id !== undefined) {
      for (const text of attack.onRequest?.(message) ?? []) send(text)
    }
    changed()
  })
  const arrive = async (ids: ReadonlyArray<string>): Promise<void> => {
    const deadline = AbortSignal.timeout(PATIENCE)
    while (!ids.every((id) => answers.has(id)) && !deadline.aborted) {
      await new Promise<void>((resolve) => {
        changed = resolve
        setTimeout(resolve, 100)
      })
    }
  }
  if (attack.version !== "none") {
    send(JSON.stringify(initialize("initialize", attack.version)))
    await arrive(["initialize"])
    send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }))
  }
  const texts = attack.send(scale)
  const before = await subject.measure()
  sent = 0
  for (const text of texts) send(text)
  const sung = wire.canary.sing().then(() => undefined, (error: unknown) => String(error))
  await arrive(Object.entries(attack.expect).flatMap(([id, expected]) => expected === "none" ? [] : [id]))
  const after = await subject.measure()
  for (const [id, expected] of Object.entries(attack.expect)) {
    const answer = answers.get(id)
    if (!fits(expected, answer)) faults.push(`expected ${expected} for ${id}, got ${shown(answer)}`)
  }
  const song = await sung
  if (song !== undefined) faults.push(`the canary: ${song}`)
  await wire.close()
  const cost = after.cpu - before.cpu
  return { faults, cost: cost / Math.max(1, sent / 50), longest: after.longest }
}

const once = async (subject: Subject, attack: PeerAttack) => {
  // In memory the attacker writes and reads its messages in the same process.
  const parts = subject.isShared === true ? 2 : 1
  const faults: Array<string> = []
  let cost = Limit.none
  let longest = Limit.none
  for (let attempt = 0; attempt < 6 && (cost.share > 1 || longest.share > 1); attempt++) {
    const played = await play(subject, attack)
    if (attempt === 0) played.faults.forEach((fault) => faults.push(fault))
    cost = Limit.least(cost, played.cost, parts)
    longest = Limit.least(longest, played.longest, parts)
  }
  if (cost.share > 1) faults.push(`a message cost ${cost.millis.toFixed(0)} ms of processor time`)
  if (longest.share > 1) faults.push(`a turn took ${longest.millis.toFixed(0)} ms`)
  const name = `${subject.name}: ${attack.name}`
  return { name, faults, cost: cost.millis, share: Math.max(cost.share, longest.share) }
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
    report.add(await once(subject, attack))
  }
}

export const overHttp = async (
  victim: Victim.Victim,
  shell: string,
  canary: Canary,
  report: Report,
  only: string | undefined
): Promise<void> => {
  const { measure, port } = victim
  const over = (name: string, open: (port: number, onMessage: Wire.OnMessage) => Wire.Wire | Promise<Wire.Wire>) => ({
    name: `${name} (${shell})`,
    open: async (onMessage: Wire.OnMessage) => ({ ...await open(port, onMessage), canary }),
    measure,
    most: 200
  })
  await runOver(over("http", Wire.session), report, only)
  await runOver(over("sse", Wire.sse), report, only)
  await runOver(over("modern", Wire.modern), report, only, modern)
}

export const inMemory = async (report: Report, only: string | undefined): Promise<void> => {
  const turns = Turns.watch()
  const open = async (onMessage: Wire.OnMessage) => {
    const server = await Wire.memoryServer()
    const canary = await Wire.memoryCanary(server)
    const { send } = await server.connect(onMessage)
    return { send, canary, close: server.close }
  }
  await runOver({ name: "memory", open, measure: async () => turns.read(), isShared: true, most: 5000 }, report, only, [
    ...attacks,
    ...modern
  ])
}

export const overStdio = async (report: Report, only: string | undefined): Promise<void> => {
  let victim: Victim.Victim | undefined
  const open = async (onMessage: Wire.OnMessage): Promise<Connected> => {
    victim = await Victim.start("stdio")
    const { close, send } = Wire.stdio(victim, onMessage)
    const canary = await Sessions.make(victim.port)
    // The first call of a process compiles what it runs: that is no cost of the attack.
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
  // A process for each: parameters cost the same in memory.
  await runOver({ name: "stdio", open, measure: () => victim!.measure(), most: Infinity }, report, only, [
    ...floods,
    ...handshakes,
    ...conversations
  ])
}
