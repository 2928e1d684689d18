/**
 * Sends every hostile request to a server over HTTP, one after another, while a canary calls the server on a session of its own.
 * The requests themselves are data, in `requests`.
 */
import type { Canary } from "./Canary.js"
import * as Sessions from "./Canary.js"
import * as Growth from "./Growth.js"
import type { Report } from "./Report.js"
import { attacks as bodies } from "./requests/Bodies.js"
import { attacks as framing } from "./requests/Framing.js"
import { attacks as headers } from "./requests/Headers.js"
import { attacks as modern } from "./requests/Modern.js"
import type { HttpAttack } from "./requests/Request.js"
import { attacks as sessions } from "./requests/Sessions.js"
import * as Sockets from "./Sockets.js"
import type { Shape, Victim } from "./Victim.js"

export const attacks: ReadonlyArray<HttpAttack> = [...headers, ...framing, ...bodies, ...sessions, ...modern]

/**
 * What the HTTP server below a web handler does before the handler: it reads Host and path as one URL, answers with 400 where they are not
 * a URL, and resolves the dots of a path.
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
  shape: Shape,
  canary: Canary,
  report: Report,
  only: string | undefined
): Promise<void> => {
  for (const attack of attacks) {
    if (only !== undefined && !attack.name.includes(only)) continue
    const instead = shape === "web" ? asUrl.get(attack.name) : undefined
    report.add(await once(victim, canary, instead === undefined ? attack : { ...attack, expect: [instead] }))
  }
}

/** An expected answer has much time, because the machine may be busy. Where no answer is expected, the wait is short. */
const patienceOf = ({ expect }: HttpAttack): Sockets.Patience => ({
  patience: expect.includes("waits") ? 300 : 10_000,
  rest: 3000,
  grace: expect.some((statuses) => statuses.includes(" ")) ? 150 : 15,
  isPart: (statuses) => {
    const begin = statuses.join(" ")
    return !expect.includes(begin) && expect.some((all) => all.startsWith(`${begin} `))
  }
})

/** Plays an attack, and adds what went wrong to `faults`. */
const play = async (
  victim: Victim,
  canary: Canary,
  attack: HttpAttack,
  faults: Array<string>
): Promise<Growth.Spent> => {
  const { port } = victim
  const session = await Sessions.open(port)
  const pieces = attack.send({ session, other: canary.session })
  const before = await victim.measure()
  const sent = Sockets.send(port, pieces, patienceOf(attack))
  const sung = canary.sing().then(() => undefined, (error: unknown) => String(error))
  const exchange = await sent
  const after = await victim.measure()
  const song = await sung
  await Sessions.post(port, undefined, { "mcp-session-id": session }, false, "DELETE")
  const outcome = outcomeOf(exchange)
  if (!attack.expect.includes(outcome)) {
    faults.push(`expected ${attack.expect.join(" or ")}, got ${outcome}: ${exchange.text.slice(0, 300)}`)
  }
  const code = codeOf(exchange.text)
  if (attack.code !== undefined && code !== attack.code) {
    faults.push(`expected the error ${attack.code}, got ${exchange.text.slice(-300)}`)
  }
  if (song !== undefined) faults.push(`the canary: ${song}`)
  return { cost: after.cpu - before.cpu }
}

const once = async (victim: Victim, canary: Canary, attack: HttpAttack) => {
  const faults: Array<string> = []
  const { cost, faults: grown, share } = await Growth.measure(
    attack,
    (attack, isFirst) => play(victim, canary, attack, isFirst ? faults : [])
  )
  return { name: attack.name, faults: [...faults, ...grown], cost, share }
}
