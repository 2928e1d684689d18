/**
 * Sends every hostile request to a server over HTTP, one after another, while a canary calls it on a session of its own.
 * The requests themselves are data, in `requests`.
 */
import type { Canary } from "./Canary.js"
import * as Sessions from "./Canary.js"
import * as Limit from "./Limit.js"
import type { Report } from "./Report.js"
import { attacks as bodies } from "./requests/Bodies.js"
import { attacks as framing } from "./requests/Framing.js"
import { attacks as headers } from "./requests/Headers.js"
import { attacks as modern } from "./requests/Modern.js"
import type { HttpAttack } from "./requests/Request.js"
import { attacks as sessions } from "./requests/Sessions.js"
import * as Sockets from "./Sockets.js"
import type { Shell, Victim } from "./Victim.js"

export const attacks: ReadonlyArray<HttpAttack> = [...headers, ...framing, ...bodies, ...sessions, ...modern]

/**
 * What the HTTP server below a web handler does before the handler: it reads Host and path as one URL, answers with 400 where
 * they are none, and resolves the dots of a path.
 */
const asUrl: ReadonlyMap<string, string> = new Map([
  ...[
    "localhost@evil.example",
    "evil.example#localhost",
    "localhost, evil.example",
    "localhost:80:80",
    "localhost:port",
    "localhost:99999999",
    "",
    "localhost/",
    "http://localhost"
  ].map((host) => [`Host ${JSON.stringify(host)}`, "400"] as const),
  ["target \"/mcp/../mcp\"", "200"],
  ["target \"/.%2e/mcp\"", "200"],
  ["target \"/mcp\\\\\"", "400"]
])

const outcomeOf = ({ closed, statuses }: Sockets.Exchange): string =>
  statuses.length > 0 ? statuses.join(" ") : closed ? "cut" : "waits"

const codeOf = (text: string): number | undefined => {
  const match = /"error":\{"code":(-?\d+)/.exec(text)
  return match === null ? undefined : Number(match[1])
}

export const run = async (
  victim: Victim,
  shell: Shell,
  canary: Canary,
  report: Report,
  only: string | undefined
): Promise<void> => {
  for (const attack of attacks) {
    if (only !== undefined && !attack.name.includes(only)) continue
    const instead = shell === "web" ? asUrl.get(attack.name) : undefined
    report.add(await once(victim, canary, instead === undefined ? attack : { ...attack, expect: [instead] }))
  }
}

/** An answer that is expected may take long on a busy machine; what does not come is waited for briefly. */
const patienceOf = ({ expect }: HttpAttack): Sockets.Patience => ({
  patience: expect.includes("waits") ? 300 : 10_000,
  rest: 3000,
  grace: expect.some((statuses) => statuses.includes(" ")) ? 150 : 15,
  isPart: (statuses) => {
    const begin = statuses.join(" ")
    return !expect.includes(begin) && expect.some((all) => all.startsWith(`${begin} `))
  }
})

/** What the attack costs, and how many times what a quarter of it costs: the best of three. */
const growth = async (
  victim: Victim,
  attack: HttpAttack,
  quarter: HttpAttack["send"]
): Promise<{ readonly cost: number; readonly times: number }> => {
  const [few, all] = [{ cost: Infinity, send: quarter }, { cost: Infinity, send: attack.send }]
  for (let attempt = 0; attempt < 3 && !(timesOf(all.cost, few.cost) <= MAX_GROWTH); attempt++) {
    for (const one of [few, all]) {
      const session = await Sessions.open(victim.port)
      const before = await victim.measure()
      await Sockets.send(victim.port, one.send({ session, other: session }), patienceOf(attack))
      one.cost = Math.min(one.cost, (await victim.measure()).cpu - before.cpu)
      await Sessions.post(victim.port, undefined, { "mcp-session-id": session }, false, "DELETE")
    }
  }
  return { cost: all.cost, times: timesOf(all.cost, few.cost) }
}

const timesOf = (all: number, few: number): number => all / Math.max(few, NOISE)

/** The processor time that a request may cost whatever its size, in milliseconds: less of it says nothing. */
const NOISE = 10

/** How many times as much an attack may cost as a quarter of it: four times, and what the machine does meanwhile. */
const MAX_GROWTH = 8

const once = async (victim: Victim, canary: Canary, attack: HttpAttack) => {
  const { port } = victim
  const faults: Array<string> = []
  let cost = Limit.none
  let longest = Limit.none
  // Another process may have taken the processor: the best of three counts.
  const grown = attack.quarter === undefined ? undefined : await growth(victim, attack, attack.quarter)
  for (let attempt = 0; attempt < (grown === undefined ? 3 : 1) && (cost.share > 1 || longest.share > 1); attempt++) {
    const session = await Sessions.open(port)
    const pieces = attack.send({ session, other: canary.session })
    const before = await victim.measure()
    const sent = Sockets.send(port, pieces, patienceOf(attack))
    const sung = canary.sing().then(() => undefined, (error: unknown) => String(error))
    const exchange = await sent
    const after = await victim.measure()
    const song = await sung
    cost = Limit.least(cost, (after.cpu - before.cpu) / Math.max(1, exchange.statuses.length / 50))
    longest = Limit.least(longest, after.longest)
    await Sessions.post(port, undefined, { "mcp-session-id": session }, false, "DELETE")
    if (attempt > 0) continue
    const outcome = outcomeOf(exchange)
    if (!attack.expect.includes(outcome)) {
      faults.push(`expected ${attack.expect.join(" or ")}, got ${outcome}: ${exchange.text.slice(0, 300)}`)
    }
    const code = codeOf(exchange.text)
    if (attack.code !== undefined && code !== attack.code) {
      faults.push(`expected the error ${attack.code}, got ${exchange.text.slice(-300)}`)
    }
    if (song !== undefined) faults.push(`the canary: ${song}`)
  }
  if (grown !== undefined) {
    if (grown.times > MAX_GROWTH) faults.push(`it cost ${grown.times.toFixed(0)} times as much as a quarter of it`)
    return { name: attack.name, faults, cost: grown.cost, share: grown.times / MAX_GROWTH }
  }
  if (cost.share > 1) faults.push(`it cost ${cost.millis.toFixed(0)} ms of processor time`)
  if (longest.share > 1) faults.push(`a turn took ${longest.millis.toFixed(0)} ms`)
  return { name: attack.name, faults, cost: cost.millis, share: Math.max(cost.share, longest.share) }
}
