/**
 * Plays every hostile client against the server, over each transport that carries it, while a canary calls the server on
 * another session. Over standard streams and in memory, where a server has one client, the canary is that client.
 */
import { setTimeout as sleep } from "node:timers/promises"
import type { Canary } from "./Canary.js"
import { call, initialize } from "./Canary.js"
import { LIMIT } from "./Limit.js"
import { attacks as floods } from "./peers/Floods.js"
import { attacks as handshakes } from "./peers/Handshakes.js"
import type { Expected, PeerAttack } from "./peers/Peer.js"
import { attacks as values } from "./peers/Values.js"
import * as Wire from "./peers/Wire.js"
import type { Report } from "./Report.js"
import * as Victim from "./Victim.js"
import * as Turns from "./victim/Turns.js"

export const attacks: ReadonlyArray<PeerAttack> = [...values, ...floods, ...handshakes]

/** How long an answer may take, in milliseconds: this machine also plays the client. */
const PATIENCE = 8000

interface Subject {
  readonly name: string
  readonly open: (onMessage: Wire.OnMessage) => Wire.Wire | Promise<Wire.Wire>
  readonly measure: () => Promise<{ readonly cpu: number; readonly longest: number }>
  /** `undefined` where the attacker's own conversation is the only one. */
  readonly canary?: Canary | undefined
  /** Whether the server runs in the process of the attacker. */
  readonly isShared?: boolean
  /** The most messages of a flood. In memory the attacker spends the time of the server, over HTTP each message is a request. */
  readonly most: number
}

const fits = (expected: Expected, answer: any): boolean => {
  if (expected === "none") return answer === undefined
  if (answer === undefined) return false
  if (expected === "answer") return true
  return expected === "result" ? answer.result !== undefined : answer.error?.code === expected
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 300)

const play = async (subject: Subject, attack: PeerAttack) => {
  const faults: Array<string> = []
  const answers = new Map<string, unknown>()
  const scale = (count: number): number => Math.min(count, subject.most)
  let changed: () => void = () => {}
  const wire: Wire.Wire = await subject.open((message) => {
    if (message.method === undefined) {
      const known = answers.get(String(message.id))
      // Of several answers under one id, an error is the one that matters.
      if (known === undefined || message.error !== undefined) answers.set(String(message.id), message)
    } else if (message.id !== undefined) {
      for (const text of attack.onRequest?.(message) ?? []) wire.send(text)
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
    wire.send(JSON.stringify(initialize("initialize", attack.version)))
    await arrive(["initialize"])
    wire.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }))
  }
  const texts = attack.send(scale)
  const before = await subject.measure()
  for (const text of texts) wire.send(text)
  const sung = subject.canary?.sing().then(() => undefined, (error: unknown) => String(error))
  await arrive(Object.entries(attack.expect).flatMap(([id, expected]) => expected === "none" ? [] : [id]))
  const after = await subject.measure()
  for (const [id, expected] of Object.entries(attack.expect)) {
    const answer = answers.get(id)
    if (!fits(expected, answer)) faults.push(`expected ${expected} for ${id}, got ${shown(answer)}`)
  }
  const song = await sung
  if (song !== undefined) faults.push(`the canary: ${song}`)
  if (subject.canary === undefined && attack.version !== "none") {
    wire.send(JSON.stringify(call("canary", "echo", { text: "song" })))
    // Waits behind calls that never end.
    if (!attack.name.includes("never end")) {
      await arrive(["canary"])
      if (!fits("result", answers.get("canary"))) faults.push(`the canary got ${shown(answers.get("canary"))}`)
    }
  }
  await wire.close()
  const cost = after.cpu - before.cpu
  return { faults, cost: cost / Math.max(1, texts.length / 50), longest: after.longest }
}

const once = async (subject: Subject, attack: PeerAttack) => {
  // In memory the attacker writes and reads its messages in the same process.
  const limit = subject.isShared === true ? 2 * LIMIT : LIMIT
  const first = await play(subject, attack)
  let { cost, longest } = first
  for (let attempt = 1; attempt < 3 && (cost > limit || longest > limit); attempt++) {
    const again = await play(subject, attack)
    cost = Math.min(cost, again.cost)
    longest = Math.min(longest, again.longest)
  }
  const also = [
    ...(cost > limit ? [`a message cost ${cost.toFixed(0)} ms of processor time`] : []),
    ...(longest > limit ? [`a turn took ${longest.toFixed(0)} ms`] : [])
  ]
  const name = `${subject.name}: ${attack.name}`
  return { name, cost, faults: [...first.faults, ...also] }
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
  await runOver(
    { name: `http (${shell})`, open: (onMessage) => Wire.session(port, onMessage), measure, canary, most: 200 },
    report,
    only
  )
  await runOver(
    { name: `sse (${shell})`, open: (onMessage) => Wire.sse(port, onMessage), measure, canary, most: 200 },
    report,
    only
  )
}

export const inMemory = async (report: Report, only: string | undefined): Promise<void> => {
  const turns = Turns.watch()
  await runOver(
    { name: "memory", open: Wire.memory, measure: async () => turns.read(), isShared: true, most: 5000 },
    report,
    only
  )
}

export const overStdio = async (report: Report, only: string | undefined): Promise<void> => {
  let victim: Victim.Victim | undefined
  const open = async (onMessage: Wire.OnMessage): Promise<Wire.Wire> => {
    victim = await Victim.start("stdio")
    const { close, send } = Wire.stdio(victim, onMessage)
    return {
      send,
      close: async () => {
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
    ...handshakes
  ])
}
