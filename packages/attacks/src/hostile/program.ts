/**
 * A hostile server as a process. `node program.js stdio <name> [quarter]` plays one attack over standard streams. `node program.js http`
 * plays the attack that the path names: `/<name>`, or `/<name>/quarter`; it reports its port to the process that forked it. At
 * `/seen/<name>` it answers how many requests it has received for this attack, and how many requests the other origin has received for all
 * attacks.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { createInterface } from "node:readline"
import { attacks } from "./All.js"
import { prepare } from "./Http.js"
import { answers, type ServerAttack } from "./Server.js"

const [transport, wanted, part] = process.argv.slice(2)

const find = (name: string | undefined, part: string | undefined): ServerAttack => {
  const attack = attacks.find((attack) => attack.name === name)!
  return part === "quarter" ? attack.quarter!() : attack
}

const overStdio = (attack: ServerAttack): void => {
  process.stdout.on("error", () => {})
  for (const text of attack.first ?? []) process.stdout.write(text + "\n")
  createInterface({ input: process.stdin }).on("line", (line) => {
    const texts = answers(attack, line)
    if (texts.length > 0) process.stdout.write(texts.join("\n") + "\n")
  }).on("close", () => process.exit(0))
}

const portOf = (server: { readonly address: () => unknown }): number => (server.address() as AddressInfo).port

const overHttp = (): void => {
  // This process ends with the process that forked it.
  process.on("disconnect", () => process.exit(1))
  prepare()
  const received = new Map<string, number>()
  let stolen = 0
  const other = createServer((request, response) => {
    stolen++
    request.resume()
    response.writeHead(200, { "content-type": "application/json" }).end("{}")
  })

  const play = (attack: ServerAttack, request: IncomingMessage, response: ServerResponse, body: string): void => {
    const origin = `http://127.0.0.1:${portOf(server)}`
    const exchange = { request, response, body, origin, other: `http://127.0.0.1:${portOf(other)}` }
    response.on("error", () => {})
    if (attack.http?.(exchange) === true) return
    if (request.method !== "POST") return void response.writeHead(405).end()
    if (!body.includes("\"id\":") || !body.includes("\"method\":")) return void response.writeHead(202).end()
    const texts = answers(attack, body)
    const headers = attack.era === "modern" ? {} : { "mcp-session-id": "hostile" }
    if (texts.length === 1 && !body.includes("\"subscriptions/listen\"")) {
      return void response.writeHead(200, { ...headers, "content-type": "application/json" }).end(texts[0])
    }
    response.writeHead(200, { ...headers, "content-type": "text/event-stream" })
    const events = texts.map((text) => `data: ${text}\n\n`).join("")
    // The response to a subscription stays open until the result or the error.
    if (body.includes("\"subscriptions/listen\"") && !/"result":|"error":/.test(events)) response.write(`${events}:\n`)
    else response.end(events)
  }

  const server = createServer((request, response) => {
    const [, first, second] = new URL(request.url!, "http://localhost").pathname.split("/").map(decodeURIComponent)
    if (first === "seen") {
      return void response.end(JSON.stringify({ requests: received.get(second!) ?? 0, stolen }))
    }
    const attack = find(first, second)
    received.set(attack.name, (received.get(attack.name) ?? 0) + 1)
    let body = ""
    request.setEncoding("utf8").on("data", (chunk: string) => body += chunk)
    request.on("end", () => play(attack, request, response, body))
    request.on("error", () => {})
  })
  other.listen(0, "127.0.0.1", () => server.listen(0, "127.0.0.1", () => process.send!({ port: portOf(server) })))
}

if (transport === "stdio") overStdio(find(wanted, part))
else overHttp()
